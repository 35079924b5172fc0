package bunstore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// museumOfPostgres holds the statements that create objects and types that only PostgreSQL has.
var museumOfPostgres = []string{
	`CREATE SCHEMA archive`,
	`CREATE TYPE mood AS ENUM ('sad', 'ok')`,
	`CREATE DOMAIN short AS varchar(20) CHECK (VALUE <> 'x')`,
	`CREATE DOMAIN mail AS short NOT NULL DEFAULT 'none' CONSTRAINT has_at CHECK (VALUE LIKE '%@%')`,
	`CREATE TABLE people (id bigint PRIMARY KEY)`,
	`CREATE TABLE visits (
		id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, person bigint NOT NULL
			REFERENCES people (id) ON UPDATE SET NULL,
		host bigint CONSTRAINT host REFERENCES people ON DELETE SET NULL DEFERRABLE,
		mood mood NOT NULL DEFAULT 'ok', mail mail, tags text[], note varchar(40) COLLATE "C", doc jsonb, seen timestamptz,
		nickname text, twice text GENERATED ALWAYS AS (nickname || nickname) STORED, part int4range,
		CONSTRAINT polite CHECK (note <> nickname), CONSTRAINT alone EXCLUDE USING gist (part WITH &&))`,
	`CREATE UNIQUE INDEX one_mail ON visits (person, lower(mail)) WHERE nickname IS NOT NULL`,
	`CREATE UNIQUE INDEX one_note ON visits (note)`,
	`CREATE INDEX by_host ON visits (host, lower(note))`,
	`CREATE INDEX by_doc ON visits USING gin (doc)`,
	`CREATE INDEX by_expression ON visits (lower(note), host)`,
	`CREATE TABLE archive.visits (id bigint, person bigint, note text)`,
	`CREATE TABLE archive.log (person bigint REFERENCES people ON DELETE CASCADE ON UPDATE CASCADE, note text)`,
	`CREATE TEMPORARY TABLE passing (note text)`,
}

func catalogOf(t *testing.T, store *bunstore.Store) datamap.Catalog {
	t.Helper()
	catalog, err := store.Catalog(t.Context())
	must(t, err)
	return catalog
}

func TestTheCatalogHasTheConstantsOfDefaults(t *testing.T) {
	t.Parallel()
	wants := map[string]string{
		"text DEFAULT 'it''s'": "", "varchar(20) DEFAULT 'a'": "a", "text DEFAULT false": "false",
		"text DEFAULT 'a b'": "a b",
		"integer DEFAULT 5":  "5", "numeric(5, 2) DEFAULT '1.5'": "", "jsonb DEFAULT '{}'": "{}",
		"text DEFAULT 'a' || 'b'": "", "text DEFAULT lower('A')": "", "timestamptz DEFAULT now()": "",
		"text DEFAULT NULL": "",
		"text":              "", "text GENERATED ALWAYS AS ('a') STORED": "",
	}
	columns, want, n := []string{"id bigint"}, map[string]string{"id": ""}, 0
	for definition, initial := range wants {
		n++
		columns = append(columns, fmt.Sprintf("c%d %s", n, definition))
		want[fmt.Sprintf("c%d", n)] = initial
	}
	_, store := postgresWith(t, "CREATE TABLE forms ("+strings.Join(columns, ", ")+")")
	for i, c := range tableOf(t, store, "forms").Columns {
		if c.Initial != want[c.Name] {
			t.Errorf("%s: the constant is %q, want %q", columns[i], c.Initial, want[c.Name])
		}
	}
}

// tableOf returns the description of a table from Store.Catalog.
func tableOf(t *testing.T, store *bunstore.Store, name string) datamap.CatalogTable {
	t.Helper()
	table, ok := catalogOf(t, store).Table(name)
	if !ok {
		t.Fatalf("%s is not in the catalog", name)
	}
	return table
}

// triggersOf returns the triggers of a table without their code.
func triggersOf(t *testing.T, store *bunstore.Store, table string) []datamap.CatalogTrigger {
	t.Helper()
	triggers := tableOf(t, store, table).Triggers
	for i := range triggers {
		if triggers[i].Definition == "" {
			t.Errorf("the trigger %s has no definition", triggers[i].Name)
		}
		triggers[i].Definition, triggers[i].Language, triggers[i].Code = "", "", ""
	}
	return triggers
}

