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
// The suite sends requests to a server over TCP and checks the responses byte by byte. The server uses an API that the
// suite has created, with a store in memory, a deterministic clock and deterministic ids. The suite reads the
// store after the requests.
//
// The suite consists of test cases. Every case starts its own server and checks one promise. The file promises.md lists
// the promises. A case that fails logs its promise. A case is skipped only if the harness names the case and gives a
// reason, see Harness.Waive. The suite prints the reason (go test -v).
//
// The suite does not test these points, in which frameworks differ:
//
//   - whether upper and lower case differ in a path
//   - whether a slash at the end of a path matters, except for the erasure
//   - which requests the server refuses before routing, such as an invalid request line
//
// The server must accept bodies that are larger than httpapi.MaxBodySize. It must also accept request lines and headers
// of 4 KiB.
package httptestsuite
