// Package conformance runs the conformance suites of the storage ports on every store of the module. Its harnesses open
// a store on the shop of package porttest. tests/story uses them too, and so does the module tests/pgdriver, which adds
// a driver.
package conformance

import (
	"testing"

	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports/porttest"
)

// Kind is a kind of store.
type Kind struct {
	Name string
	// Harness opens stores of the kind that exist until t ends.
	Harness func(t testing.TB) porttest.StoreHarness
}

// Kinds returns every kind of store of the module. A package that opens these stores needs a TestMain that calls
// postgres.Main.
func Kinds() []Kind {
	kinds := []Kind{{"memory", func(testing.TB) porttest.StoreHarness { return inMemory() }}}
	for _, driver := range databases.Drivers() {
		kinds = append(kinds, Bunstore(driver))
	}
	return kinds
}

// Bunstore returns package bunstore on a database with the driver.
func Bunstore(driver databases.Driver) Kind {
	return Kind{"bunstore on " + driver.Name, func(t testing.TB) porttest.StoreHarness {
		t.Helper()
		if driver.IsSQLite() {
			return onSQLite(t, driver)
		}
		return onPostgreSQL(t, driver, schemasOf(t, driver))
	}}
}

// BunstoreIn returns package bunstore on PostgreSQL in schemas of the caller. Each call of place returns the URL of an
// empty schema, which exists until t ends.
func BunstoreIn(name string, driver databases.Driver, place func(t testing.TB) func(testing.TB) string) Kind {
	return Kind{name, func(t testing.TB) porttest.StoreHarness {
		t.Helper()
		return onPostgreSQL(t, driver, place(t))
	}}
}

// Hold checks that a store keeps the promises of all storage ports, including the optional ports.
func Hold(t *testing.T, harness porttest.StoreHarness) {
	t.Helper()
	porttest.TestStore(t, harness)
	t.Run("CatalogReader", func(t *testing.T) { porttest.TestCatalogReader(t, harness) })
	t.Run("Finder", func(t *testing.T) { porttest.TestFinder(t, harness) })
}
