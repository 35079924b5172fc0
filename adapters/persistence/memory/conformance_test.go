package memory_test

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
)

// The waived cases need a database.
func TestConformance(t *testing.T) {
	const (
		noConnections = "there are no connections to hold"
		noStatements  = "there are no statements to send"
	)
	harness := porttest.StoreHarness{
		Open: func(t testing.TB) porttest.Store {
			t.Helper()
			store := newStore(t, memory.Options{})
			return porttest.Store{
				Sessions: store, Catalog: store, Finder: store,
				Observed: func(t testing.TB, observer ports.Observer) ports.SessionFactory {
					t.Helper()
					return newStore(t, memory.Options{Observer: observer})
				},
				Insert: func(t testing.TB, table string, row porttest.Row) {
					t.Helper()
					insert(t, store, table, row)
				},
				Rows: func(t testing.TB, table string) (found []porttest.Row) {
					t.Helper()
					for _, row := range rows(t, store, table) {
						found = append(found, row)
					}
					return found
				},
				Erased: func(_ testing.TB, id domain.SubjectID) (last time.Time, marked bool) {
					last, times := store.Erased(id)
					return last, times > 0
				},
				Entries: func(testing.TB) []domain.OutboxEntry { return store.Entries() },
			}
		},
		Waive: map[string]string{
			"session opens no connection before its first statement": noConnections,
			"session leaves no connection behind":                    noConnections,
			"session reports a store that cannot be reached":         "memory is always reachable",
			"subject ids are checked before any statement":           noStatements,
			"subject statements do not depend on rows":               noStatements,
			"outbox claims do not wait for each other":               "sessions that write are serialized",
			"audit events cannot be tampered with":                   "events are only reachable through the ports",
		},
	}
	porttest.TestStore(t, harness)
	t.Run("CatalogReader", func(t *testing.T) { porttest.TestCatalogReader(t, harness) })
	t.Run("Finder", func(t *testing.T) { porttest.TestFinder(t, harness) })
}
