package schemas

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type bookOwner struct {
	bun.BaseModel `bun:"table:readers"`

	ID    int64  `bun:"id,pk" subject:"id"`
	Email string `bun:"email" pii:"contact"`
}

type book struct {
	bun.BaseModel `bun:"table:books" subject:"owned"`

	ID       int64      `bun:"id,pk"`
	ReaderID int64      `bun:"reader_id"`
	Reader   *bookOwner `bun:"rel:belongs-to,join:reader_id=id"`
	PartOfID *int64     `bun:"part_of_id"`
	PartOf   *book      `bun:"rel:belongs-to,join:part_of_id=id" subject:"same"`
}

type mark struct {
	bun.BaseModel `bun:"table:marks" subject:"owned"`

	ID       int64      `bun:"id,pk"`
	ReaderID int64      `bun:"reader_id"`
	Reader   *bookOwner `bun:"rel:belongs-to,join:reader_id=id" subject:"path"`
	BookID   *int64     `bun:"book_id"`
	Book     *book      `bun:"rel:belongs-to,join:book_id=id" subject:"same"`
}

// Rows of books refer to each other, and rows of marks refer to books. The data map states that both rows always belong
// to the same person.
func TestRowsOfTheSamePersonAreDeletedOrTheErasureFails(t *testing.T) {
	for _, action := range []string{"ON DELETE CASCADE", "ON DELETE NO ACTION", "ON DELETE SET NULL"} {
		for name, c := range map[string]struct {
			between string // a row of the second person that refers to a row of the first one
			fails   bool
		}{
			"all rows of one person":    {"SELECT 1", false},
			"a mark in another's book":  {"INSERT INTO marks VALUES (9, 2, 1)", true},
			"a part of another's book":  {"INSERT INTO books VALUES (9, 2, 1)", true},
			"a mark in a book of hers":  {"INSERT INTO marks VALUES (9, 2, 2)", false},
			"a mark in no book at all":  {"INSERT INTO marks VALUES (9, 2, NULL)", false},
			"a book that she withdrew ": {"DELETE FROM books WHERE id = 2", false},
		} {
			t.Run(action+"/"+name, func(t *testing.T) {
				databases.Each(t, func(t *testing.T, db *bun.DB) {
					a := open(t, db, app.Config{Models: []any{(*bookOwner)(nil), (*book)(nil), (*mark)(nil)}},
						"CREATE TABLE readers (id bigint PRIMARY KEY, email text)",
						"CREATE TABLE books (id bigint PRIMARY KEY, reader_id bigint NOT NULL REFERENCES readers,"+
							" part_of_id bigint REFERENCES books "+action+")",
						"CREATE TABLE marks (id bigint PRIMARY KEY, reader_id bigint NOT NULL REFERENCES readers,"+
							" book_id bigint REFERENCES books "+action+")",

						"INSERT INTO readers VALUES (1, 'a'), (2, 'b')",
						"INSERT INTO books VALUES (1, 1, NULL), (2, 2, NULL), (3, 1, 1)",
						"INSERT INTO marks VALUES (1, 1, 1), (3, 1, 3)", c.between)
					before := a.linesOf(t, "books", "marks")
					_, err := a.erase(t.Context(), "1")
					after := a.linesOf(t, "books", "marks")
					switch {
					case c.fails && (!errors.Is(err, domain.ErrConflict) || !maps.Equal(before, after)):
						t.Errorf("the erasure returns %v, and leaves %v of %v", err, after, before)
					case !c.fails && err != nil:
						t.Error(err)
					}
					for row, person := range after {
						if !c.fails && person == "1" {
							t.Errorf("%s stays", row)
						}
						delete(before, row)
					}
					for row, person := range before {
						if person == "2" {
							t.Errorf("%s of the second person is lost", row)
						}
					}
				})
			})
		}
	}
}

// linesOf returns the person to whom each row of the tables belongs.
func (a *application) linesOf(t *testing.T, tables ...string) map[string]string {
	t.Helper()
	lines := map[string]string{}
	for _, table := range tables {
		var rows []map[string]any
		must(t, a.db.NewSelect().Table(table).Scan(t.Context(), &rows))
		for _, row := range rows {
			person := fmt.Sprint(row["reader_id"])
			delete(row, "reader_id")
			lines[fmt.Sprint(table, row)] = person
		}
	}
	return lines
}
