package conformance

import (
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/inmemory"
	"github.com/habeas-data/habeas/ports/porttest"
)

// MapsKind is a kind of database that holds several data maps.
type MapsKind struct {
	Name    string
	Harness porttest.MapsHarness
}

// MapsKinds returns every kind of database of the module, see Kinds.
func MapsKinds() []MapsKind {
	kinds := []MapsKind{{"memory", porttest.MapsHarness{Open: inmemory.OpenMaps}}}
	for _, driver := range databases.Drivers() {
		kinds = append(kinds, MapsKind{"bunstore on " + driver.Name, porttest.MapsHarness{
			Open: func(t testing.TB) porttest.Maps { t.Helper(); return openMaps(t, driver) },
		}})
	}
	return kinds
}

// openMaps opens an empty database. Each store has connections of its own, as in another process.
func openMaps(t testing.TB, driver databases.Driver) porttest.Maps {
	t.Helper()
	url := driver.NewDatabase(t)
	past := driver.Open(t, url)
	types := postgresTypes()
	if driver.IsSQLite() {
		types = sqliteTypes()
	}
	for _, people := range []datamap.DataMap{porttest.CustomerMap(), porttest.EmployeeMap()} {
		for _, statement := range createTables(people, types) {
			_, err := past.ExecContext(t.Context(), statement)
			must(t, err)
		}
	}
	return porttest.Maps{
		Open: func(t testing.TB, of datamap.DataMap, name string) porttest.Store {
			t.Helper()
			db := driver.Open(t, url)
			must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{Name: name}))
			store, err := bunstore.New(db, of, bunstore.Options{Name: name})
			must(t, err)
			return porttest.Store{Sessions: store, Finder: store}
		},
		Insert: func(t testing.TB, table string, row porttest.Row) {
			t.Helper()
			shopOf(past, table).insert(t, table, row)
		},
		Rows: func(t testing.TB, table string) []porttest.Row {
			t.Helper()
			return shopOf(past, table).rows(t, table)
		},
	}
}

// mapOf returns the data map that has the table.
func mapOf(table string) datamap.DataMap {
	if _, is := porttest.EmployeeMap().Table(table); is {
		return porttest.EmployeeMap()
	}
	return porttest.CustomerMap()
}

func shopOf(db *bun.DB, table string) shop { return shop{db.DB, mapOf(table)} }
