// Package inmemory has the harnesses of the store in memory for the conformance suites of package porttest.
package inmemory

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
)

var must = fixture.Must

// Stores returns a harness that opens empty stores with the tables of the shop in package porttest. It waives the cases
// that need a database.
func Stores() porttest.StoreHarness {
	const (
		noConnections = "there are no connections"
		noStatements  = "there are no statements"
	)
	return porttest.StoreHarness{
		Open: open,
		Waive: map[string]string{
			"session opens no connection before its first statement": noConnections,
			"session leaves no connection behind":                    noConnections,
			"session reports a store that cannot be reached":         "there is nothing to be reached",
			"subject ids are checked before any statement":           noStatements,
			"subject statements do not depend on rows":               noStatements,
			"request is found with the same statements":              noStatements,
			"outbox claims do not wait for each other":               "one session writes at a time",
			"audit events cannot be tampered with":                   "there is no way to them but the port",
		},
	}
}

// open opens an empty store. Like an application, the functions of the returned porttest.Store read and write the
// tables directly.
func open(t testing.TB) porttest.Store {
	t.Helper()
	store, err := memory.New(porttest.DataMap(), memory.Options{})
	must(t, err)
	return porttest.Store{
		Sessions: store, Catalog: store, Finder: store,
		Observed: func(t testing.TB, observer ports.Observer) ports.SessionFactory {
			t.Helper()
			watched, err := memory.New(porttest.DataMap(), memory.Options{Observer: observer})
			must(t, err)
			return watched
		},
		Insert: func(t testing.TB, table string, row porttest.Row) { t.Helper(); insert(t, store, table, row) },
		Rows:   func(t testing.TB, table string) []porttest.Row { t.Helper(); return rows(t, store, table) },
		Erased: func(_ testing.TB, id domain.SubjectID) (last time.Time, marked bool) {
			last, times := store.Erased(id)
			return last, times > 0
		},
		Entries: func(testing.TB) []domain.OutboxEntry { return store.Entries() },
	}
}

// OpenMaps opens an empty memory for several data maps.
func OpenMaps(t testing.TB) porttest.Maps {
	t.Helper()
	first, err := memory.New(porttest.CustomerMap(), memory.Options{})
	must(t, err)
	open := func(t testing.TB, of datamap.DataMap, name string) *memory.Store {
		t.Helper()
		store, err := memory.New(of, memory.Options{Name: name, Beside: first})
		must(t, err)
		return store
	}
	ofTable := func(t testing.TB, table string) *memory.Store {
		t.Helper()
		of := porttest.CustomerMap()
		if _, is := porttest.EmployeeMap().Table(table); is {
			of = porttest.EmployeeMap()
		}
		return open(t, of, "application") // Insert and Rows do not use the tables of habeas
	}
	return porttest.Maps{
		Open: func(t testing.TB, of datamap.DataMap, name string) porttest.Store {
			t.Helper()
			store := open(t, of, name)
			return porttest.Store{Sessions: store, Finder: store}
		},
		Insert: func(t testing.TB, table string, row porttest.Row) {
			t.Helper()
			insert(t, ofTable(t, table), table, row)
		},
		Rows: func(t testing.TB, table string) []porttest.Row {
			t.Helper()
			return rows(t, ofTable(t, table), table)
		},
	}
}

func insert(t testing.TB, store *memory.Store, table string, row porttest.Row) {
	t.Helper()
	must(t, store.Insert(table, memory.Row(row)))
}

func rows(t testing.TB, store *memory.Store, table string) (rows []porttest.Row) {
	t.Helper()
	found, err := store.Rows(table)
	must(t, err)
	for _, row := range found {
		rows = append(rows, porttest.Row(row))
	}
	return rows
}
