package bunstore_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/internal/tests/databases"
)

// anonymized holds the exported values after an erasure, for columns with a constant surrogate.
var anonymized = map[string]string{
	"small": `0`, "int": `0`, "big": `0`, "big_ptr": `0`, "null_int": `0`, "int_text": `0`,
	"float32": `0`, "float64": `0`, "digits": `0`, "decimal": `0`,
	"bool": `false`, "bool_ptr": `false`, "bool_text": `false`,
	"time": `"1970-01-01T00:00:00Z"`, "time_ptr": `"1970-01-01T00:00:00Z"`, "null_time": `"1970-01-01T00:00:00Z"`,
	"bun_time": `"1970-01-01T00:00:00Z"`, "local": `"1970-01-01T00:00:00Z"`, "date": `"1970-01-01T00:00:00Z"`,
	"time_text": `"1970-01-01T00:00:00Z"`,
	"struct":    `{}`, "map": `{}`, "list": `[]`, "list_text": `[]`, "raw": `{}`, "json_text": `{}`, "array": `[]`,
	"ints":  `[]`,
	"bytes": `""`, "ip": `"0.0.0.0"`, "sealed": `"sealed:it's \\ ?0 ?name \\? \"gone\""`,
}

// texts holds the columns that an erasure overwrites with a random text, and the length of this text in characters.
var texts = map[string]int{
	"text": 37, "text_ptr": 37, "null_string": 37, "nickname": 37,
	"one": 1, "twelve": 12, "thirteen": 13, "thirty_six": 36, "whole": 37, "padded": 10,
}

// forgetErasures deletes the marks. Exports then contain the surrogates. For a subject with a mark, an export reports
// the cells as erased instead.
func forgetErasures(t testing.TB, db bun.IDB) {
	t.Helper()
	execute(t, db, "DELETE FROM habeas_subject_erasures")
}

func TestASurrogateFitsItsColumn(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		// The constant surrogate contains "?name". bun must not replace it by the named argument of the application.
		a := newApplication(t, db.WithNamedArg("name", "Alice"), sealedTypes, (*person)(nil), (*Record)(nil))
		a.insert(t, &person{ID: 1}, fullRecord(1, 1), fullRecord(2, 1))
		wantRows(t, a.erase(t, "1"), map[string]int64{"anonymize records": 2})

		forgetErasures(t, db)
		values := a.values(t, "1")
		for _, column := range slices.Sorted(maps.Keys(anonymized)) {
			want := withoutZone(db, column, anonymized[column])
			if column == "decimal" && db.Dialect().Name() == dialect.PG {
				want = `0.00` // PostgreSQL keeps the scale of the column
			}
			if values[column] != want {
				t.Errorf("%s: got %s, want %s", column, values[column], want)
			}
		}
		hex := regexp.MustCompile(`^(anon-)?[0-9a-f]+$`)
		for _, column := range slices.Sorted(maps.Keys(texts)) {
			var text string
			must(t, json.Unmarshal([]byte(values[column]), &text))
			if !hex.MatchString(text) || utf8.RuneCountInString(text) != texts[column] {
				t.Errorf("%s: got %q, want %d characters", column, text, texts[column])
			}
		}
		for _, column := range []string{"uuid", "uuid_text", "uuid_ptr"} {
			id, err := uuid.Parse(strings.Trim(values[column], `"`))
			if err != nil || id.Version() != 4 || id.Variant() != uuid.RFC4122 {
				t.Errorf("%s: got %s", column, values[column])
			}
		}
	})
}

// The models of an application must be able to scan its rows after an erasure. For example, an erasure must not write a
// NULL that a model cannot hold.
func TestTheApplicationCanReadAnonymizedRows(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newApplication(t, db, sealedTypes, (*person)(nil), (*Record)(nil))
		// The row with the id 2 has NULL in its nullable columns, which stays NULL.
		a.insert(t, &person{ID: 1}, fullRecord(1, 1), &Record{ID: 2, OwnerID: 1, Kept: "kept", Decimal: "1"})
		nulls := func(id int) (columns []string) {
			var row []map[string]any
			must(t, db.NewSelect().Table("records").Where("id = ?", id).Scan(t.Context(), &row))
			for column, value := range row[0] {
				if value == nil {
					columns = append(columns, column)
				}
			}
			return slices.Sorted(slices.Values(columns))
		}
		before := nulls(2)
		a.erase(t, "1")

		var records []Record
		must(t, db.NewSelect().Model(&records).Order("id").Scan(t.Context()))
		epoch := time.Unix(0, 0)
		for _, r := range records {
			if r.OwnerID != 1 || r.Kept != "kept" {
				t.Errorf("what is not personal has changed: %+v", r)
			}
			if !r.Time.Equal(epoch) || !r.TimeText.Equal(epoch) ||
				r.ID == 1 && (r.TimePtr == nil || !r.TimePtr.Equal(epoch) || !r.BunTime.Equal(epoch)) ||
				r.ID == 2 && (r.TimePtr != nil || !r.BunTime.IsZero()) {
				t.Errorf("the times are %v, %v, %v and %v", r.Time, r.BunTime, r.TimeText, r.TimePtr)
			}
			if r.List == nil || len(r.List) > 0 || len(r.Array) > 0 || len(r.Map) > 0 ||
				r.Sealed != `it's \ ?0 ?name \? "gone"` {
				t.Errorf("got %+v", r)
			}
		}
		if after := nulls(2); len(before) == 0 || !slices.Equal(after, before) {
			t.Errorf("NULL was in %q, and is in %q", before, after)
		}
		if after := nulls(1); len(after) > 0 {
			t.Errorf("%q are NULL", after)
		}
	})
}

// Unique has columns with several constraints. The surrogates (the values that an erasure writes) must satisfy all of
// them.
type Unique struct {
	bun.BaseModel `bun:"table:uniques"`
	ID            int64     `bun:"id,pk"`
	OwnerID       int64     `bun:"owner_id"`
	Owner         *person   `bun:"rel:belongs-to,join:owner_id=id"`
	Kept          string    `bun:"kept"`
	Email         string    `bun:"email,unique" pii:"contact"`
	Phone         string    `bun:"phone,type:varchar(12),unique" pii:"contact"`
	Token         uuid.UUID `bun:"token,type:uuid,unique" pii:"technical,export:no"`
}

func TestUniqueConstraintsHoldWithManyRows(t *testing.T) {
	t.Parallel()
	const rows = 1000
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newApplication(t, db, nil, (*person)(nil), (*Unique)(nil))
		a.insert(t, &person{ID: 1})
		uniques := make([]Unique, rows)
		for i := range uniques {
			text := uuid.NewString()
			uniques[i] = Unique{
				ID: int64(i), OwnerID: 1, Kept: "kept", Email: text, Phone: text[:12], Token: uuid.MustParse(text),
			}
		}
		a.insert(t, &uniques)
		wantRows(t, a.erase(t, "1"), map[string]int64{"anonymize uniques": rows})
		wantRows(t, a.erase(t, "1"), map[string]int64{"anonymize uniques": rows})
	})
}

func wantRows(t testing.TB, got, want map[string]int64) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("the steps were about %v rows, want %v", got, want)
	}
}
