package bunstore_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// leftOver returns the columns with remaining values of a subject, as "table.column".
func (a *application) leftOver(t testing.TB, erasedAt time.Time, id ...string) (names []string) {
	t.Helper()
	must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		found, err := s.Erased().LeftOver(ctx, subjectID(t, id...), plan.LocalAt(a.plan, erasedAt), erasedAt)
		for _, left := range found {
			names = append(names, left.Table+"."+left.Column)
		}
		return err
	}))
	return names
}

func TestASurrogateOfEveryTypeIsNotLeftOver(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newApplication(t, db.WithNamedArg("name", "Alice"), sealedTypes, (*person)(nil), (*Record)(nil))
		a.insert(t, &person{ID: 1}, fullRecord(1, 1), &Record{ID: 2, OwnerID: 1, Kept: "kept", Decimal: "1"})
		var want []string
		for _, step := range a.plan.Local() {
			for _, column := range step.Columns {
				if column != "bool_ptr" && column != "one" { // these columns hold values that an erasure could have written
					want = append(want, step.Target+"."+column)
				}
			}
		}
		if got := a.leftOver(t, time.Now(), "1"); !slices.Equal(got, want) {
			t.Errorf("before an erasure: got %q, want %q", got, want)
		}
		a.erase(t, "1")
		if got := a.leftOver(t, time.Now(), "1"); len(got) > 0 {
			t.Errorf("after an erasure: got %q", got)
		}
	})
}

func TestASurrogateOfEveryTypeOfPostgreSQLIsNotLeftOver(t *testing.T) {
	t.Parallel()
	for _, parameters := range []string{"", "&default_query_exec_mode=exec", "&default_query_exec_mode=simple_protocol"} {
		a := museum(t, parameters)
		execute(t, a.db, ordinary)
		if got := a.leftOver(t, time.Now(), "1"); len(got) == 0 {
			t.Errorf("%s: before an erasure nothing is left over", parameters)
		}
		a.erase(t, "1")
		if got := a.leftOver(t, time.Now(), "1"); len(got) > 0 {
			t.Errorf("%s: got %q", parameters, got)
		}
	}
}

// A job of the application writes a value back after an erasure. The verification must find the value.
func TestAValueThatComesBackIsLeftOver(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		a := existingApplication(t, db, nil, models...)
		a.erase(t, "1")
		execute(t, db, "UPDATE users SET name = 'Alice' WHERE id = 1", "INSERT INTO orders (id, user_id, note, shipped)"+
			" VALUES (7, 1, 'again', TRUE)", "UPDATE users SET name = 'Bob' WHERE id = 2")
		if got := a.leftOver(t, time.Now(), "1"); !slices.Equal(got, []string{"orders.", "users.name"}) {
			t.Errorf("got %q", got)
		}
		if db.Dialect().Name() == dialect.SQLite { // a column of any type accepts the empty text
			execute(t, db, "UPDATE users SET born = '', avatar = '' WHERE id = 1")
			if got := a.leftOver(t, time.Now(), "1"); !slices.Equal(got, []string{"orders.", "users.name"}) {
				t.Errorf("with empty texts: got %q", got)
			}
		}
		joined := []string{}
		must(t, db.RunInTx(t.Context(), nil, func(ctx context.Context, tx bun.Tx) error {
			sessions, err := s.store.Join(tx)
			must(t, err)
			return sessions.Do(ctx, func(ctx context.Context, session ports.Session) error {
				found, err := session.Erased().LeftOver(ctx, s.alice.ID, a.plan.Local(), noon)
				for _, left := range found {
					joined = append(joined, left.Table+"."+left.Column)
				}
				return err
			})
		}))
		if !slices.Equal(joined, []string{"orders.", "users.name"}) {
			t.Errorf("in a transaction of the application: got %q", joined)
		}
	})
}

// A view may hide rows from the store. The verification must then fail instead of reporting success.
func TestAVerificationIsRefusedWhereRowsMayBeHidden(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	s := newShop(t, db, 1)
	execute(t, db, "CREATE VIEW shown AS SELECT * FROM orders WHERE id > 0",
		"ALTER TABLE orders RENAME TO all_orders", "ALTER VIEW shown RENAME TO orders")
	err := s.store.Do(t.Context(), func(ctx context.Context, session ports.Session) error {
		_, err := session.Erased().LeftOver(ctx, s.alice.ID, s.eraser.Plan().Local(), noon)
		return err
	})
	if !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("got %v, want %v", err, domain.ErrConfiguration)
	}
}

// The verification must report a row whose creation time is unreadable, because such a row does not count as added
// after the erasure. It must report the reference of this row, too. The reference is a UUID, and therefore looks like a
// surrogate.
func TestReferencesAndUnreadableInstantsAreLeftOver(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		execute(t, db, "CREATE TABLE writers (id uuid PRIMARY KEY)",
			"CREATE TABLE books (id integer PRIMARY KEY, writer uuid REFERENCES writers, title text, created_at integer)",
			"INSERT INTO writers VALUES ('f47ac10b-58cc-4372-a567-0e02b2c3d479')",
			"INSERT INTO books VALUES (1, 'f47ac10b-58cc-4372-a567-0e02b2c3d479', 'a title', 20300101)")
		dataMap := fixture.MustMap(t, datamap.Table{
			Name: "writers", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{{Name: "id", Type: datamap.TypeUUID}},
		}, datamap.Table{
			Name: "books", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{{
				Columns: []string{"writer"}, References: "writers", ReferencedColumns: []string{"id"},
				OnErasure: domain.StrategyNull,
			}},
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeInteger},
				{Name: "writer", Type: datamap.TypeUUID},
				{Name: "created_at"},
				{Name: "title", Type: datamap.TypeText, Personal: &datamap.Annotation{
					Category: domain.CategoryBehavioral, Strategy: domain.StrategyAnonymize,
				}},
			},
		})
		store := storeOf(t, db, dataMap, bunstore.Options{})
		planned := planOf(t, dataMap)
		a := &application{db, store, planned}
		const writer = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
		if got := a.leftOver(t, noon, writer); !slices.Equal(got, []string{"books.title", "books.writer"}) {
			t.Errorf("got %q", got)
		}
		for created, want := range map[int64][]string{
			noon.Unix() + 1: nil, noon.Unix(): {"books.title", "books.writer"}, noon.Unix() - 1: {"books.title", "books.writer"},
		} {
			execute(t, db, "UPDATE books SET created_at = "+strconv.FormatInt(created, 10))
			if got := a.leftOver(t, noon, writer); !slices.Equal(got, want) {
				t.Errorf("created at %d: got %q", created, got)
			}
		}
		a.erase(t, writer)
		if got := a.leftOver(t, noon, writer); len(got) > 0 {
			t.Errorf("after an erasure: got %q", got)
		}
	})
}