func namesOf(catalog datamap.Catalog) (names []string) {
	for _, table := range catalog.Tables {
		names = append(names, table.Name)
	}
	return names
}

// isListed fails the test if got and want differ.
func isListed[T any](t *testing.T, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("of %s there are %d, want %d: %s", what, len(got), len(want), mustJSON(t, got))
		return
	}
	for i := range want {
		if mustJSON(t, got[i]) != mustJSON(t, want[i]) {
			t.Errorf("of %s, number %d is %s, want %s", what, i, mustJSON(t, got[i]), mustJSON(t, want[i]))
		}
	}
}

// postgresWith runs the statements on a new PostgreSQL database. It returns the database, and a store whose data map
// has only the subject's table.
func postgresWith(t *testing.T, statements ...string) (*bun.DB, *bunstore.Store) {
	t.Helper()
	return applicationWith(t, databases.PostgreSQL(t), statements)
}

func applicationWith(t *testing.T, db *bun.DB, statements []string) (*bun.DB, *bunstore.Store) {
	t.Helper()
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	execute(t, db, statements...)
	return db, existingApplication(t, db, nil, (*person)(nil)).store
}

func TestTheCatalogOfPostgreSQLHasColumnsAndConstraints(t *testing.T) {
	t.Parallel()
	_, store := postgresWith(t, museumOfPostgres...)
	isListed(t, "tables", namesOf(catalogOf(t, store)), []string{"archive.log", "archive.visits", "people", "visits"})
	visits := tableOf(t, store, "public.visits")
	isListed(t, "columns", visits.Columns, []datamap.CatalogColumn{
		{Name: "id", Declared: "bigint", Type: datamap.TypeBigInt, Default: true, Identity: true},
		{Name: "person", Declared: "bigint", Type: datamap.TypeBigInt},
		{Name: "host", Declared: "bigint", Type: datamap.TypeBigInt, Nullable: true},
		{Name: "mood", Declared: "mood", Type: datamap.TypeText, Default: true, Initial: "ok", Values: []string{"sad", "ok"}},
		{Name: "mail", Declared: "character varying(20)", Type: datamap.TypeText, Length: 20, Default: true, Domain: "mail"},
		{Name: "tags", Declared: "text[]", Type: datamap.TypeArray, Nullable: true},
		{Name: "note", Declared: "character varying(40)", Type: datamap.TypeText, Length: 40, Nullable: true},
		{Name: "doc", Declared: "jsonb", Type: datamap.TypeJSON, Nullable: true},
		{Name: "seen", Declared: "timestamp with time zone", Type: datamap.TypeTime, Nullable: true},
		{Name: "nickname", Declared: "text", Type: datamap.TypeText, Nullable: true},
		{
			Name: "twice", Declared: "text", Type: datamap.TypeText, Nullable: true, Generated: true,
		},
		{Name: "part", Declared: "int4range", Nullable: true},
	})
	isListed(t, "the primary key", visits.PrimaryKey, []string{"id"})
	isListed(t, "uniques", visits.Uniques, []datamap.CatalogUnique{
		{Name: "alone", Columns: []string{"part"}, Exclusion: true},
		{
			Name: "one_mail", Columns: []string{"person", "mail"}, Expressions: true, Partial: true,
			Where: "(nickname IS NOT NULL)",
		},
		{Name: "one_note", Columns: []string{"note"}},
	})
	isListed(t, "indexes", visits.Indexes, []datamap.CatalogIndex{
		{Name: "by_host", Columns: []string{"host"}},
		{Name: "one_mail", Columns: []string{"person"}, Partial: true, Present: []string{"nickname"}},
		{Name: "one_note", Columns: []string{"note"}},
		{Name: "visits_pkey", Columns: []string{"id"}},
	})
	isListed(t, "foreign keys", visits.ForeignKeys, []datamap.CatalogForeignKey{
		{
			Name: "host", Columns: []string{"host"}, References: "people", Referenced: []string{"id"},
			OnDelete: datamap.ActionSetNull, Deferrable: true,
		},
		{
			Name: "visits_person_fkey", Columns: []string{"person"}, References: "people", Referenced: []string{"id"},
			OnDelete: datamap.ActionNone, ClearsOnUpdate: true,
		},
	})
	isListed(t, "checks", visits.Checks, []datamap.CatalogCheck{
		{Name: "has_at", Columns: []string{"mail"}, Text: "CHECK (((VALUE)::text ~~ '%@%'::text))"},
		{Name: "polite", Columns: []string{"note", "nickname"}, Text: "CHECK (((note)::text <> nickname))"},
		{Name: "short_check", Columns: []string{"mail"}, Text: "CHECK (((VALUE)::text <> 'x'::text))"},
	})
	isListed(t, "foreign keys of a table outside the data map", tableOf(t, store, "archive.log").ForeignKeys,
		[]datamap.CatalogForeignKey{{
			Name: "log_person_fkey", Columns: []string{"person"}, References: "people", Referenced: []string{"id"},
			OnDelete: datamap.ActionCascade, Follows: true,
		}})
}

