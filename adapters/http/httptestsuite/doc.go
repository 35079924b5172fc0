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
// # Promises
//
//	promise                                                    case
//	each success has its status and, byte by byte, its body    consent is answered exactly
//	                                                           restriction is answered exactly
//	                                                           export is answered exactly
//	                                                           erasure is answered exactly
//	each problem has its status and, byte by byte, its body    problems are answered exactly
//	successes are application/json, no-store and nosniff       results are JSON that is not stored
//	so are problems, as application/problem+json               problems are problem JSON that is not stored
//	HEAD has the status and the headers of GET and no body     head is get without the body
//	OPTIONS is 204, with Allow, for whoever asks               options names the methods
//	another method is 405, with Allow                          other methods are refused
//	another path is 404, however it is escaped                 other paths are not found
//	the erasure is at the prefix, with and without a slash     erasure is at the prefix itself
//	a prefix may be empty or have several segments             every prefix will do
//	restriction has no routes without WithRestriction          restriction is there when asked for
//	a body is application/json, with parameters or without     only application/json is read
//	a content coding but identity is 415; nothing is unpacked  no content coding is undone
//	65,536 bytes are read, one more is 413, chunked or not     64 KiB are read and no more
//	what is left of a body is never taken for a request        what is left of a body is no request
//	a body that is not JSON, whole and in UTF-8, is 400        what is no JSON is refused
//	a field is given once, by its exact name, and is known     fields are taken once and by exact name
//	a path's last segment is unescaped once; a plus is a plus  purpose in a path is unescaped once
//	a purpose that cannot be is 422                            purpose in a path is checked
//	a query's purpose is unescaped; a plus is a space          purpose in a query selects
//	declared purposes are listed, and any other one is 422     purposes that are declared are listed
//	a Refusal is its status; other errors and panics are 500   provider decides on the status
//	the provider is asked before the input is looked at        provider comes first
//	no header, query, path or body names the subject           provider alone names the subject
//	a Refusal's header is sent along                           header of a refusal is sent along
//	an export may be larger than what is held in memory        large export is streamed
//	an answer that cannot be completed does not look whole     failure halfway breaks the answer off
//	a client that has gone ends what it asked for              answer that nobody reads is given up
//	a client of HTTP/1.0 takes no broken export for whole      export over HTTP/1.0 is whole or fails
//	an unreachable store is 503, with Retry-After              unreachable store is 503
//	a deadline that has passed is 504                          deadline is 504
//	a body is part of the request's time                       body that never arrives is 504
//	no answer shows the text of an error                       failures give nothing away
//	a panic ends its request and nothing else                  panic ends one request only
//	no string of a request ends up in another                  requests keep to themselves
package httptestsuite
