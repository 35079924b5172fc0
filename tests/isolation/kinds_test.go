package isolation

import (
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain/datamap"
)

// kind is a column type with its SQL declaration in one database system.
type kind struct {
	Type     datamap.ColumnType
	declared string
	length   int    // the maximum length of a text, or 0
	constant string // the value that replaces an erased value, as in a dump, if it is not random
	values   []any  // possible values besides NULL
}

// list is the value of an array column, as the literal of PostgreSQL and as the JSON array in an export.
type list struct{ literal, json string }

var (
	texts = []any{
		"", "x", "z'", `"`, "ü", "O'Brien", `"quoted"`, "naïve – 日本語 🙂", "NULL", "$1", "a?b", "?0", `back\slash`, "%_", "  ",
		"two\nlines", "anon-", "an address that is longer than any surrogate could be: 1, Main Street",
	}
	booleans = []any{false, true}
	small    = []any{int64(0), int64(1), int64(-7), int64(math.MaxInt16)}
	integers = append([]any{int64(math.MinInt32)}, small...)
	bigs     = append([]any{int64(math.MinInt64), int64(1<<53 + 1)}, integers...)
	numbers  = []any{0.0, 12.5, -3.25, 1048576.0}
	decimals = append([]any{"12345678901234567890.125"}, numbers...)
	times    = []any{
		time.Unix(0, 0).UTC(), time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC),
		time.Date(1999, 12, 31, 23, 59, 59, 999999000, time.UTC),
	}
	dates     = []any{time.Unix(0, 0).UTC(), time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)}
	uuids     = []any{keyOf(datamap.TypeUUID, 0), keyOf(datamap.TypeUUID, 1), "ffffffff-ffff-ffff-ffff-ffffffffffff"}
	documents = []any{`{}`, `{"a": [1, "it's"]}`, `[]`, `null`, `"ünï"`}
	binaries  = []any{[]byte{}, []byte{0, 1, 255}, []byte("it's")}
	textLists = []any{list{`{}`, `[]`}, list{`{a,"b'c",NULL}`, `["a","b'c",null]`}, list{`{"ü"}`, `["ü"]`}}
	intLists  = []any{list{`{}`, `[]`}, list{`{1,-2}`, `[1,-2]`}}
)

var postgresKinds = append(limitedTexts(),
	kind{Type: datamap.TypeText, declared: "TEXT", values: texts},
	kind{datamap.TypeSmallInt, "SMALLINT", 0, "0", small},
	kind{datamap.TypeInteger, "INTEGER", 0, "0", integers},
	kind{datamap.TypeBigInt, "BIGINT", 0, "0", bigs},
	kind{datamap.TypeNumber, "NUMERIC", 0, "0", decimals},
	kind{datamap.TypeNumber, "DOUBLE PRECISION", 0, "0", numbers},
	kind{datamap.TypeBoolean, "BOOLEAN", 0, "false", booleans},
	kind{datamap.TypeTime, "TIMESTAMPTZ", 0, "1970-01-01 00:00:00+00", times},
	kind{datamap.TypeTime, "TIMESTAMP", 0, "1970-01-01 00:00:00", times},
	kind{datamap.TypeTime, "DATE", 0, "1970-01-01", dates},
	kind{Type: datamap.TypeUUID, declared: "UUID", values: uuids},
	kind{datamap.TypeJSON, "JSON", 0, "{}", documents},
	kind{datamap.TypeJSON, "JSONB", 0, "{}", documents},
	kind{datamap.TypeArray, "TEXT[]", 0, "{}", textLists},
	kind{datamap.TypeArray, "BIGINT[]", 0, "{}", intLists},
	kind{datamap.TypeBytes, "BYTEA", 0, `\x`, binaries},
)

var sqliteKinds = append(limitedTexts(),
	kind{Type: datamap.TypeText, declared: "TEXT", values: texts},
	kind{datamap.TypeSmallInt, "SMALLINT", 0, "integer 0", small},
	kind{datamap.TypeInteger, "INTEGER", 0, "integer 0", integers},
	kind{datamap.TypeBigInt, "BIGINT", 0, "integer 0", bigs},
	kind{datamap.TypeNumber, "NUMERIC", 0, "integer 0", numbers},
	kind{datamap.TypeNumber, "DOUBLE PRECISION", 0, "real 0.0", numbers},
	kind{datamap.TypeBoolean, "BOOLEAN", 0, "integer 0", booleans},
	kind{datamap.TypeTime, "TIMESTAMP", 0, "text 1970-01-01 00:00:00+00:00", times},
	kind{datamap.TypeTime, "DATETIME", 0, "text 1970-01-01 00:00:00+00:00", times},
	kind{datamap.TypeTime, "DATE", 0, "text 1970-01-01 00:00:00+00:00", dates},
	kind{Type: datamap.TypeUUID, declared: "VARCHAR(36)", values: uuids},
	kind{Type: datamap.TypeUUID, declared: "UUID", values: uuids},
	kind{datamap.TypeJSON, "TEXT", 0, "text {}", documents},
	kind{datamap.TypeJSON, "JSON", 0, "text {}", documents},
	kind{datamap.TypeBytes, "BLOB", 0, "blob ", binaries},
)

// limitedTexts returns text columns with limited lengths. At these lengths, the form of the surrogate changes.
func limitedTexts() (kinds []kind) {
	for _, length := range []int{1, 7, 8, 12, 13, 16, 17, 20, 36, 37, 255} {
		fits := slices.DeleteFunc(slices.Clone(texts),
			func(v any) bool { return utf8.RuneCountInString(v.(string)) > length })
		kinds = append(kinds, kind{datamap.TypeText, fmt.Sprintf("VARCHAR(%d)", length), length, "", fits})
	}
	return kinds
}

var postgresKeys = []kind{
	{Type: datamap.TypeBigInt, declared: "BIGINT"},
	{Type: datamap.TypeText, declared: "TEXT"},
	{Type: datamap.TypeUUID, declared: "UUID"},
	{Type: datamap.TypeText, declared: "VARCHAR(20)", length: 20},
}

var sqliteKeys = []kind{
	{Type: datamap.TypeBigInt, declared: "BIGINT"},
	{Type: datamap.TypeText, declared: "TEXT"},
	{Type: datamap.TypeUUID, declared: "VARCHAR(36)"},
	{Type: datamap.TypeText, declared: "VARCHAR(20)", length: 20},
}

// keyOf returns the n-th value of a key column. All key columns of the same type have the same values, so rows of
// different subjects in different tables have equal keys. habeas must not confuse these rows.
func keyOf(t datamap.ColumnType, n int) any {
	switch t { //nolint:exhaustive // keys have no other types
	case datamap.TypeBigInt:
		if odd := []int64{1, 2, 10, 0, -1, 1 << 32, math.MaxInt64}; n < len(odd) {
			return odd[n]
		}
		return int64(100 + n)
	case datamap.TypeUUID:
		return fmt.Sprintf("0000000a-0000-4000-8000-%012x", n)
	default:
		if odd := []string{"a", "A", "1", "a ", "a'b", "ä", `\`, "01", "%", "a?0"}; n < len(odd) {
			return odd[n]
		}
		return fmt.Sprintf("key %d", n)
	}
}

// fitsNarrow reports whether a foreign key column of 32 bits can store the value of a wider key.
func fitsNarrow(value any) bool {
	n, ok := value.(int64)
	return !ok || n == int64(int32(n))
}
