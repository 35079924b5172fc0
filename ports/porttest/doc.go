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
// TODO: the table, by suite.
package porttest
