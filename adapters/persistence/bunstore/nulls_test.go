package bunstore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// cells are annotated columns of the table "people" by name.
type cells map[string]datamap.Column

func overwritten(t datamap.ColumnType, surrogate string) datamap.Column {
	return datamap.Column{Type: t, Surrogate: surrogate, Personal: &datamap.Annotation{
		Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
	}}
}

// newNulls creates the table "people" with the definitions, and an application with the columns, which are in the order
// of their names. The column "kept" is not annotated.
func newNulls(t testing.TB, db *bun.DB, definitions string, columns cells, more ...datamap.Column) *application {
	t.Helper()
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	execute(t, db, "CREATE TABLE people (id bigint PRIMARY KEY, kept text, "+definitions+")")
	table := datamap.Table{
		Name: "people", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: append([]datamap.Column{{Name: "id", Type: datamap.TypeBigInt}, {Name: "kept"}}, more...),
	}
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		column := columns[name]
		column.Name = name
		table.Columns = append(table.Columns, column)
	}
	dataMap, err := datamap.NewDataMap(table)
	must(t, err)
	store := storeOf(t, db, dataMap, bunstore.Options{})
	planned := planOf(t, dataMap)
	return &application{db, store, planned}
}

// texts returns the texts of the columns in the row of a person, or "NULL".
func (a *application) texts(t testing.TB, id int, columns ...string) (texts []string) {
	t.Helper()
	for _, column := range columns {
		var text string
		must(t, a.db.QueryRowContext(t.Context(), fmt.Sprintf(
			"SELECT COALESCE(CAST(%q AS text), 'NULL') FROM people WHERE id = %d", column, id)).Scan(&text))
		texts = append(texts, text)
	}
	return texts
}

func TestNullStaysNullWhateverTheTypeOfTheColumn(t *testing.T) {
	t.Parallel()
	for column, c := range map[string]struct {
		declared, value string
		column          datamap.Column
		onlyPostgres    bool
	}{
		"a text":            {"text", "'a'", overwritten(datamap.TypeText, ""), false},
		"a constant":        {"varchar(4)", "'a'", overwritten(datamap.TypeText, "gone"), false},
		"a filled constant": {"varchar(40)", "'a'", overwritten(datamap.TypeText, "{}@x"), false},
		"an integer":        {"integer", "7", overwritten(datamap.TypeInteger, ""), false},
		"a constant number": {"smallint", "7", overwritten(datamap.TypeSmallInt, "-1"), false},
		"a number":          {"double precision", "7.5", overwritten(datamap.TypeNumber, ""), false},
		"a boolean":         {"boolean", "TRUE", overwritten(datamap.TypeBoolean, ""), false},
		"a date":            {"date", "'2024-02-03'", overwritten(datamap.TypeTime, ""), false},
		"a time":            {"timestamp", "'2024-02-03 04:05:06'", overwritten(datamap.TypeTime, ""), false},
		"bytes":             {"bytea", "'a'", overwritten(datamap.TypeBytes, ""), true},
		"a document":        {"jsonb", `'{"a": 1}'`, overwritten(datamap.TypeJSON, ""), false},
		"the document null": {"json", `'null'`, overwritten(datamap.TypeJSON, ""), false},
		"a UUID": {
			"uuid", "'6ba7b810-9dad-11d1-80b4-00c04fd430c8'", overwritten(datamap.TypeUUID, ""),
			false,
		},
		"a UUID in a text":       {"varchar(36)", "'6ba7b810'", overwritten(datamap.TypeUUID, ""), false},
		"a UUID in a short text": {"char(36)", "'6ba7b810'", overwritten(datamap.TypeUUID, ""), false},
		"a number in a text":     {"varchar(9)", "'7'", overwritten(datamap.TypeInteger, ""), false},
		"a boolean in a text":    {"varchar(9)", "'true'", overwritten(datamap.TypeBoolean, ""), false},
		"an amount of money":     {"money", "7", overwritten(datamap.TypeNumber, ""), true},
		"an array":               {"text[]", "'{a}'", overwritten(datamap.TypeArray, ""), true},
		"an address":             {"inet", "'10.0.0.1'", overwritten(datamap.TypeText, "0.0.0.0"), true},
		"a label":                {"mood", "'sad'", overwritten(datamap.TypeText, "none"), true},
		"a composite value":      {"spot", "'(1,2)'", overwritten(datamap.TypeText, "(0,0)"), true},
		"a value of a domain":    {"positive", "7", overwritten(datamap.TypeInteger, "1"), true},
		"a character": {`"char"`, "'~'", datamap.Column{
			Type: datamap.TypeText, Length: 1, Personal: overwritten("", "").Personal,
		}, true},
		"a string of bits": {"bit(3)", "B'101'", overwritten(datamap.TypeText, "000"), true},
	} {
		t.Run(column, func(t *testing.T) {
			t.Parallel()
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				if db.Dialect().Name() == dialect.PG {
					execute(t, db, "CREATE TYPE mood AS ENUM ('sad', 'none')", "CREATE TYPE spot AS (x int, y int)",
						"CREATE DOMAIN positive AS integer CHECK (VALUE > 0)")
				} else if c.onlyPostgres {
					return
				}
				a := newNulls(t, db, "email text NOT NULL, cell "+c.declared,
					cells{"email": overwritten(datamap.TypeText, ""), "cell": c.column})
				execute(t, db, "INSERT INTO people (id, email, cell) VALUES (1, 'a', NULL), (2, 'b', "+c.value+")")
				before := a.texts(t, 2, "cell")
				for range 2 {
					for _, id := range []string{"1", "2"} {
						wantRows(t, a.erase(t, id), map[string]int64{"anonymize people": 1})
					}
				}
				if got := a.texts(t, 1, "email", "cell"); !strings.HasPrefix(got[0], "anon-") || got[1] != "NULL" {
					t.Errorf("a row with NULL is %q", got)
				}
				if got := a.texts(t, 2, "cell"); got[0] == "NULL" || got[0] == before[0] {
					t.Errorf("a cell with a value holds %q", got)
				}
			})
		})
	}
}

