package bunstore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// A store may run the steps of different plans one after the other. It must not use the cached statements of one plan
// for another plan.
func TestCachedStatementsAreUsedOnlyForTheSameSteps(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		ctx, hook := t.Context(), &statements{}
		db = databases.WithHook(db, hook)
		must(t, bunstore.Migrate(ctx, db, bunstore.Options{}))
		user := datamap.Relation{Columns: []string{"user_id"}, References: "users", ReferencedColumns: []string{"id"}}
		column := func(name string) datamap.Column {
			return datamap.Column{
				Name: name, Type: datamap.TypeText, Surrogate: "no " + name,
				Personal: &datamap.Annotation{Category: domain.CategoryIdentity, Strategy: domain.StrategyAnonymize},
			}
		}
		tables := []datamap.Table{{
			Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}, column("name"), column("mail")},
		}}
		statements := []string{
			"CREATE TABLE users (id bigint PRIMARY KEY, name text, mail text)",
			"INSERT INTO users VALUES (1, 'Ada', 'ada@example.org'), (2, 'Bob', 'bob@example.org')",
		}
		for i, name := range []string{"notes", "letters"} {
			tables = append(tables, datamap.Table{
				Name: name, PrimaryKey: []string{"id"}, Relations: []datamap.Relation{user},
				Columns: []datamap.Column{
					{Name: "id", Type: datamap.TypeBigInt}, {Name: "user_id", Type: datamap.TypeBigInt}, column("text"),
				},
			})
			statements = append(statements,
				"CREATE TABLE "+name+" (id bigint PRIMARY KEY, user_id bigint REFERENCES users, text text)")
			for id := range i + 4 { // the first two rows belong to Bob
				statements = append(statements, fmt.Sprintf("INSERT INTO %s VALUES (%d, %d, 'text')", name, id, 2-min(id/2, 1)))
			}
		}
		databases.Execute(t, db, statements...)
		dataMap := fixture.MustMap(t, tables...)
		store := storeOf(t, db, dataMap, bunstore.Options{})
		ada := fixture.MustID(t, "1")
		must(t, store.Do(ctx, func(ctx context.Context, session ports.Session) error { // the store reads the catalog
			_, err := session.Subjects().LockToRectify(ctx, ada)
			return err
		}))

		anonymize := func(table string, columns ...string) datamap.Step {
			return datamap.Step{Target: table, Strategy: domain.StrategyAnonymize, Columns: columns}
		}
		retain := func(table string) datamap.Step { return datamap.Step{Target: table, Strategy: domain.StrategyRetain} }
		remove := func(table string) datamap.Step { return datamap.Step{Target: table, Strategy: domain.StrategyDelete} }
		contents := func() (texts []string) {
			must(t, db.NewRaw("SELECT name || ', ' || mail FROM users UNION ALL SELECT 'note ' || id || ': ' || text FROM notes"+
				" UNION ALL SELECT 'letter ' || id || ': ' || text FROM letters").Scan(ctx, &texts))
			slices.Sort(texts)
			return texts
		}
		changing := []string{"name"} // the caller reuses the slice
		for _, test := range []struct {
			steps []datamap.Step
			rows  []int64
			want  []string // the contents, in order
		}{
			{
				[]datamap.Step{retain("letters"), retain("notes"), anonymize("users", changing...)},
				[]int64{3, 2, 1},
				[]string{
					"Bob, bob@example.org", "letter 0: text", "letter 1: text", "letter 2: text", "letter 3: text", "letter 4: text",
					"no name, ada@example.org", "note 0: text", "note 1: text", "note 2: text", "note 3: text",
				},
			},
			{
				[]datamap.Step{retain("letters"), retain("notes"), anonymize("users", changing...)},
				[]int64{3, 2, 1},
				[]string{
					"Bob, bob@example.org", "letter 0: text", "letter 1: text", "letter 2: text", "letter 3: text", "letter 4: text",
					"no name, no mail", "note 0: text", "note 1: text", "note 2: text", "note 3: text",
				},
			},
			{ // a retain step counts all rows of its table, before or after the step that anonymizes other columns
				[]datamap.Step{retain("letters"), anonymize("notes", "text"), retain("notes"), anonymize("letters", "text")},
				[]int64{3, 2, 2, 3},
				[]string{
					"Bob, bob@example.org", "letter 0: text", "letter 1: text", "letter 2: no text", "letter 3: no text",
					"letter 4: no text",
					"no name, no mail", "note 0: text", "note 1: text", "note 2: no text", "note 3: no text",
				},
			},
			{
				[]datamap.Step{retain("letters"), anonymize("users", "name", "mail"), retain("notes")},
				[]int64{3, 1, 2},
				[]string{
					"Bob, bob@example.org", "letter 0: text", "letter 1: text", "letter 2: no text", "letter 3: no text",
					"letter 4: no text",
					"no name, no mail", "note 0: text", "note 1: text", "note 2: no text", "note 3: no text",
				},
			},
			{
				[]datamap.Step{retain("letters"), anonymize("users", "name", "mail"), remove("notes")},
				[]int64{3, 1, 2},
				[]string{
					"Bob, bob@example.org", "letter 0: text", "letter 1: text", "letter 2: no text", "letter 3: no text",
					"letter 4: no text",
					"no name, no mail", "note 0: text", "note 1: text",
				},
			},
			{
				[]datamap.Step{retain("notes"), anonymize("users", "name", "mail"), remove("letters")},
				[]int64{0, 1, 3},
				[]string{
					"Bob, bob@example.org", "letter 0: text", "letter 1: text", "no name, no mail", "note 0: text", "note 1: text",
				},
			},
		} {
			var rows []int64
			texts := hook.during(t, func() {
				must(t, store.Do(ctx, func(ctx context.Context, session ports.Session) (err error) {
					applied, err := session.Subjects().Apply(ctx, ada, test.steps)
					rows = applied.Rows
					return err
				}))
			})
			changing[0] = "mail"
			if db.Dialect().Name() == dialect.PG && len(texts) != 4 { // BEGIN, the catalog, the steps, COMMIT
				t.Errorf("%v took %q", test.steps, texts)
			}
			if !slices.Equal(rows, test.rows) {
				t.Errorf("%v: %d rows, want %d", test.steps, rows, test.rows)
			}
			if got := contents(); !slices.Equal(got, test.want) {
				t.Errorf("%v:\n%q, want\n%q", test.steps, got, test.want)
			}
		}
	})
}
