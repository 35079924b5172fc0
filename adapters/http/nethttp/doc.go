// Package nethttp serves the HTTP API of package httpapi as an http.Handler, with the standard library alone. It goes
// on an http.ServeMux, and on every router that takes handlers:
//
//	rights := nethttp.Handler("/me", api, currentSubject)
//	mux.Handle("/me", rights)  // the erasure, DELETE /me
//	mux.Handle("/me/", rights) // everything else
//
// Mount both. Of a pattern that ends in a slash alone, http.ServeMux makes a redirect from "/me" to "/me/": the
// erasure would not be carried out, and many clients would follow with a GET.
//
// A prefix may have parameters: Handler("/{tenant}/me", ...) goes with the patterns "/{tenant}/me" and
// "/{tenant}/me/", and the subject provider reads them with http.Request.PathValue. Routers that leave the path of a
// request as it is, as chi's Mount does, need the whole prefix, too; behind http.StripPrefix it is "".
//
// Paths match as they are written: upper and lower case differ, and a slash at the end makes another path, but that
// "/me/" is "/me". A purpose is the last segment as the client escaped it, so "/me/consent/a%2Fb" asks for "a/b", and
// a plus is a plus. (http.ServeMux redirects a path with an empty segment, "." or "..", to one without, before the
// handler sees it; their escaped forms it leaves alone.)
//
// The headers of a response replace those that a middleware has set. The handler reads no more of a body that is too
// large than it must, and the server of net/http closes the connection, so that the rest is not taken for the next
// request.
//
// A large export is streamed where a failure can break the connection off, also behind middlewares that recover
// panics. Over HTTP/1.0, and behind a middleware whose http.ResponseWriter has no method Unwrap, it is held in memory
// as a whole. Such a middleware also keeps the handler from bounding a body that never arrives: set
// http.Server.ReadTimeout there.
package nethttp
