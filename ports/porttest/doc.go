// Package porttest has a conformance suite for each port. An adapter is correct if the suite of its port passes:
//
//	func TestConformance(t *testing.T) {
//		porttest.TestStore(t, porttest.StoreHarness{Open: func(t testing.TB) porttest.Store { ... }})
//	}
//
// A suite needs only the package testing of the standard library and the core of habeas. Every case opens a system of
// its own and checks one promise. A case is skipped only if the harness waives it by name and with a reason, or if the
// harness lacks a field whose comment allows this. The suite prints the reason (go test -v).
//
// # Promises
//
// Each promise of a port has one case. The file promises.md lists the cases of each suite. A case that fails logs its
// promise:
//
//	port                                                             suite
//	ports.Session, ports.SessionFactory, ports.Rehearser             TestSessions
//	ports.ConsentStore                                               TestConsentStore
//	ports.RestrictionStore                                           TestRestrictionStore
//	ports.SubjectStore, ports.ErasureVerifier                        TestSubjectStore
//	ports.Outbox                                                     TestOutbox
//	ports.AuditLog                                                   TestAuditLog
//	ports.ErasureMarks                                               TestErasureMarks
//	ports.RetentionSweeper                                           TestRetentionSweeper
//	all of these                                                     TestStore
//	ports.CatalogReader                                              TestCatalogReader
//	ports.Journal                                                    TestJournal
//	ports.Finder                                                     TestFinder
//	ports.IDSource                                                   TestIDSource
//	ports.Observer                                                   TestObserver
//	ports.Resolver                                                   TestResolver
//
// No case can check the following rules. The author of the adapter must ensure them:
//
//   - A commit survives a crash of the machine.
//   - Do retries a session a bounded number of times. Do also retries after a serialization failure, which a suite
//     cannot provoke in every store.
//   - A wait for a connection ends with its context. The suite does not know the number of connections of the store.
//   - A journal survives a crash of the machine.
//   - Export passes records on as it reads them, and keeps no records in memory.
//   - Rows that are marked as deleted are treated like all other rows, because a data map does not contain the mark.
//   - A store that knows more about a column than the data map refuses values that it could not read back.
//   - An observer returns immediately.
//   - A resolver opens no session.
//   - A ports.RectifyingResolver writes the corrections. Only its author knows which fields the system can correct and
//     show.
//   - A ports.Clock returns the current time.
//
// The caller must ensure the following rules. fn has no effect outside its session and returns the error of a failed
// step. A session is not used concurrently, and yield does not use it. Entries are new, and values fit their columns.
//
// # Stores that differ
//
// A store may let one session write at a time, may block readers meanwhile, and may hold appends back or send them
// immediately. The suites accept each of these choices. A store without a database has no connections to count and is
// always reachable. Its harness waives the cases about connections and unreachable stores.
package porttest
