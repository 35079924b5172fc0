// Package conformance runs the conformance suites of the storage ports on every store of the module. For each store, it
// has a harness: functions that open the store with the tables of the shop in package porttest. Package story and the
// module tests/pgdriver use these harnesses, too.
package conformance

import (
	"testing"

	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/inmemory"
	"github.com/habeas-data/habeas/ports/porttest"
)

// Kind is a kind of store, such as a bunstore.Store on SQLite.
type Kind struct {
	Name string
	// Harness returns a harness that opens stores of this kind. The stores can be used until the test t ends.
	Harness func(t testing.TB) porttest.StoreHarness
}

// Kinds returns every kind of store of the module. A package that opens these stores needs a TestMain that calls
// postgres.Main.
func Kinds() []Kind {
	kinds := []Kind{{"memory", func(testing.TB) porttest.StoreHarness { return inmemory.Stores() }}}
	for _, driver := range databases.Drivers() {
		kinds = append(kinds, Bunstore(driver))
	}
	return kinds
}

// Bunstore returns a Kind that opens each bunstore.Store on a database with the driver.
func Bunstore(driver databases.Driver) Kind {
	return Kind{"bunstore on " + driver.Name, func(t testing.TB) porttest.StoreHarness {
		t.Helper()
		if driver.IsSQLite() {
			return onSQLite(t, driver)
		}
		return onPostgreSQL(t, driver, schemasOf(t, driver))
	}}
}

// BunstoreIn returns the kind of a bunstore.Store in PostgreSQL schemas that the caller creates. The function that
// newSchemas returns creates an empty schema, and returns a URL that selects the schema. The schema must exist until
// the test t ends.
func BunstoreIn(name string, driver databases.Driver, newSchemas func(t testing.TB) func(testing.TB) string) Kind {
	return Kind{name, func(t testing.TB) porttest.StoreHarness {
		t.Helper()
		return onPostgreSQL(t, driver, newSchemas(t))
	}}
}

// Hold runs the conformance suites of all storage ports, including the optional ports, on the stores of the harness.
func Hold(t *testing.T, harness porttest.StoreHarness) {
	t.Helper()
	porttest.TestStore(t, harness)
	t.Run("CatalogReader", func(t *testing.T) { porttest.TestCatalogReader(t, harness) })
	t.Run("Finder", func(t *testing.T) { porttest.TestFinder(t, harness) })
}
