package bunstore_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestNullsAreExportedAsNull(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newApplication(t, db, sealedTypes, (*person)(nil), (*Record)(nil))
		a.insert(t, &person{ID: 1}, &Record{ID: 1, OwnerID: 1, Kept: "kept", Decimal: "1"})
		values := a.values(t, "1")
		for _, column := range []string{
			"text_ptr", "null_string", "big_ptr", "null_int", "bool_ptr", "time_ptr", "null_time", "bun_time", "uuid_ptr",
			"raw", "bytes", "ip",
		} {
			if values[column] != "null" {
				t.Errorf("%s: got %s, want null", column, values[column])
			}
		}
	})
}

// Letter has rows that the application marks as deleted instead of deleting them. Such a row is still exported and
// erased.
type Letter struct {
	bun.BaseModel `bun:"table:letters" subject:"owned"`
	ID            int64     `bun:"id,pk"`
	WriterID      int64     `bun:"writer_id"`
	Writer        *person   `bun:"rel:belongs-to,join:writer_id=id"`
	Text          string    `bun:"text" pii:"communication"`
	DeletedAt     time.Time `bun:"deleted_at,soft_delete,nullzero"`
}

func TestRowsThatAreMarkedAsDeletedAreExportedAndErased(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newApplication(t, db, nil, (*person)(nil), (*Letter)(nil))
		a.insert(t, &person{ID: 1}, &person{ID: 2}, &Letter{ID: 1, WriterID: 1, Text: "kept"},
			&Letter{ID: 2, WriterID: 1, Text: "thrown away"}, &Letter{ID: 3, WriterID: 2, Text: "another's"})
		_, err := db.NewDelete().Model((*Letter)(nil)).Where("id IN (2, 3)").Exec(t.Context())
		must(t, err)

		var texts []any
		for _, record := range a.export(t, "1") {
			texts = append(texts, record.Value)
		}
		if !slices.Equal(texts, []any{"kept", "thrown away"}) {
			t.Errorf("exported %v", texts)
		}
		wantRows(t, a.erase(t, "1"), map[string]int64{"delete letters": 2})
		if left, err := db.NewSelect().Model((*Letter)(nil)).WhereAllWithDeleted().Count(t.Context()); err != nil ||
			left != 1 {
			t.Errorf("%d letters are left, %v", left, err)
		}
	})
}

// Shelf and Book have primary keys of several columns. One column of each key is a text.
type Shelf struct {
	bun.BaseModel `bun:"table:shelves"`
	Room          string  `bun:"room,pk"`
	Number        int     `bun:"number,pk"`
	OwnerID       int64   `bun:"owner_id"`
	Owner         *person `bun:"rel:belongs-to,join:owner_id=id"`
}

type Book struct {
	bun.BaseModel `bun:"table:books"`
	Room          string `bun:"room,pk"`
	Number        int    `bun:"number,pk"`
	Place         int    `bun:"place,pk"`
	Shelf         *Shelf `bun:"rel:belongs-to,join:number=number,join:room=room"`
	Notes         string `bun:"notes" pii:"behavioral,erasure:anonymize"`
	Mark          string `bun:"mark" pii:"behavioral"`
}

func TestRowsAreNamedAndOrderedByTheirPrimaryKey(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newApplication(t, db, nil, (*person)(nil), (*Shelf)(nil), (*Book)(nil))
		a.insert(t, &person{ID: 1}, &person{ID: 2},
			&Shelf{Room: "B", Number: 1, OwnerID: 1}, &Shelf{Room: `A\` + "\x1f", Number: 10, OwnerID: 1},
			&Shelf{Room: `A\` + "\x1f", Number: 9, OwnerID: 1}, &Shelf{Room: "B", Number: 10, OwnerID: 2},
			&Book{Room: "B", Number: 1, Place: 1, Notes: "b1"}, &Book{Room: `A\` + "\x1f", Number: 10, Place: 2, Notes: "a10-2"},
			&Book{Room: `A\` + "\x1f", Number: 10, Place: 1, Notes: "a10-1"},
			&Book{Room: `A\` + "\x1f", Number: 9, Place: 7, Notes: "a9"},
			&Book{Room: "B", Number: 10, Place: 1, Notes: "another's"},
		)
		exported := func() (rows []string) {
			for _, record := range a.export(t, "1") {
				rows = append(rows, fmt.Sprintf("%q.%s=%v", record.Row, record.Field, record.Value))
			}
			return rows
		}
		want := []string{
			`"A\\\\\\u\x1f9".room=A\` + "\x1f", `"A\\\\\\u\x1f9".number=9`,
			`"A\\\\\\u\x1f10".room=A\` + "\x1f", `"A\\\\\\u\x1f10".number=10`,
			`"B\x1f1".room=B`, `"B\x1f1".number=1`,
			`"A\\\\\\u\x1f9\x1f7".notes=a9`, `"A\\\\\\u\x1f9\x1f7".mark=`,
			`"A\\\\\\u\x1f10\x1f1".notes=a10-1`, `"A\\\\\\u\x1f10\x1f1".mark=`,
			`"A\\\\\\u\x1f10\x1f2".notes=a10-2`, `"A\\\\\\u\x1f10\x1f2".mark=`,
			`"B\x1f1\x1f1".notes=b1`, `"B\x1f1\x1f1".mark=`,
		}
		if got := exported(); !slices.Equal(got, want) {
			t.Errorf("\n got %q\nwant %q", got, want)
		}
		// The update moves the row to another place in the table's file. The order of the rows in the export must stay the
		// same.
		execute(t, db, "UPDATE books SET notes = 'a9' WHERE number = 9")
		if got := exported(); !slices.Equal(got, want) {
			t.Errorf("after an update:\n got %q\nwant %q", got, want)
		}
		wantRows(t, a.erase(t, "1"), map[string]int64{"anonymize books": 4})
		var notes string
		must(t, db.NewSelect().Table("books").Column("notes").Where("number = 10 AND room = 'B'").Scan(t.Context(), &notes))
		if notes != "another's" {
			t.Errorf("the book of another subject has %q", notes)
		}
	})
}
