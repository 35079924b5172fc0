// Package porttest has a conformance suite for each port that other people implement. An adapter is right when its
// suite passes:
//
//	func TestConformance(t *testing.T) {
//		porttest.TestStore(t, porttest.StoreHarness{Open: func(t testing.TB) porttest.Store { ... }})
//	}
//
// A suite needs the standard library's testing and the core, nothing else. Every case opens a system of its own and
// holds one promise. Nothing is skipped unless the harness waives it, by the name of the case and with a reason, which
// is printed (go test -v).
//
// # Promises
//
// Each promise of a port has one case. The file promises.md lists the cases of each suite, and a case that fails logs
// its promise:
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
// What no case can hold, and is the author's to see to:
//
//   - a commit survives the machine;
//   - Do is tried again a bounded number of times, and after a serialization failure as after a deadlock: that a store
//     can be brought to fail in this way is not said;
//   - a wait for a connection ends with its context, as one for a lock does: how many there are is the store's own;
//   - a journal survives a crash of the machine;
//   - Export hands records on as it reads them, and keeps none in memory;
//   - rows that are marked as deleted are rows like any other: a data map does not know the mark;
//   - a store that knows more of a column than the data map refuses what it could not read back;
//   - an observer returns at once;
//   - a resolver opens no session, and ports.RectifyingResolver writes the corrections: only its author knows what its
//     system can be asked to correct, and shows of it;
//   - ports.Clock tells the time.
//
// The caller must ensure that fn has no effect outside its session and continues with the error of a step, that a
// session is not used concurrently, that yield does not use it, that entries are new, and that values fit their
// columns.
//
// # Stores that differ
//
// A store may let sessions write one at a time, keep readers waiting meanwhile, hold appends back or send them at once:
// all of that passes. A store without a database has no connections to count and cannot be out of reach; its harness
// waives the cases that look at them.
package porttest
