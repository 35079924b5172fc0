package bunstore_test

import (
	"slices"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestTheCatalogHasTheCodeOfATriggerOfPostgreSQL(t *testing.T) {
	t.Parallel()
	_, store := postgresWith(t,
		`CREATE TABLE notes (id bigint PRIMARY KEY, title text, words tsvector)`,
		`CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS ' BEGIN NEW.title := NEW.id; RETURN NEW; END '`,
		`CREATE TRIGGER a_fill BEFORE UPDATE OF id ON notes FOR EACH ROW WHEN (NEW.id > 1) EXECUTE FUNCTION fill()`,
		`CREATE TRIGGER b_words BEFORE INSERT ON notes FOR EACH ROW
			EXECUTE FUNCTION tsvector_update_trigger(words, 'pg_catalog.english', title)`,
		`CREATE RULE c_rule AS ON DELETE TO notes DO INSTEAD NOTHING`)
	isListed(t, "triggers", tableOf(t, store, "notes").Triggers, []datamap.CatalogTrigger{
		{
			Name: "a_fill", Events: []string{"UPDATE"}, Language: "plpgsql",
			Definition: "CREATE TRIGGER a_fill BEFORE UPDATE OF id ON public.notes FOR EACH ROW WHEN ((new.id > 1)) " +
				"EXECUTE FUNCTION fill()",
			Code: " BEGIN NEW.title := NEW.id; RETURN NEW; END ",
		},
		{
			Name: "b_words", Events: []string{"INSERT"}, Language: "internal",
			Definition: "CREATE TRIGGER b_words BEFORE INSERT ON public.notes FOR EACH ROW " +
				"EXECUTE FUNCTION tsvector_update_trigger('words', 'pg_catalog.english', 'title')",
			Code: "tsvector_update_trigger_byid",
		},
		{
			Name: "c_rule", Events: []string{"DELETE"}, Instead: true,
			Definition: "CREATE RULE c_rule AS\n    ON DELETE TO public.notes DO INSTEAD NOTHING;",
		},
	})
}

func TestTheCatalogHasTheCodeOfATriggerOfSQLite(t *testing.T) {
	t.Parallel()
	const trigger = `CREATE TRIGGER each AFTER UPDATE ON notes BEGIN UPDATE notes SET title = NEW.id; END`
	_, store := applicationWith(t, databases.SQLite(t), []string{`CREATE TABLE notes (id integer, title text)`, trigger})
	isListed(t, "triggers", tableOf(t, store, "notes").Triggers, []datamap.CatalogTrigger{
		{Name: "each", Events: []string{"UPDATE"}, Writes: []string{"notes"}, Definition: trigger},
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
		where := "(host IS NOT NULL)"
		if db.Dialect().Name() == dialect.SQLite {
			where = statements[3]
		}
		isListed(t, "uniques", visits.Uniques, []datamap.CatalogUnique{
			{Name: "i_one", Columns: []string{"person"}},
			{Name: "i_other", Columns: []string{"person"}, Partial: true, Where: where},
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
