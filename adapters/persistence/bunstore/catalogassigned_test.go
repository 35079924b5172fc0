package bunstore_test

import (
	"slices"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestTheCatalogHasWhatATriggerSetsInItsOwnRow(t *testing.T) {
	t.Parallel()
	_, store := postgresWith(t,
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
	triggers := tableOf(t, store, "notes").Triggers
	isListed(t, "triggers", triggers, []datamap.CatalogTrigger{
		{
			Name: "a_fill", Events: []string{"UPDATE"}, Writes: []string{"elsewhere", "notes"},
			Sets: []datamap.TriggerAssignment{
				{Column: "before", Reads: []string{"title", "body"}, Old: true},
				{Column: "Whole", Reads: []string{"*"}, Old: true},
				{Column: "plain", Reads: []string{"body"}, Follows: []string{"title"}}, // it returns if the title stays
				{Column: "n", Reads: []string{"title"}, Follows: []string{"title"}},
			},
		},
		{Name: "b_words", Events: []string{"INSERT"}, Sets: []datamap.TriggerAssignment{
			{Column: "words", Reads: []string{"title", "body"}},
		}},
		{Name: "c_own", Events: []string{"DELETE"}, Skips: datamap.VerdictHolds}, // a function with the same name
	})
}

func TestTheCatalogHasTheColumnsThatATriggerOfSQLiteFollows(t *testing.T) {
	t.Parallel()
	db := databases.SQLite(t)
	_, store := applicationWith(t, db, []string{
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
			UPDATE notes SET copied = NEW.title WHERE id = NEW.id; END`,
	})
	want := map[string][]string{
		"a_each": {"id", "title", "body", "copied"}, "b_of": {"title", "body"}, "c_when": {"title", "body"},
		"d_empty": nil, "e_insert": nil,
	}
	triggers := tableOf(t, store, "notes").Triggers
	if len(triggers) != len(want) {
		t.Errorf("%d triggers, want %d", len(triggers), len(want))
	}
	for _, trigger := range triggers {
		isListed(t, trigger.Name, trigger.Sets, []datamap.TriggerAssignment{
			{Column: "copied", Reads: []string{"title"}, Follows: want[trigger.Name]},
		})
	}
}

func TestTheCatalogHasTheTriggerThatDeletesLargeObjects(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	_, store := applicationWith(t, db, []string{
		`CREATE EXTENSION lo`,
		`CREATE TABLE files (id bigint PRIMARY KEY, doc lo)`,
		`CREATE TRIGGER unlink BEFORE UPDATE OR DELETE ON files FOR EACH ROW EXECUTE FUNCTION lo_manage(doc)`,
	})
	isListed(t, "triggers", tableOf(t, store, "files").Triggers, []datamap.CatalogTrigger{
		{Name: "unlink", Events: []string{"UPDATE", "DELETE"}, Unlinks: "doc"},
	})
}

func TestTheCatalogHasTheColumnsThatAViewUses(t *testing.T) {
	t.Parallel()
	_, store := postgresWith(t,
		`CREATE TABLE members (id bigint PRIMARY KEY, email text, theme text)`,
		`CREATE VIEW addresses AS SELECT id, email AS mail FROM members`,
		`CREATE MATERIALIZED VIEW reach AS SELECT mail AS reach, theme FROM addresses JOIN members USING (id)`)
	view := tableOf(t, store, "reach")
	isListed(t, "tables", view.Reads, []string{"addresses", "members"})
	isListed(t, "columns of the view", view.Uses["addresses"], []string{"id", "mail"})
	isListed(t, "columns of the table", view.Uses["members"], []string{"email", "id", "theme"})
}

func TestTheCatalogHasTheRowsThatAnIndexLeavesOut(t *testing.T) {
	t.Parallel()
	statements := []string{
		`CREATE TABLE visits (id bigint PRIMARY KEY, person bigint, host bigint)`,
		`CREATE INDEX i_both ON visits (person, host) WHERE person IS NOT NULL AND host IS NOT NULL`,
		`CREATE UNIQUE INDEX i_one ON visits (person) WHERE (person IS NOT NULL)`,
		`CREATE UNIQUE INDEX i_other ON visits (person) WHERE host IS NOT NULL`,
		`CREATE INDEX i_some ON visits (person) WHERE person IS NOT NULL AND host > 1`,
		`CREATE INDEX i_null ON visits (host) WHERE person IS NULL`,
	}
	both := []datamap.CatalogIndex{
		{Name: "i_both", Columns: []string{"person", "host"}, Partial: true, Present: []string{"person", "host"}},
		{Name: "i_null", Columns: []string{"host"}, Partial: true},
		{Name: "i_one", Columns: []string{"person"}, Partial: true, Present: []string{"person"}},
		{Name: "i_other", Columns: []string{"person"}, Partial: true, Present: []string{"host"}},
		{Name: "i_some", Columns: []string{"person"}, Partial: true},
	}
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		_, store := applicationWith(t, db, statements)
		visits := tableOf(t, store, "visits")
		indexes := slices.DeleteFunc(visits.Indexes, func(i datamap.CatalogIndex) bool { return i.Name[0] != 'i' })
		isListed(t, "indexes", indexes, both)
		isListed(t, "uniques", visits.Uniques, []datamap.CatalogUnique{
			{Name: "i_one", Columns: []string{"person"}}, {Name: "i_other", Columns: []string{"person"}, Partial: true},
		})
	})
}

func TestTheCatalogHasTheDetailsOfAForeignKey(t *testing.T) {
	t.Parallel()
	db, store := postgresWith(t,
		`CREATE TABLE people (tenant bigint, id bigint, PRIMARY KEY (tenant, id))`,
		`CREATE TABLE visits (id bigint PRIMARY KEY, tenant bigint, host bigint, guest bigint,
			CONSTRAINT a_full FOREIGN KEY (tenant, guest) REFERENCES people MATCH FULL,
			CONSTRAINT b_some FOREIGN KEY (tenant, host) REFERENCES people ON DELETE SET NULL)`)
	referenced := []string{"tenant", "id"}
	want := []datamap.CatalogForeignKey{
		{
			Name: "a_full", Columns: []string{"tenant", "guest"}, References: "people", Referenced: referenced,
			OnDelete: datamap.ActionNone, Full: true,
		},
		{
			Name: "b_some", Columns: []string{"tenant", "host"}, References: "people", Referenced: referenced,
			OnDelete: datamap.ActionSetNull,
		},
	}
	isListed(t, "foreign keys", tableOf(t, store, "visits").ForeignKeys, want)
	var version int
	must(t, db.NewRaw("SELECT current_setting('server_version_num')::integer").Scan(t.Context(), &version))
	if version >= 150000 { // ON DELETE SET NULL with columns is new in PostgreSQL 15
		execute(t, db, `ALTER TABLE visits DROP CONSTRAINT b_some, ADD CONSTRAINT b_some FOREIGN KEY (tenant, host)
			REFERENCES people ON DELETE SET NULL (host)`)
		want[1].Cleared = []string{"host"}
		isListed(t, "foreign keys", tableOf(t, store, "visits").ForeignKeys, want)
	}
}
