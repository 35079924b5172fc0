package bunstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// Holder has a column of every type. Some text columns hold numbers, booleans or times. Erasures retain one text
// column.
type Holder struct {
	bun.BaseModel `bun:"table:holders"`
	ID            int64          `bun:"id,pk" subject:"id"`
	Text          string         `bun:"text,unique" pii:"contact,erasure:retain,reason:'a duty'"`
	Small         int16          `bun:"small" pii:"identity"`
	Medium        int32          `bun:"medium" pii:"identity"`
	Big           *int64         `bun:"big" pii:"identity"`
	Float         float64        `bun:"float" pii:"financial"`
	Decimal       string         `bun:"decimal,type:numeric(30,6)" pii:"financial"`
	Flag          bool           `bun:"flag" pii:"special"`
	At            time.Time      `bun:"at" pii:"location"`
	Day           *time.Time     `bun:"day,type:date" pii:"location"`
	Code          string         `bun:"code,type:uuid" pii:"technical"`
	Document      map[string]any `bun:"document,type:jsonb" pii:"behavioral"`
	Raw           []byte         `bun:"raw" pii:"communication"`
	TextBig       int64          `bun:"text_big,type:varchar(30)" pii:"identity"`
	TextFloat     float64        `bun:"text_float,type:text" pii:"financial"`
	TextFlag      bool           `bun:"text_flag,type:varchar(5)" pii:"special"`
	TextAt        time.Time      `bun:"text_at,type:varchar(40)" pii:"location"`
}

// newHolders returns a store with two holders.
func newHolders(t testing.TB, db *bun.DB) (*bunstore.Store, domain.SubjectID) {
	t.Helper()
	ctx, model := context.Background(), (*Holder)(nil)
	must(t, bunstore.Migrate(ctx, db, bunstore.Options{}))
	databases.Create(t, db, model)
	day := time.Date(1990, 2, 3, 0, 0, 0, 0, time.UTC)
	for id := range int64(2) {
		databases.Insert(t, db, &Holder{
			ID: id + 1, Text: fmt.Sprint("text ", id), At: day, Day: &day, Code: "00000000-0000-0000-0000-000000000000",
			TextAt:  day,
			Decimal: "1.5", Big: &id, Document: map[string]any{},
		})
	}
	store := storeOf(t, db, mapOf(t, db, []any{model}), bunstore.Options{})
	id := fixture.MustID(t, "1")
	return store, id
}

// write rectifies the column values in the rows of the subject.
func write(
	store *bunstore.Store, id domain.SubjectID, table string, values ...domain.ColumnValue,
) (rows int64, err error) {
	err = store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		rows, err = s.Subjects().Rectify(ctx, id, domain.RectificationStep{Table: table, Values: values})
		return err
	})
	return rows, err
}

// drawHolder draws a value for every column.
func drawHolder(r *rapid.T) *Holder {
	instant := rapid.Custom(func(r *rapid.T) time.Time {
		seconds := rapid.Int64Range(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix(),
			time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix())
		return time.Unix(seconds.Draw(r, "seconds"), rapid.Int64Range(0, 999_999).Draw(r, "µs")*1000).UTC()
	})
	// adding 0 turns -0 into 0
	float := rapid.Map(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), func(f float64) float64 { return f + 0 })
	text := rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r != 0 }))
	at, big := instant.Draw(r, "at"), rapid.Int64().Draw(r, "big")
	day := at.Truncate(24 * time.Hour)
	return &Holder{
		Text: text.Draw(r, "text"), Small: rapid.Int16().Draw(r, "small"), Medium: rapid.Int32().Draw(r, "medium"), Big: &big,
		Float: float.Draw(r, "float"), Decimal: fmt.Sprintf("%d.%06d", rapid.IntRange(-99_999, 99_999).Draw(r, "whole"),
			rapid.IntRange(0, 999_999).Draw(r, "part")),
		Flag: rapid.Bool().Draw(r, "flag"), At: at, Day: &day, Code: "8c2b5e6a-0f3d-4a51-9d0e-2f6b7a8c9d0e",
		Document: map[string]any{text.Draw(r, "key"): text.Draw(r, "member")},
		Raw:      rapid.SliceOf(rapid.Byte()).Draw(r, "raw"),
		TextBig:  big, TextFloat: float.Draw(r, "float"), TextFlag: rapid.Bool().Draw(r, "flag"), TextAt: at,
	}
}

