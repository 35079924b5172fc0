// Package porttest has a conformance suite for each port, which is an interface of package ports. An adapter is correct
// if the suites of its ports pass. For example, this is the test of a store:
//
//	func TestConformance(t *testing.T) {
//		porttest.TestStore(t, porttest.StoreHarness{Open: func(t testing.TB) porttest.Store { ... }})
//	}
//
// A suite consists of cases. Each case opens its own store or system and checks one promise of the port. A suite skips
// a case only if the harness waives the case by name and with a reason, or if the harness lacks an optional field whose
// comment allows this. The suite prints the reason of a skip (go test -v). The suites import only the package testing
// of the standard library and the core of habeas.
//
// # Promises
//
// The file promises.md lists all cases with their promises. If a case fails, the suite logs its promise. These suites
// exist:
//
//	port                                                             suite
//	ports.Session, ports.SessionFactory                              TestSessions
//	ports.ConsentStore                                               TestConsentStore
//	ports.RestrictionStore                                           TestRestrictionStore
//	ports.SubjectStore, ErasedStore.LeftOver                         TestSubjectStore
//	domain.Life in ports.SubjectStore and the ledgers                TestLives
//	ports.Outbox                                                     TestOutbox
//	ports.AuditLog                                                   TestAuditLog
//	marks and positions in ports.ErasedStore                         TestErasureMarks
//	ports.DutyStore                                                  TestDutyStore
//	sweeps in ports.ErasedStore                                      TestRetentionSweeper
//	ports.RequestStore                                               TestRequestStore
//	ports.HoldStore                                                  TestHoldStore
//	all of these                                                     TestStore
//	ports.InstallationStore, several data maps in a database         TestMaps
//	ports.CatalogReader                                              TestCatalogReader
//	ports.Journal                                                    TestJournal
//	ports.Finder                                                     TestFinder
//	ports.IDSource                                                   TestIDSource
//	ports.Observer                                                   TestObserver
//	ports.Resolver, ports.KeyResolver                                TestResolver
//
// No case can check the following rules. The author of an adapter must ensure them:
//
//   - A commit is durable: it survives a crash of the machine.
//   - SessionFactory.Do retries a session a bounded number of times. It also retries after a serialization failure,
//     which a suite cannot provoke in every store.
//   - A call that waits for a connection returns when its context ends. A suite does not know how many connections a
//     store can open.
//   - The lines of a ports.Journal survive a crash of the machine.
//   - SubjectStore.Export passes each record to yield as soon as it has read the record, and keeps no records in
//     memory.
//   - A store treats rows that the application has marked as deleted (soft deletion) like all other rows. A data map
//     does not describe such a marker, so a suite cannot set it.
//   - A store may know more about a column than the data map does. It then refuses values that it could not read back.
//   - The methods of a ports.Observer return immediately.
//   - A ports.Resolver opens no session.
//   - If a response of the external system has a Retry-After header, the ports.Resolver returns its duration in
//     domain.RetryLaterError.After.
//   - A ports.Resolver does not follow redirects of an erasure or a rectification. An HTTP client may send a GET to the
//     new address, and the success of this GET does not prove an erasure.
//   - A ports.Resolver escapes refs and keys in the path of a URL. For example, the ref "../7" must not select the
//     person 7.
//   - A ports.KeyResolver exports the records of different keys with different values of domain.ExportRecord.Row.
//   - A ports.RectifyingResolver writes the corrections. Only its author knows which fields the system can correct and
//     show.
//   - A ports.Clock returns the current time.
//
// The following rules are duties of the callers, so no suite checks them:
//
//   - A function fn that is passed to SessionFactory.Do has no effects outside of the session, and returns the error of
//     a failed call.
//   - No session is used concurrently.
//   - The function yield that is passed to SubjectStore.Export does not use the session.
//   - Entries that are passed to Outbox.Enqueue are new.
//   - Values that are passed to SubjectStore.Rectify fit their columns.
//
// # Stores that differ
//
// The suites accept stores with these restrictions, and stores without them:
//
//   - The store runs only one writing session at a time.
//   - The store blocks readers during a writing session.
//   - The store buffers new records (consents, restrictions, outbox entries, audit events) and sends them later in one
//     batch.
//
// A store without a database has no connections and can always be reached. Its harness waives the cases about
// connections and about stores that cannot be reached.
package porttest
