package conformance

import (
	"strconv"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/databases"
)

// shadows creates a function in the schema shadows for each function and aggregate of PostgreSQL, with the same
// parameters. Each of them raises an error.
const shadows = `
	CREATE SCHEMA shadows;
	DO $$ DECLARE f record; BEGIN
		FOR f IN SELECT proname, pg_get_function_identity_arguments(oid) AS parameters,
				CASE WHEN proretset THEN 'SETOF ' ELSE '' END || format_type(prorettype, NULL) AS returned
			FROM pg_proc WHERE pronamespace = CAST('pg_catalog' AS regnamespace)
		LOOP BEGIN
			EXECUTE format('CREATE FUNCTION shadows.%I(%s) RETURNS %s LANGUAGE internal AS ''trigger_in''',
				f.proname, f.parameters, f.returned);
		EXCEPTION WHEN OTHERS THEN NULL; -- such as a pseudo-type
		END; END LOOP;
	END $$;`

// schemasOf returns a function that creates an empty schema in a new database, and returns a URL that selects this
// schema.
//
// Other roles may create functions in a schema of the search path, such as public before PostgreSQL 15. Here, such a
// schema even precedes pg_catalog. A statement that does not name the schema of a function fails. Only pgx takes a list
// of schemas from the URL.
func schemasOf(t testing.TB, driver databases.Driver) func(c testing.TB) string {
	t.Helper()
	database := driver.NewDatabase(t)
	admin := driver.Open(t, database)
	path := ""
	if driver.SQL == "pgx" {
		path = ", shadows, pg_catalog"
		databases.Execute(t, admin, shadows)
		if _, err := admin.ExecContext(t.Context(), "SET search_path = shadows, pg_catalog; SELECT max(1)"); err == nil {
			t.Fatal("the functions do not precede those of PostgreSQL")
		}
		databases.Reconnect(admin)
	}
	made := 0
	return func(c testing.TB) string {
		c.Helper()
		made++
		schema := "shop_" + strconv.Itoa(made)
		_, err := admin.ExecContext(c.Context(), "CREATE SCHEMA "+schema)
		must(c, err)
		return databases.WithSchema(c, database, schema+path)
	}
}