func TestConstraintsOnNullHoldAfterAnErasure(t *testing.T) {
	t.Parallel()
	for check, rows := range map[string][]string{
		"(a IS NULL) = (b IS NULL)":         {"NULL, NULL", "'one', 'two'"},
		"a IS NOT NULL OR b IS NOT NULL":    {"NULL, 'two'", "'one', NULL", "'one', 'two'"},
		"a IS NULL OR length(a) > 3":        {"NULL, NULL", "'long', NULL"},
		"(a IS NULL) <> (b IS NULL)":        {"NULL, 'two'", "'one', NULL"},
		"a IS NULL OR b IS NULL OR b > 'a'": {"NULL, NULL", "NULL, 'two'", "'one', NULL", "'one', 'two'"},
	} {
		databases.Each(t, func(t *testing.T, db *bun.DB) {
			if check == "(a IS NULL) <> (b IS NULL)" && db.Dialect().Name() == dialect.PG {
				check = "num_nonnulls(a, b) = 1"
			}
			a := newNulls(t, db, "email text NOT NULL, a text, b text, CHECK ("+check+")", cells{
				"email": overwritten(datamap.TypeText, ""), "a": overwritten(datamap.TypeText, ""),
				"b": overwritten(datamap.TypeText, ""),
			})
			for id, row := range rows {
				execute(t, db, fmt.Sprintf("INSERT INTO people (id, email, a, b) VALUES (%d, 'a', %s)", id, row))
				if err := a.tryErase(t, fmt.Sprint(id)); err != nil {
					t.Errorf("CHECK (%s) with %s: %v", check, row, err)
				}
			}
		})
	}
}

func TestUniqueNullsAreLeftApart(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	var version int
	must(t, db.NewRaw("SELECT current_setting('server_version_num')::integer").Scan(t.Context(), &version))
	if version < 150000 {
		t.Skip("PostgreSQL 15 is the first with NULLS NOT DISTINCT")
	}
	a := newNulls(t, db, "email text NOT NULL, a text, b text, UNIQUE NULLS NOT DISTINCT (a)", cells{
		"email": overwritten(datamap.TypeText, ""), "a": overwritten(datamap.TypeText, ""),
	})
	execute(t, a.db, "INSERT INTO people (id, email, a) VALUES (1, 'a', NULL), (2, 'b', 'x')")
	for _, id := range []string{"1", "2"} {
		must(t, a.tryErase(t, id))
	}
	if got := a.texts(t, 1, "a"); got[0] != "NULL" {
		t.Errorf("the cell holds %q", got)
	}
}

func TestARetainedCellThatIsNullStaysNull(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		kept := overwritten(datamap.TypeText, "")
		kept.Personal = &datamap.Annotation{
			Category: domain.CategoryFinancial, Strategy: domain.StrategyRetain, Reason: "law",
			Retain: datamap.Period{Years: 1}, Since: "at",
		}
		a := newNulls(t, db, "email text NOT NULL, at timestamp, a text, b text", cells{
			"email": overwritten(datamap.TypeText, ""), "a": kept, "b": kept,
		}, datamap.Column{Name: "at", Type: datamap.TypeTime})
		execute(t, db, "INSERT INTO people (id, email, at, a) VALUES (1, 'a', '2020-01-01 00:00:00', 'x')",
			"INSERT INTO people (id, email, at, a) VALUES (2, 'b', '2020-01-01 00:00:00', 'x')")
		must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			at, err := s.Subjects().Lock(ctx, subjectID(t, "1"), time.Now())
			if err == nil {
				_, err = s.Subjects().Apply(ctx, subjectID(t, "1"), plan.LocalAt(a.plan, at))
			}
			return err
		}))
		a.erase(t, "2") // without the ends of duties
		_, err := a.sweep(t, "2", time.Now())
		must(t, err)
		for _, id := range []int{1, 2} {
			if got := a.texts(t, id, "a", "b"); got[0] == "x" || got[1] != "NULL" {
				t.Errorf("the cells of %d hold %q", id, got)
			}
		}
		if due := a.due(t, time.Now()); len(due) > 0 {
			t.Errorf("%v are due", due)
		}
	})
}

