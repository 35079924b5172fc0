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
// Each suite has a table of the promises that its port makes, and of the case that holds each of them:
//
//	port                                                             suite
//	ports.Session, ports.SessionFactory                              TestSessions
//	ports.ConsentStore                                               TestConsentStore
//	ports.RestrictionStore                                           TestRestrictionStore
//	ports.SubjectStore                                               TestSubjectStore
//	ports.Outbox                                                     TestOutbox
//	ports.AuditLog                                                   TestAuditLog
//	all of these                                                     TestStore
//	ports.IDSource                                                   TestIDSource
//	ports.Resolver                                                   TestResolver
//
// What no case can hold through the ports: that the number of retries after a lost race is bounded, that a commit
// survives the machine, and that fn has no effect outside its session, which is the caller's to see to.
//
// # Stores that differ
//
// A store may let sessions write one at a time, keep readers waiting meanwhile, hold appends back or send them at once:
// all of that passes. A store without a database has no connections to count and cannot be out of reach; its harness
// waives the cases that look at them.
package porttest
