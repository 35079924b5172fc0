// Package httptestsuite is a black-box suite for adapters that serve the API of package httpapi with a framework of
// their own. An adapter is right when the suite passes:
//
//	func TestConformance(t *testing.T) {
//		httptestsuite.Test(t, httptestsuite.Harness{
//			Serve: func(t testing.TB, api *httpapi.API, prefix string) string {
//				router := chi.NewRouter()
//				mount(router, prefix, api, func(r *http.Request) (domain.Subject, error) {
//					return httptestsuite.Subject(r.Header.Get)
//				})
//				server := httptest.NewServer(router)
//				t.Cleanup(server.Close)
//				return server.URL
//			},
//		})
//	}
//
// The suite makes the API itself, over a store in memory, a clock and ids of its own, so that each answer is known
// byte by byte and the store can be looked into afterwards. It talks to the server over TCP alone. Every case has a
// server and a store of its own and holds one promise. Nothing is skipped unless the harness waives it, by the name of
// the case and with a reason, which is printed (go test -v).
//
// What a framework decides on its own is left to it: whether upper and lower case differ in a path, whether a slash at
// the end of one matters (but for the erasure), and what its server refuses before any route is looked at, such as a
// request line that is not well formed. The server must take bodies of more than httpapi.MaxBodySize, and lines and
// headers of 4 KiB.
//
// The file promises.md lists what the cases hold, and a case that fails logs its promise.
package httptestsuite
