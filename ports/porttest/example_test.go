package porttest_test

import (
	"crypto/rand"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
)

// The example is the complete test of the store in memory. The test of a store with a database must first create the
// tables of porttest.DataMap, and must also set the optional fields of porttest.Store.
func ExampleTestStore() {
	testConformance := func(t *testing.T) { porttest.TestStore(t, inMemory) }
	_ = testConformance // func TestConformance(t *testing.T)
}

var inMemory = porttest.StoreHarness{
	Open: func(t testing.TB) porttest.Store {
		store, err := memory.New(porttest.DataMap(), memory.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return porttest.Store{
			Sessions: store,
			Catalog:  store, // for porttest.TestCatalogReader
			Finder:   store, // for porttest.TestFinder
			Insert: func(t testing.TB, table string, row porttest.Row) {
				if err := store.Insert(table, memory.Row(row)); err != nil {
					t.Fatal(err)
				}
			},
			Rows: func(t testing.TB, table string) (found []porttest.Row) {
				rows, err := store.Rows(table)
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range rows {
					found = append(found, porttest.Row(row))
				}
				return found
			},
			Erased: func(_ testing.TB, id domain.SubjectID) (last time.Time, marked bool) {
				last, times := store.Erased(id)
				return last, times > 0
			},
			Entries: func(testing.TB) []domain.OutboxEntry { return store.Entries() },
			Observed: func(t testing.TB, observer ports.Observer) ports.SessionFactory {
				observed, err := memory.New(porttest.DataMap(), memory.Options{Observer: observer})
				if err != nil {
					t.Fatal(err)
				}
				return observed
			},
		}
	},
	Waive: map[string]string{
		"session opens no connection before its first statement": "there are no connections",
		"session leaves no connection behind":                    "there are no connections",
		"session reports a store that cannot be reached":         "memory can always be reached",
		"subject ids are checked before any statement":           "there are no statements",
		"subject statements do not depend on rows":               "there are no statements",
		"request is found with the same statements":              "there are no statements",
		"outbox claims do not wait for each other":               "sessions that write come one after the other",
		"audit events cannot be tampered with":                   "nothing but the ports leads to an event",
	},
}

// The example is the complete test of a resolver for support desks. The test uses a fake desk that fails on demand. A
// more thorough harness has one fault for each error response of the external system.
func ExampleTestResolver() {
	testConformance := func(t *testing.T) { porttest.TestResolver(t, atDesk) }
	_ = testConformance // func TestConformance(t *testing.T)
}

var atDesk = porttest.ResolverHarness{
	Open: func(t testing.TB) porttest.ResolverSystem {
		desk, since := desktest.New("a-secret-token"), time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
		for _, id := range []string{"contact-zoe", "contact-bob"} {
			talk := desktest.Conversation{CreatedAt: since, UpdatedAt: since, State: "open", Body: "a confidential message"}
			first, second := talk, talk
			first.ID, second.ID = id+"-1", id+"-2"
			desk.Add(desktest.Contact{ID: id, Email: id + "@example.org", Name: "name of " + id, Phone: "phone of " + id}, first,
				second)
		}
		server := httptest.NewServer(desk)
		t.Cleanup(server.Close)
		resolver, err := supportdesk.New("a-secret-token", supportdesk.Options{BaseURL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		return porttest.ResolverSystem{
			Resolver:  resolver,
			Populated: domain.SubjectRef{Kind: supportdesk.Name, Value: "contact-zoe"},
			Bystander: domain.SubjectRef{Kind: supportdesk.Name, Value: "contact-bob"},
			Absent:    domain.SubjectRef{Kind: supportdesk.Name, Value: "contact-nobody"},
			Excluded:  []string{"a confidential message"},
			Secrets:   []string{"a-secret-token", desktest.VendorText, server.URL},
			Transient: []porttest.ResolverFault{{Name: "503", Inject: func() { desk.Always(desktest.Status(503)) }}},
			Permanent: []porttest.ResolverFault{{Name: "403", Inject: func() { desk.Always(desktest.Status(403)) }}},
			Heal:      func() { desk.Always(desktest.OK) },
			Hang:      func() { desk.Always(desktest.NewLatch().Hold) },
		}
	},
}

// The example tests an application's own implementation of ports.IDSource.
func ExampleTestIDSource() {
	testIDs := func(t *testing.T) {
		porttest.TestIDSource(t, func() ports.IDSource { return random{} })
	}
	_ = testIDs // func TestIDs(t *testing.T)
}

// random generates ids of 26 random characters.
type random struct{}

func (random) NewID() string { return rand.Text() }

func TestTheHarnessesOfTheExamplesPass(t *testing.T) {
	t.Run("store", func(t *testing.T) { porttest.TestStore(t, inMemory) })
	t.Run("resolver", func(t *testing.T) { porttest.TestResolver(t, atDesk) })
}