// The database decides which column of a blank row can hold a surrogate: the CHECK constraint can depend on columns
// that no erasure overwrites.
func TestABlankRowGetsTheFirstSurrogateThatItsConstraintsAllow(t *testing.T) {
	t.Parallel()
	const definitions = "a text CHECK (a IS NULL), b text, c text, created_at timestamp, CHECK (kept = 'b' OR b IS NULL)"
	for kept, want := range map[string]string{"b": "b", "c": "c"} {
		for how, prepare := range map[string]func(*testing.T, *application){
			"alone": func(*testing.T, *application) {},
			"with triggers": func(t *testing.T, a *application) {
				statements := onUpdate(a.db, "UPDATE people SET kept = kept WHERE id = 77")
				for i := range statements {
					statements[i] = strings.ReplaceAll(statements[i], "ON worded", "ON people")
				}
				execute(t, a.db, statements...)
			},
		} {
			t.Run(kept+" "+how, func(t *testing.T) {
				t.Parallel()
				databases.Each(t, func(t *testing.T, db *bun.DB) {
					text := overwritten(datamap.TypeText, "")
					a := newNulls(t, db, definitions, cells{"a": text, "b": text, "c": text},
						datamap.Column{Name: "created_at", Type: datamap.TypeTime})
					execute(t, db, "INSERT INTO people (id, kept) VALUES (1, '"+kept+"')")
					prepare(t, a)
					for range 2 {
						wantRows(t, a.erase(t, "1"), map[string]int64{"anonymize people": 1})
						for i, text := range a.texts(t, 1, "a", "b", "c") {
							if name := string(rune('a' + i)); (text != "NULL") != (name == want) {
								t.Errorf("the column %s holds %q", name, text)
							}
						}
						if life := a.life(t, "1"); life != domain.LifeEnded {
							t.Errorf("the life is %q", life)
						}
					}
				})
			})
		}
	}
}

func TestABlankRowThatCanHoldNoSurrogateStaysBlank(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newNulls(t, db, "a text CHECK (a IS NULL)", cells{"a": overwritten(datamap.TypeText, "")})
		execute(t, db, "INSERT INTO people (id) VALUES (1)")
		a.erase(t, "1")
		if life := a.life(t, "1"); life != domain.LifeUnknown || a.texts(t, 1, "a")[0] != "NULL" {
			t.Errorf("the life is %q, and the row holds %q", life, a.texts(t, 1, "a"))
		}
	})
}

// A trigger acts only when a blank row gets its surrogate: it changes a retained cell, or its code is wrong.
func TestNothingIsHiddenWhereABlankRowGetsItsSurrogate(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"UPDATE people SET due = NEW.a WHERE id = NEW.id AND due = 'x'", "DELETE FROM missing"} {
		databases.Each(t, func(t *testing.T, db *bun.DB) {
			due := overwritten(datamap.TypeText, "")
			due.Personal = &datamap.Annotation{
				Category: domain.CategoryFinancial, Strategy: domain.StrategyRetain, Reason: "law",
			}
			a := newNulls(t, db, "a text, due text", cells{"a": overwritten(datamap.TypeText, ""), "due": due})
			execute(t, db, "INSERT INTO people (id, due) VALUES (1, 'x')")
			for _, statement := range onUpdate(db, body) {
				execute(t, db, strings.NewReplacer("ON worded FOR EACH ROW", "ON people FOR EACH ROW WHEN (NEW.a IS NOT NULL)",
					"ON worded", "ON people WHEN NEW.a IS NOT NULL").Replace(statement))
			}
			if err := a.tryErase(t, "1"); err == nil || strings.HasPrefix(body, "UPDATE") && !errors.Is(err,
				domain.ErrConflict) {
				t.Errorf("%s: got %v", body, err)
			}
			if got := a.texts(t, 1, "a", "due"); got[0] != "NULL" || got[1] != "x" {
				t.Errorf("%s: the row holds %q", body, got)
			}
		})
	}
}

func TestARowIsNotBlankBesideAColumnThatLosesItsConstraint(t *testing.T) {
	t.Parallel()
	a := newNulls(t, databases.PostgreSQL(t), "a text NOT NULL", cells{"a": overwritten(datamap.TypeText, "")})
	execute(t, a.db, "INSERT INTO people (id, a) VALUES (1, 'x')")
	a.erase(t, "1")
	execute(t, a.db, "ALTER TABLE people ALTER COLUMN a DROP NOT NULL", "INSERT INTO people (id) VALUES (2)")
	a.erase(t, "2")
	if life := a.life(t, "2"); life != domain.LifeEnded {
		t.Errorf("the life is %q", life)
	}
}

func (a *application) life(t testing.TB, id string) (life domain.Life) {
	t.Helper()
	must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		state, err := s.Subjects().State(ctx, subjectID(t, id))
		life = state.Life
		return err
	}))
	return life
}
