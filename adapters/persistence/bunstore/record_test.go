package bunstore_test

import (
	"database/sql"
	"encoding/json"
	"maps"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// Record has a column of every type that both databases have. An erasure keeps its rows, because its column Kept is not
// personal data.
type Record struct {
	bun.BaseModel `bun:"table:records"`
	ID            int64   `bun:"id,pk"`
	OwnerID       int64   `bun:"owner_id"`
	Owner         *person `bun:"rel:belongs-to,join:owner_id=id"`
	Kept          string  `bun:"kept"`

	Text       string         `bun:"text" pii:"identity"`
	TextPtr    *string        `bun:"text_ptr" pii:"identity"`
	NullString sql.NullString `bun:"null_string" pii:"identity"`
	Nickname   nickname       `bun:"nickname" pii:"identity"`
	One        string         `bun:"one,type:varchar(1)" pii:"identity"`
	Twelve     string         `bun:"twelve,type:varchar(12)" pii:"identity"`
	Thirteen   string         `bun:"thirteen,type:varchar(13)" pii:"identity"`
	ThirtySix  string         `bun:"thirty_six,type:varchar(36)" pii:"identity"`
	Whole      string         `bun:"whole,type:varchar(37)" pii:"identity"`
	Padded     string         `bun:"padded,type:char(10)" pii:"identity"`

	Small    int16         `bun:"small" pii:"identity"`
	Int      int32         `bun:"int" pii:"identity"`
	Big      int64         `bun:"big" pii:"identity"`
	BigPtr   *int64        `bun:"big_ptr" pii:"identity"`
	NullInt  sql.NullInt64 `bun:"null_int" pii:"identity"`
	IntText  int           `bun:"int_text,type:text" pii:"identity"`
	Float32  float32       `bun:"float32" pii:"identity"`
	Float64  float64       `bun:"float64" pii:"identity"`
	Digits   json.Number   `bun:"digits" pii:"identity"`
	Decimal  string        `bun:"decimal,type:numeric(10,2)" pii:"identity"`
	Bool     bool          `bun:"bool" pii:"identity"`
	BoolPtr  *bool         `bun:"bool_ptr" pii:"identity"`
	BoolText bool          `bun:"bool_text,type:text" pii:"identity"`

	Time     time.Time    `bun:"time" pii:"identity"`
	TimePtr  *time.Time   `bun:"time_ptr" pii:"identity"`
	NullTime sql.NullTime `bun:"null_time" pii:"identity"`
	BunTime  bun.NullTime `bun:"bun_time" pii:"identity"`
	Local    time.Time    `bun:"local,type:timestamp" pii:"identity"`
	Date     time.Time    `bun:"date,type:date" pii:"identity"`
	TimeText time.Time    `bun:"time_text,type:text" pii:"identity"`

	UUID     uuid.UUID       `bun:"uuid,type:uuid" pii:"identity"`
	UUIDText uuid.UUID       `bun:"uuid_text,type:varchar(36)" pii:"identity"`
	UUIDPtr  *uuid.UUID      `bun:"uuid_ptr,type:uuid" pii:"identity"`
	Struct   preferences     `bun:"struct" pii:"identity"`
	Map      map[string]any  `bun:"map" pii:"identity"`
	List     []string        `bun:"list" pii:"identity"`
	ListText []preferences   `bun:"list_text,type:text" pii:"identity"`
	Raw      json.RawMessage `bun:"raw" pii:"identity"`
	JSONText string          `bun:"json_text,type:jsonb" pii:"identity"`
	Array    []string        `bun:"array,array" pii:"identity"`
	Ints     []int64         `bun:"ints,array" pii:"identity"`
	Bytes    []byte          `bun:"bytes" pii:"identity"`
	IP       net.IP          `bun:"ip,type:inet,nullzero" pii:"identity"`
	Sealed   enveloped       `bun:"sealed,type:varchar(40)" pii:"identity"`
}

var sealedTypes = bunmodels.Types{
	reflect.TypeFor[enveloped](): {Type: datamap.TypeText, Surrogate: `sealed:it's \ ?0 ?name \? "gone"`},
}

func fullRecord(id, owner int64) *Record {
	instant := time.Date(2024, 2, 29, 23, 59, 58, 123456000, time.FixedZone("", 3600))
	return &Record{
		ID: id, OwnerID: owner, Kept: "kept",
		Text: "Zoë \"O'Hara\" \\ ? 日本", TextPtr: pointer("two"), NullString: sql.NullString{String: "three", Valid: true},
		Nickname: "four", One: "1", Twelve: "twelve", Thirteen: "thirteen", ThirtySix: "thirty-six", Whole: "whole",
		Padded: "abcdefghij",
		Small:  -32768, Int: -2147483648, Big: -9223372036854775808, BigPtr: pointer(int64(9223372036854775807)),
		NullInt: sql.NullInt64{Int64: 9007199254740993, Valid: true}, IntText: 42,
		Float32: 0.1, Float64: 12.5, Digits: "12345678901234567890.10", Decimal: "12.25",
		Bool: true, BoolPtr: pointer(false), BoolText: true,
		Time: instant, TimePtr: &instant, NullTime: sql.NullTime{Time: instant, Valid: true},
		BunTime: bun.NullTime{Time: instant},
		Local:   instant, Date: time.Date(1990, 2, 3, 0, 0, 0, 0, time.UTC), TimeText: instant,
		UUID:     uuid.MustParse("0190163d-8694-739b-aea5-966c26f8ad91"),
		UUIDText: uuid.MustParse("0190163d-8694-739b-aea5-966c26f8ad92"),
		UUIDPtr:  pointer(uuid.MustParse("0190163d-8694-739b-aea5-966c26f8ad93")),
		Struct:   preferences{Theme: "dark"}, Map: map[string]any{"a": 1.5, "bb": nil}, List: []string{"x", "y"},
		ListText: []preferences{{Theme: "light"}}, Raw: json.RawMessage(`{"n":12345678901234567890}`), JSONText: `[true]`,
		Array: []string{"a,b", `"c"`, ""}, Ints: []int64{9007199254740993, -1}, Bytes: []byte{0, 255},
		IP: net.IPv4(192, 0, 2, 7), Sealed: "secret",
	}
}

// fullValues holds the exported values of fullRecord. They are the same for both databases,
// except for withoutZone.
var fullValues = map[string]string{
	"text": `"Zoë \"O'Hara\" \\ ? 日本"`, "text_ptr": `"two"`, "null_string": `"three"`,
	"nickname": `"four"`, "one": `"1"`, "twelve": `"twelve"`, "thirteen": `"thirteen"`, "thirty_six": `"thirty-six"`,
	"whole": `"whole"`, "padded": `"abcdefghij"`,
	"small": `-32768`, "int": `-2147483648`, "big": `-9223372036854775808`, "big_ptr": `9223372036854775807`,
	"null_int": `9007199254740993`, "int_text": `42`,
	"float32": `0.1`, "float64": `12.5`, "digits": `12345678901234567890.10`, "decimal": `12.25`,
	"bool": `true`, "bool_ptr": `false`, "bool_text": `true`,
	"time": `"2024-02-29T22:59:58.123456Z"`, "time_ptr": `"2024-02-29T22:59:58.123456Z"`,
	"null_time": `"2024-02-29T22:59:58.123456Z"`, "bun_time": `"2024-02-29T22:59:58.123456Z"`,
	"local": `"2024-02-29T22:59:58.123456Z"`, "date": `"1990-02-03T00:00:00Z"`,
	"time_text": `"2024-02-29T22:59:58.123456Z"`,
	"uuid":      `"0190163d-8694-739b-aea5-966c26f8ad91"`, "uuid_text": `"0190163d-8694-739b-aea5-966c26f8ad92"`,
	"uuid_ptr": `"0190163d-8694-739b-aea5-966c26f8ad93"`,
	"struct":   `{"Theme":"dark"}`, "map": `{"a":1.5,"bb":null}`, "list": `["x","y"]`, "list_text": `[{"Theme":"light"}]`,
	"raw": `{"n":12345678901234567890}`, "json_text": `"[true]"`,
	"array": `["a,b","\"c\"",""]`, "ints": `[9007199254740993,-1]`, "bytes": `"AP8="`,
	"ip": `"192.0.2.7"`, "sealed": `"sealed:secret"`,
}

// withoutZone returns the exported value of a column whose type on PostgreSQL has no zone. On SQLite, bun writes UTC.
func withoutZone(db *bun.DB, column, value string) string {
	if db.Dialect().Name() == dialect.PG && (column == "local" || column == "date") {
		value = strings.Replace(value, "Z", "", 1)
	}
	if db.Dialect().Name() == dialect.PG && column == "date" {
		value = strings.Replace(value, "T00:00:00", "", 1)
	}
	return value
}

func TestExportedValuesAreTheSameOnBothDatabases(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newApplication(t, db, sealedTypes, (*person)(nil), (*Record)(nil))
		a.insert(t, &person{ID: 1}, fullRecord(1, 1))
		want := maps.Clone(fullValues)
		for column, value := range want {
			want[column] = withoutZone(db, column, value)
		}
		wantValues(t, a.values(t, "1"), want)
	})
}
