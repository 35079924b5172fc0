// Package nethttp serves the HTTP API of package httpapi as an http.Handler, with the standard library only. The
// handler can be mounted on an http.ServeMux, and on every router that accepts an http.Handler:
//
//	rights := nethttp.Handler("/me", api, currentSubject)
//	mux.Handle("/me", rights)  // the erasure, DELETE /me
//	mux.Handle("/me/", rights) // all other endpoints
//
// The api is a *httpapi.API, for example from stack.Stack.API. The function currentSubject is a SubjectProvider, which
// authenticates requests. Health returns the handler for the probes of an orchestrator, such as Kubernetes.
//
// Mount both patterns. With "/me/" alone, http.ServeMux redirects "/me" to "/me/". DELETE /me would then erase nothing,
// and many clients would follow the redirect with a GET request.
//
// # Paths
//
// A prefix may have parameters. Mount Handler("/{tenant}/me", ...) on the patterns "/{tenant}/me" and "/{tenant}/me/".
// The SubjectProvider reads the parameters with http.Request.PathValue. Behind a router that does not change the path
// of a request, such as chi's Mount, pass the complete prefix to Handler. Behind http.StripPrefix, pass "".
//
// Paths match exactly, including upper and lower case and a final slash. The only exception: a request for "/me/" is
// handled like a request for "/me". A purpose is the last segment of a path, percent-encoded: "/me/consent/a%2Fb" has
// the purpose "a/b". In a path, "+" is not an encoded space. If a path has a segment that is empty, "." or "..",
// http.ServeMux redirects to the path without this segment and does not call the handler. http.ServeMux does not
// redirect if the dots are percent-encoded.
//
// Gin needs both patterns, too. Its function WrapH passes the request to the handler, but not the gin.Context. The
// SubjectProvider therefore cannot read the keys of the gin.Context. Let the authentication put the user into the
// context of the request:
//
//	c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), userKey{}, user))
//	...
//	rights := gin.WrapH(nethttp.Handler("/me", api, currentSubject))
//	engine.Any("/me", rights)
//	engine.Any("/me/*path", rights)
//
// Gin panics if "/me/*path" and another route with the same prefix, such as "/me/orders", are registered. Then use a
// prefix that no other route shares, such as "/me/privacy". Alternatively, register the routes one by one, with the
// methods and paths that API.Endpoints returns. For example, call engine.GET("/me/export", rights).
//
// # Bodies and large exports
//
// The headers of a response replace headers of the same name that a middleware has set. If a request body is too large,
// the handler does not read all of it. The server of net/http then closes the connection, so that the rest of the body
// is not parsed as the next request.
//
// A large export is streamed. If a streamed export fails, the handler ends the connection before the end of the body,
// so that the client detects the failure. This also works behind middlewares that recover panics.
//
// In two cases the handler cannot do this, and buffers the complete export in memory: over HTTP/1.0, and behind a
// middleware whose http.ResponseWriter has no method Unwrap. Behind such a middleware, the handler also cannot set a
// deadline for a request body that never arrives. In that case, set http.Server.ReadTimeout.
package nethttp