func TestTheCatalogOfPostgreSQLHasPartitionsAsTheirTable(t *testing.T) {
	t.Parallel()
	db, store := postgresWith(t, `CREATE TABLE people (id bigint PRIMARY KEY)`,
		`CREATE TABLE events (id bigint, at date, person bigint REFERENCES people, PRIMARY KEY (id, at))
			PARTITION BY RANGE (at)`,
		`CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM ('2024-01-01') TO ('2025-01-01') PARTITION BY LIST (id)`,
		`CREATE TABLE events_1_1 PARTITION OF events_1 FOR VALUES IN (1)`,
		`CREATE TABLE events_2 PARTITION OF events FOR VALUES FROM ('2025-01-01') TO ('2026-01-01')`,
		`ALTER TABLE events_2 ADD CONSTRAINT own FOREIGN KEY (id) REFERENCES people`,
		`CREATE TABLE notes (event bigint, at date, FOREIGN KEY (event, at) REFERENCES events ON DELETE CASCADE)`,
		`CREATE FUNCTION log() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO notes VALUES (1); RETURN NEW; END$$`,
		`CREATE TRIGGER of_all AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION log()`,
		`CREATE TRIGGER of_one AFTER UPDATE OR DELETE ON events_1_1 FOR EACH ROW EXECUTE FUNCTION log()`,
		`CREATE TABLE parent (id bigint PRIMARY KEY, name text)`, `CREATE TABLE child (email text) INHERITS (parent)`,
		`CREATE VIEW recent AS SELECT id FROM events_2`)
	isListed(t, "tables", namesOf(catalogOf(t, store)), []string{"child", "events", "notes", "parent", "people", "recent"})
	if rows := tableOf(t, store, "events").Rows; rows != -1 {
		t.Errorf("of a table without statistics there are %d rows, want -1", rows)
	}
	execute(t, db, `INSERT INTO people VALUES (1), (2)`,
		`INSERT INTO events VALUES (1, '2024-02-01', 1), (2, '2025-02-01', 2)`,
		`ANALYZE events_1_1`, `ANALYZE events_2`)
	events := tableOf(t, store, "events")
	if events.Kind != datamap.KindPartitioned || events.Rows != 2 {
		t.Errorf("it is a %s of %d rows, want a partitioned one of 2", events.Kind, events.Rows)
	}
	isListed(t, "foreign keys", events.ForeignKeys, []datamap.CatalogForeignKey{
		{
			Name: "events_person_fkey", Columns: []string{"person"}, References: "people", Referenced: []string{"id"},
			OnDelete: datamap.ActionNone,
		},
		{
			Name: "own", Columns: []string{"id"}, References: "people", Referenced: []string{"id"},
			OnDelete: datamap.ActionNone,
		},
	})
	isListed(t, "triggers", triggersOf(t, store, "events"), []datamap.CatalogTrigger{
		{Name: "of_all", Events: []string{"INSERT"}, Writes: []string{"notes"}},
		{Name: "of_one", Events: []string{"UPDATE", "DELETE"}, Writes: []string{"notes"}},
	})
	isListed(t, "foreign keys to it", tableOf(t, store, "notes").ForeignKeys, []datamap.CatalogForeignKey{{
		Name: "notes_event_at_fkey", Columns: []string{"event", "at"}, References: "events",
		Referenced: []string{"id", "at"}, OnDelete: datamap.ActionCascade,
	}})
	isListed(t, "parents", tableOf(t, store, "child").Inherits, []string{"parent"})
	isListed(t, "reads", tableOf(t, store, "recent").Reads, []string{"events"})
}

