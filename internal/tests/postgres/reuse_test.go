//go:build unix

package postgres

import (
	"database/sql"
	"net/url"
	"strings"
	"testing"
)

// useDatabase runs the statements in a database of a test that ends, and returns the URL of the database. One
// connection stays open on purpose.
func useDatabase(t *testing.T, statements ...string) (databaseURL string) {
	t.Helper()
	t.Run("uses a database", func(t *testing.T) {
		databaseURL = NewDatabase(t)
		db, err := sql.Open("pgx", databaseURL)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range append(statements, "SELECT 1") {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	})
	return databaseURL
}

// noFreeDatabase drops the databases that other tests have used.
func noFreeDatabase(t *testing.T) {
	t.Helper()
	unmarked(t)
	if err := dropFree(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// wantDropped checks that the server no longer has the database.
func wantDropped(t *testing.T, databaseURL string) {
	t.Helper()
	admin, err := serverURL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(parsed.Path, "/")
	if n := query(t, admin, "SELECT count(*) FROM pg_database WHERE datname = '"+name+"'"); n != "0" {
		t.Error("the database still exists")
	}
}

// contents are the objects of a database and the rights on its schemas.
const contents = "SELECT (SELECT string_agg(nspname || nspacl::text || nspowner::regrole, ',' ORDER BY nspname)" +
	" FROM pg_namespace) || (SELECT count(*) FROM pg_class) || ' ' || (SELECT count(*) FROM pg_proc) || ' ' ||" +
	" (SELECT count(*) FROM pg_extension) || ' ' || (SELECT count(*) FROM pg_depend) || ' ' ||" +
	" (SELECT count(*) FROM pg_description) || ' ' || current_setting('TimeZone')"

func TestADatabaseIsUsedAgainOnceItIsEmpty(t *testing.T) {
	noFreeDatabase(t)
	empty := query(t, NewDatabase(t), contents)
	for name, statements := range map[string][]string{
		"nothing":       nil,
		"tables":        {"CREATE TABLE a (id bigserial PRIMARY KEY, b text)", "CREATE VIEW c AS SELECT id FROM a"},
		"a schema":      {`CREATE SCHEMA "My ""s"`, `CREATE TABLE "My ""s".a (id int)`},
		"no schema":     {"DROP SCHEMA public"},
		"rights":        {"REVOKE ALL ON SCHEMA public FROM PUBLIC"},
		"an extension":  {"CREATE EXTENSION citext"},
		"an open query": {"BEGIN", "CREATE TABLE a (id int)"},
		"a trigger on events": {
			"CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN END $$",
			"CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f()",
		},
	} {
		t.Run(name, func(t *testing.T) {
			used := useDatabase(t, statements...)
			again := NewDatabase(t)
			if again != used {
				t.Error("it is another database")
			}
			if got := query(t, again, contents); got != empty {
				t.Errorf("it has %s, want %s", got, empty)
			}
		})
	}
}

func TestADatabaseThatCannotBeEmptiedIsDropped(t *testing.T) {
	noFreeDatabase(t)
	const alter = "DO $$ BEGIN EXECUTE format('%s', current_database()); END $$"
	for name, statement := range map[string]string{
		"a setting":          strings.Replace(alter, "%s", "ALTER DATABASE %I SET work_mem = 1024", 1),
		"a right":            strings.Replace(alter, "%s", "REVOKE ALL ON DATABASE %I FROM PUBLIC", 1),
		"a large object":     "SELECT lo_create(0)",
		"a publication":      "CREATE PUBLICATION p FOR ALL TABLES",
		"a temporary schema": "CREATE TEMPORARY TABLE t ()",
		"many tables":        "DO $$ BEGIN FOR n IN 1..1001 LOOP EXECUTE 'CREATE TABLE t' || n || ' ()'; END LOOP; END $$",
	} {
		t.Run(name, func(t *testing.T) { wantDropped(t, useDatabase(t, statement)) })
	}
}

func TestADatabaseIsDroppedAfterManyUses(t *testing.T) {
	noFreeDatabase(t)
	first := useDatabase(t)
	for range maxUses - 1 {
		if useDatabase(t) != first {
			t.Error("it is another database")
		}
	}
	wantDropped(t, first)
}

func TestADatabaseOfAFailedTestIsDropped(t *testing.T) {
	admin, err := serverURL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d, err := take(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.giveBack(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	wantDropped(t, d.url)
}

func TestNoDatabaseIsLeftAfterTheTests(t *testing.T) {
	noFreeDatabase(t)
	used := useDatabase(t)
	if err := dropFree(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantDropped(t, used)
}
