package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

type author struct {
	bun.BaseModel `bun:"table:authors" subject:"owned"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Name          string `bun:"name" pii:"identity"`
}

type note struct {
	bun.BaseModel `bun:"table:notes"`
	ID            int64   `bun:"id,pk"`
	AuthorID      *int64  `bun:"author_id"`
	Author        *author `bun:"rel:belongs-to,join:author_id=id" subject:"path,erasure:delete"`
	Body          string  `bun:"body" pii:"communication"`
}

// CountBesides tests that bunstore counts the rows which the database deletes besides the steps of an erasure, or
// refuses the erasure. A foreign key deletes rows of an unmapped table, and a trigger deletes rows of another person.
// It covers the statements that only such schemas need, for drivers that are not in databases.Drivers.
func CountBesides(t *testing.T, driver databases.Driver) {
	t.Helper()
	db := driver.Open(t, driver.NewDatabase(t))
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	run := func(statements ...string) {
		t.Helper()
		for _, text := range statements {
			_, err := db.ExecContext(t.Context(), text)
			must(t, err)
		}
	}
	run("CREATE TABLE authors (id integer PRIMARY KEY, name text)",
		"CREATE TABLE notes (id integer PRIMARY KEY, author_id integer REFERENCES authors, body text)",
		"CREATE TABLE likes (id integer PRIMARY KEY, note_id integer REFERENCES notes ON DELETE CASCADE)",
		"INSERT INTO authors VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Eve')",
		"INSERT INTO notes VALUES (10, 1, 'a'), (20, 2, 'b'), (30, 3, 'c')", "INSERT INTO likes VALUES (1, 10), (2, 20)")
	dataMap, err := bunmodels.Read(db, []any{(*author)(nil), (*note)(nil)}, nil)
	must(t, err)
	plan, err := erasure.Planner{}.Plan(dataMap, nil)
	must(t, err)
	store, err := bunstore.New(db, dataMap, bunstore.Options{})
	must(t, err)
	erase := func(text string) (cascaded map[string]int64, err error) {
		id := fixture.MustID(t, text)
		err = store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			if _, err := s.Subjects().Lock(ctx, id, time.Unix(0, 0)); err != nil {
				return err
			}
			applied, err := s.Subjects().Apply(ctx, id, plan.Local())
			cascaded = applied.Cascaded
			return err
		})
		return cascaded, err
	}
	if cascaded, err := erase("1"); err != nil || cascaded["likes"] != 1 || len(cascaded) != 1 {
		t.Errorf("got %v, %v", cascaded, err)
	}
	if driver.IsSQLite() {
		run("CREATE TRIGGER t AFTER DELETE ON likes BEGIN DELETE FROM notes WHERE id = 30; END")
	} else {
		run("CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS "+
			"$$ BEGIN DELETE FROM notes WHERE id = 30; RETURN NULL; END $$",
			"CREATE TRIGGER t AFTER DELETE ON likes FOR EACH ROW EXECUTE FUNCTION f()")
	}
	if _, err := erase("2"); !errors.Is(err, domain.ErrConflict) {
		t.Errorf("got %v", err)
	}
	if n, err := db.NewSelect().Table("notes").Count(t.Context()); err != nil || n != 2 {
		t.Errorf("%d notes are left, %v", n, err)
	}
}
