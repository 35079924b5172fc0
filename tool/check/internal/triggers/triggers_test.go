package triggers_test

import (
	"reflect"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/tool/check/internal/triggers"
)

// read is a trigger without its code, and the results of triggers.Read.
type read struct {
	Name    string
	Events  []string
	Writes  []string
	Sets    []triggers.Assignment
	Unlinks string
}

// triggersOf runs the statements, and reads the triggers of a table in the catalog of the database.
func triggersOf(t *testing.T, db *bun.DB, table string, statements ...string) (all []read) {
	t.Helper()
	for _, statement := range statements {
		_, err := db.ExecContext(t.Context(), statement)
		must(t, err)
	}
	schema, err := bunstore.NewSchema(db, bunstore.Options{})
	must(t, err)
	catalog, err := schema.Catalog(t.Context())
	must(t, err)
	live, _ := catalog.Table(table)
	for _, trigger := range live.Triggers {
		effects := triggers.Read(live, trigger)
		all = append(all, read{trigger.Name, trigger.Events, trigger.Writes, effects.Sets, effects.Unlinks})
	}
	return all
}

func areRead(t *testing.T, got, want []read) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the triggers are\n%+v, want\n%+v", got, want)
	}
}

var must = fixture.Must

func TestReadFindsWhatATriggerSetsInItsOwnRow(t *testing.T) {
	t.Parallel()
	all := triggersOf(t, databases.PostgreSQL(t), "notes",
		`CREATE TABLE notes (id bigint PRIMARY KEY, title text, body text, before text, "Whole" jsonb, words tsvector, n int,
			plain text, doc oid)`,
		`CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN
				IF NEW.title = OLD.title THEN RETURN NEW; END IF; -- a comparison
				NEW.before := coalesce(OLD.title, OLD.body);
				SELECT to_jsonb(OLD) INTO NEW."Whole";
				NEW.n = 1;
				UPDATE notes SET plain = upper(NEW.body), n = length(NEW.title) WHERE title = NEW.title;
				UPDATE elsewhere SET body = NEW.body;
				RETURN NEW;
			END $$`,
		`CREATE FUNCTION lo_manage() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
		`CREATE TRIGGER a_fill BEFORE UPDATE ON notes FOR EACH ROW EXECUTE FUNCTION fill()`,
		`CREATE TRIGGER b_words BEFORE INSERT ON notes FOR EACH ROW
			EXECUTE FUNCTION tsvector_update_trigger(words, 'pg_catalog.english', title, body)`,
		`CREATE TRIGGER c_own BEFORE DELETE ON notes FOR EACH ROW EXECUTE FUNCTION lo_manage('doc')`)
	areRead(t, all, []read{
		{
			Name: "a_fill", Events: []string{"UPDATE"}, Writes: []string{"elsewhere", "notes"},
			Sets: []triggers.Assignment{
				{Column: "before", Reads: []string{"title", "body"}, Old: true},
				{Column: "Whole", Reads: []string{"*"}, Old: true},
				{Column: "plain", Reads: []string{"body"}, Follows: []string{"title"}}, // it returns if the title stays
				{Column: "n", Reads: []string{"title"}, Follows: []string{"title"}},
			},
		},
		{Name: "b_words", Events: []string{"INSERT"}, Sets: []triggers.Assignment{
			{Column: "words", Reads: []string{"title", "body"}},
		}},
		{Name: "c_own", Events: []string{"DELETE"}}, // a function of the application with the same name
	})
}

func TestReadFindsTheColumnsThatATriggerOfSQLiteFollows(t *testing.T) {
	t.Parallel()
	all := triggersOf(t, databases.SQLite(t), "notes",
		`CREATE TABLE notes (id integer PRIMARY KEY, title text NOT NULL, body text, copied text)`,
		`CREATE TRIGGER IF NOT EXISTS a_each AFTER UPDATE ON notes BEGIN
			UPDATE notes SET copied = upper(NEW.title) WHERE id = NEW.id; END`,
		`CREATE TRIGGER b_of AFTER UPDATE OF body, "title" ON notes FOR EACH ROW BEGIN
			UPDATE notes SET copied = NEW.title WHERE notes.id = NEW.id; END`,
		`CREATE TRIGGER c_when AFTER UPDATE ON notes WHEN NEW.body IS NOT OLD.body OR NEW.title <> OLD.title BEGIN
			UPDATE notes SET copied = NEW.title WHERE id = NEW.id; END`,
		`CREATE TRIGGER d_empty AFTER UPDATE ON notes BEGIN
			UPDATE notes SET copied = NEW.title WHERE id = NEW.id AND copied IS NULL; END`,
		`CREATE TRIGGER e_insert AFTER INSERT ON notes BEGIN
			UPDATE notes SET copied = NEW.title WHERE id = NEW.id; END`)
	var want []read
	for _, trigger := range []struct {
		name, event string
		follows     []string
	}{
		{"a_each", "UPDATE", []string{"id", "title", "body", "copied"}},
		{"b_of", "UPDATE", []string{"title", "body"}},
		{"c_when", "UPDATE", []string{"title", "body"}},
		{"d_empty", "UPDATE", nil},
		{"e_insert", "INSERT", nil},
	} {
		want = append(want, read{
			Name: trigger.name, Events: []string{trigger.event}, Writes: []string{"notes"},
			Sets: []triggers.Assignment{{Column: "copied", Reads: []string{"title"}, Follows: trigger.follows}},
		})
	}
	areRead(t, all, want)
}

func TestReadFindsTheTriggerThatDeletesLargeObjects(t *testing.T) {
	t.Parallel()
	all := triggersOf(t, databases.PostgreSQL(t), "files",
		`CREATE EXTENSION lo`,
		`CREATE TABLE files (id bigint PRIMARY KEY, doc lo)`,
		`CREATE TRIGGER unlink BEFORE UPDATE OR DELETE ON files FOR EACH ROW EXECUTE FUNCTION lo_manage(doc)`)
	areRead(t, all, []read{{Name: "unlink", Events: []string{"UPDATE", "DELETE"}, Unlinks: "doc"}})
}

// The name of the table in the code has the schema of the table, or is the name by which SQLite knows the table in its
// own database.
func TestReadFindsATableByItsNamesInTheCode(t *testing.T) {
	for name, table := range map[string]datamap.CatalogTable{
		"notes":      {Name: "notes", Schema: "public"},
		"PUBLIC.log": {Name: "log", Schema: "public"},
		"shop.log":   {Name: "shop.log", Schema: "shop"},
		"log":        {Name: "other.log", Schema: "other", FoldsCase: true},
	} {
		table.Columns = []datamap.CatalogColumn{{Name: "a"}, {Name: "b"}}
		sets := triggers.Read(table, datamap.CatalogTrigger{
			Language: "plpgsql", Code: "BEGIN UPDATE " + name + " SET a = NEW.b; UPDATE another SET b = NEW.a; END",
		}).Sets
		if len(sets) != 1 || sets[0].Column != "a" {
			t.Errorf("with the name %s, the trigger of %s sets %+v", name, table.Name, sets)
		}
	}
}
