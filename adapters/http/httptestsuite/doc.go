// Package httptestsuite is a black-box suite for adapters that serve the API of package httpapi with another framework.
// An adapter is correct if the suite passes:
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
// The suite creates the API with a store in memory, and with its own clock and ids. So it knows each response byte by
// byte and can read the store afterwards. It accesses the server only over TCP. Every case has its own server and its
// own store, and checks one promise. A case is skipped only if the harness waives it by name and with a reason. The
// suite prints the reason (go test -v).
//
// The suite accepts every choice of a framework in these points:
//
//   - whether upper and lower case differ in a path
//   - whether a slash at the end of a path matters, except for the erasure
//   - which requests its server refuses before routing, such as an invalid request line
//
// The server must accept bodies that are larger than httpapi.MaxBodySize, and lines and headers of 4 KiB.
//
// The file promises.md lists the promises of the cases. A case that fails logs its promise.
package httptestsuite