func TestTheCatalogOfPostgreSQLHasTriggersAndRules(t *testing.T) {
	t.Parallel()
	_, store := postgresWith(t, append(museumOfPostgres,
		`CREATE FUNCTION keep(bigint) RETURNS void LANGUAGE sql AS $$INSERT INTO archive.visits (id) VALUES ($1)$$`,
		`CREATE FUNCTION log() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN UPDATE people SET id = id; PERFORM keep(OLD.id); INSERT INTO elsewhere VALUES (1); RETURN NEW; END$$`,
		`CREATE FUNCTION clear() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF TG_OP = 'TRUNCATE' THEN RETURN OLD; END IF;
			DELETE FROM ONLY people WHERE id = OLD.id; TRUNCATE TABLE archive.log; TRUNCATE elsewhere; RETURN OLD; END$$`,
		`CREATE FUNCTION built() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN EXECUTE 'x'; RETURN NEW; END$$`,
		`CREATE TRIGGER a AFTER UPDATE OR INSERT OR DELETE ON visits FOR EACH ROW EXECUTE FUNCTION log()`,
		`CREATE TRIGGER b BEFORE DELETE ON visits EXECUTE FUNCTION built()`,
		`CREATE TRIGGER c BEFORE TRUNCATE ON visits EXECUTE FUNCTION built()`,
		`CREATE TRIGGER d BEFORE UPDATE ON visits EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
		`CREATE TRIGGER e AFTER DELETE ON visits FOR EACH ROW EXECUTE FUNCTION clear()`,
		`CREATE TRIGGER off BEFORE DELETE ON visits EXECUTE FUNCTION built()`, `ALTER TABLE visits DISABLE TRIGGER off`,
		`CREATE RULE r AS ON UPDATE TO archive.log DO ALSO INSERT INTO archive.visits VALUES (NEW.person)`,
		`CREATE RULE s AS ON DELETE TO archive.log DO INSTEAD NOTHING`,
		`CREATE VIEW known AS SELECT id FROM people`,
		`CREATE TRIGGER i INSTEAD OF INSERT ON known FOR EACH ROW EXECUTE FUNCTION log()`)...)
	isListed(t, "triggers", triggersOf(t, store, "visits"), []datamap.CatalogTrigger{
		{
			Name: "a", Events: []string{"INSERT", "UPDATE", "DELETE"},
			Writes: []string{"archive.visits", "elsewhere", "people"},
		},
		{Name: "b", Events: []string{"DELETE"}, Unread: true},
		{Name: "d", Events: []string{"UPDATE"}},
		{Name: "e", Events: []string{"DELETE"}, Deletes: []string{"archive.log", "elsewhere", "people"}},
	})
	isListed(t, "rules", triggersOf(t, store, "archive.log"), []datamap.CatalogTrigger{
		{Name: "r", Events: []string{"UPDATE"}, Writes: []string{"archive.visits"}},
		{Name: "s", Events: []string{"DELETE"}, Instead: true},
	})
	isListed(t, "triggers of the view", triggersOf(t, store, "known"), []datamap.CatalogTrigger{{
		Name: "i", Events: []string{"INSERT"}, Instead: true, Writes: []string{"archive.visits", "elsewhere", "people"},
	}})
}

func TestTheCatalogOfPostgreSQLHasViewsAndForeignTables(t *testing.T) {
	t.Parallel()
	_, store := postgresWith(t, append(museumOfPostgres,
		`CREATE VIEW plain AS SELECT id, note FROM visits`,
		`CREATE VIEW deep AS SELECT id FROM plain`,
		`CREATE VIEW few AS SELECT v.id FROM visits v JOIN archive.log l ON l.person = v.person`,
		`CREATE MATERIALIZED VIEW copied AS SELECT id FROM few`,
		`CREATE FOREIGN DATA WRAPPER wire`, `CREATE SERVER other FOREIGN DATA WRAPPER wire`,
		`CREATE FOREIGN TABLE far (id bigint, note text) SERVER other`)...)
	type view struct {
		Name     string
		Kind     datamap.TableKind
		Reads    []string
		Filtered bool
	}
	var views []view
	for _, table := range catalogOf(t, store).Tables {
		if table.Kind != datamap.KindTable {
			views = append(views, view{table.Name, table.Kind, table.Reads, table.Filtered})
		}
	}
	isListed(t, "views", views, []view{
		{"copied", datamap.KindMatView, []string{"archive.log", "few", "visits"}, true},
		{"deep", datamap.KindView, []string{"plain", "visits"}, false},
		{"far", datamap.KindForeign, nil, false},
		{"few", datamap.KindView, []string{"archive.log", "visits"}, true},
		{"plain", datamap.KindView, []string{"visits"}, false},
	})
	isListed(t, "columns of a view", tableOf(t, store, "plain").Columns, []datamap.CatalogColumn{
		{Name: "id", Declared: "bigint", Type: datamap.TypeBigInt, Nullable: true},
		{Name: "note", Declared: "character varying(40)", Type: datamap.TypeText, Length: 40, Nullable: true},
	})
}

func TestTheCatalogOfPostgreSQLHasMissingPrivileges(t *testing.T) {
	t.Parallel()
	db, admin, role := asRole(t)
	execute(t, admin, append(museumOfPostgres,
		`CREATE SCHEMA closed`, `CREATE TABLE closed.secrets (id bigint)`,
		`GRANT SELECT ON closed.secrets TO `+role, `GRANT USAGE ON SCHEMA archive TO `+role,
		`CREATE VIEW shown AS SELECT id FROM visits`,
		`ALTER TABLE visits ENABLE ROW LEVEL SECURITY`,
		`GRANT SELECT, INSERT, UPDATE, DELETE ON people, shown TO `+role,
		`GRANT SELECT, UPDATE (note, mail) ON visits TO `+role, `GRANT SELECT, INSERT ON archive.visits TO `+role)...)
	type rights struct {
		Name        string
		RowSecurity bool
		Missing     []string
	}
	var all []rights
	live := catalogOf(t, existingApplication(t, db, nil, (*person)(nil)).store)
	for _, table := range live.Tables {
		all = append(all, rights{table.Name, table.RowSecurity, table.Missing})
	}
	isListed(t, "rights", all, []rights{
		{"archive.log", false, []string{"SELECT", "INSERT", "UPDATE", "DELETE"}},
		{"archive.visits", false, []string{"UPDATE", "DELETE"}},
		{"closed.secrets", false, []string{"SELECT", "INSERT", "UPDATE", "DELETE"}},
		{"people", false, nil},
		{"shown", true, nil},
		{"visits", true, []string{"INSERT", "DELETE"}},
	})
	if seen := tableOf(t, existingApplication(t, admin, nil, (*person)(nil)).store, "visits"); seen.RowSecurity ||
		!seen.Secured {
		t.Error("a superuser is said to see some of the rows, or the row-level security is missing")
	}
	visits, _ := live.Table("visits")
	for _, column := range visits.Columns {
		want := []string{"INSERT", "UPDATE"}
		if column.Name == "note" || column.Name == "mail" {
			want = want[:1]
		}
		isListed(t, "privileges on "+column.Name, column.Missing, want)
	}
}

func TestTheCatalogOfPostgreSQLHasUniqueNullsNotDistinct(t *testing.T) {
	t.Parallel()
	db, store := postgresWith(t, `CREATE TABLE people (id bigint PRIMARY KEY, name text, CONSTRAINT one UNIQUE (name))`)
	want := datamap.CatalogUnique{Name: "one", Columns: []string{"name"}}
	var version int
	must(t, db.NewRaw("SELECT current_setting('server_version_num')::integer").Scan(t.Context(), &version))
	if version >= 150000 {
		execute(t, db, `ALTER TABLE people DROP CONSTRAINT one, ADD CONSTRAINT one UNIQUE NULLS NOT DISTINCT (name)`)
		want.NullsEqual = true
	}
	isListed(t, "uniques", tableOf(t, store, "people").Uniques, []datamap.CatalogUnique{want})
}
