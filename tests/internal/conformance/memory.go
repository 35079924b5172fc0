package conformance

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
)

func inMemory() porttest.StoreHarness {
	const (
		noConnections = "there are no connections"
		noStatements  = "there are no statements"
	)
	return porttest.StoreHarness{
		Open: openMemory,
		Waive: map[string]string{
			"session opens no connection before its first statement": noConnections,
			"session leaves no connection behind":                    noConnections,
			"session reports a store that cannot be reached":         "there is nothing to be reached",
			"subject ids are checked before any statement":           noStatements,
			"subject statements do not depend on rows":               noStatements,
			"outbox claims do not wait for each other":               "one session writes at a time",
			"audit events cannot be tampered with":                   "there is no way to them but the port",
		},
	}
}

// openMemory opens an empty store in memory. Like an application, the functions of the returned porttest.Store read and
// write the tables directly.
func openMemory(t testing.TB) porttest.Store {
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
		Insert: func(t testing.TB, table string, row porttest.Row) {
			t.Helper()
			must(t, store.Insert(table, memory.Row(row)))
		},
		Rows: func(t testing.TB, table string) []porttest.Row {
			t.Helper()
			found, err := store.Rows(table)
			must(t, err)
			rows := make([]porttest.Row, len(found))
			for i, row := range found {
				rows[i] = porttest.Row(row)
			}
			return rows
		},
		Erased: func(_ testing.TB, id domain.SubjectID) (last time.Time, marked bool) {
			last, times := store.Erased(id)
			return last, times > 0
		},
		Entries: func(testing.TB) []domain.OutboxEntry { return store.Entries() },
	}
}
