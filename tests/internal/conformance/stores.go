// Package conformance runs the conformance suites of the storage ports on every store of the module. A harness opens
// stores with the tables of the shop in package porttest. Package story and the module tests/pgdriver use these
// harnesses, too.
package conformance

import (
	"testing"

	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports/porttest"
)

// Kind is a kind of store.
type Kind struct {
	Name string
	// Harness returns a harness that opens stores of this kind. The stores exist until t ends.
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

// Bunstore returns the kind of a bunstore.Store on a database with the driver.
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
// place returns creates an empty schema and returns a URL that selects it. The schema exists until t ends.
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
