package conformance_test

import (
	"strconv"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/tests/internal/conformance"
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

// Other roles may create functions in a schema of the search path, such as public before PostgreSQL 15. Here, such a
// schema even precedes pg_catalog. The store calls none of its functions.
func TestAStoreCallsNoFunctionOfAnotherRole(t *testing.T) {
	t.Parallel()
	for _, driver := range databases.Drivers() {
		if driver.IsSQLite() {
			continue
		}
		kind := conformance.BunstoreIn(driver.Name, driver, func(t testing.TB) func(testing.TB) string {
			t.Helper()
			database := driver.NewDatabase(t)
			admin, made := driver.Open(t, database), 0
			databases.Execute(t, admin, shadows)
			if _, err := admin.ExecContext(t.Context(), "SET search_path = shadows, pg_catalog; SELECT max(1)"); err == nil {
				t.Fatal("the functions do not precede those of PostgreSQL")
			}
			databases.Reconnect(admin)
			return func(c testing.TB) string {
				c.Helper()
				made++
				schema := "shop_" + strconv.Itoa(made)
				databases.Execute(c, admin, "CREATE SCHEMA "+schema)
				return databases.WithSchema(c, database, schema+", shadows, pg_catalog")
			}
		})
		conformance.Hold(t, kind.Harness(t))
	}
}