// values returns the column values of a rectification that makes a row equal to h.
func (h *Holder) values(t *rapid.T) []domain.ColumnValue {
	document, err := json.Marshal(h.Document)
	if err != nil {
		t.Fatal(err)
	}
	return []domain.ColumnValue{
		{Column: "text", Value: h.Text},
		{Column: "small", Value: int64(h.Small)},
		{Column: "medium", Value: int64(h.Medium)},
		{Column: "big", Value: *h.Big},
		{Column: "float", Value: h.Float},
		{Column: "decimal", Value: domain.Number(h.Decimal)},
		{Column: "flag", Value: h.Flag},
		{Column: "at", Value: h.At},
		{Column: "day", Value: *h.Day},
		{Column: "code", Value: h.Code},
		{Column: "document", Value: domain.JSON(document)},
		{Column: "raw", Value: h.Raw},
		{Column: "text_big", Value: h.TextBig},
		{Column: "text_float", Value: h.TextFloat},
		{Column: "text_flag", Value: h.TextFlag},
		{Column: "text_at", Value: h.TextAt},
	}
}

func (h *Holder) String() string {
	raw, document := fmt.Sprintf("%x", h.Raw), fmt.Sprintf("%q", h.Document)
	decimal, _ := strconv.ParseFloat(h.Decimal, 64) // SQLite has no decimal type
	return fmt.Sprintf("%q %d %d %d %g %g %t %v %v %s %s %s %d %g %t %v", h.Text, h.Small, h.Medium, *h.Big, h.Float,
		decimal, h.Flag,
		h.At.UTC(), h.Day.UTC(), h.Code, document, raw, h.TextBig, h.TextFloat, h.TextFlag, h.TextAt.UTC())
}

// asExported returns a written value in the form of an export: PostgreSQL stores a date without a time.
func asExported(db *bun.DB, value domain.ColumnValue) any {
	if at, ok := value.Value.(time.Time); ok && value.Column == "day" && db.Dialect().Name() == dialect.PG {
		return at.Format(time.DateOnly)
	}
	return value.Value
}

func TestWrittenValuesReadBackTheSame(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		store, id := newHolders(t, db)
		ctx := context.Background()
		var other, otherAfter Holder
		must(t, db.NewSelect().Model(&other).Where("id = 2").Scan(ctx))
		rapid.Check(t, func(r *rapid.T) {
			want := drawHolder(r)
			if rows, err := write(store, id, "holders", want.values(r)...); err != nil || rows != 1 {
				r.Fatalf("%d rows, %v: %v", rows, err, errors.Unwrap(err))
			}
			var got Holder
			must(t, db.NewSelect().Model(&got).Where("id = 1").Scan(ctx))
			if got.String() != want.String() {
				r.Fatalf("a model reads\n%s\nwant\n%s", &got, want)
			}
			exported := map[string]any{}
			must(t, store.Do(ctx, func(ctx context.Context, s ports.Session) error {
				return s.Subjects().Export(ctx, id, func(record domain.ExportRecord) error {
					exported[record.Field] = record.Value
					return nil
				})
			}))
			for _, value := range want.values(r) {
				if a, b := comparable(t, exported[value.Column]), comparable(t, asExported(db, value)); !reflect.DeepEqual(a, b) {
					r.Fatalf("an export shows %s as %v, want %v", value.Column, a, b)
				}
			}
		})
		must(t, db.NewSelect().Model(&otherAfter).Where("id = 2").Scan(ctx))
		if other.String() != otherAfter.String() {
			t.Errorf("another subject's row became %s", &otherAfter)
		}
	})
}

// comparable encodes the value as JSON and decodes the JSON, so that values of different Go types can be compared.
func comparable(t testing.TB, value any) (read any) {
	t.Helper()
	if b, ok := value.([]byte); ok && len(b) == 0 {
		return ""
	}
	must(t, json.Unmarshal([]byte(asJSON(t, value)), &read))
	return read
}

func TestAnEmptyValueIsNotNull(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		store, id := newHolders(t, db)
		_, err := write(store, id, "holders", domain.ColumnValue{Column: "text", Value: ""},
			domain.ColumnValue{Column: "raw", Value: []byte{}})
		must(t, err)
		n, err := db.NewSelect().Table("holders").Where("id = 1 AND text IS NOT NULL AND raw IS NOT NULL").
			Count(context.Background())
		if err != nil || n != 1 {
			t.Errorf("%d rows, %v", n, err)
		}
	})
}

func TestAValueThatViolatesAUniqueConstraintIsAConflictOnPostgreSQL(t *testing.T) {
	t.Parallel()
	store, id := newHolders(t, databases.PostgreSQL(t))
	_, err := write(store, id, "holders", domain.ColumnValue{Column: "text", Value: "text 1"})
	if !errors.Is(err, domain.ErrConflict) || strings.Contains(err.Error(), "text 1") {
		t.Errorf("got %v", err)
	}
}
