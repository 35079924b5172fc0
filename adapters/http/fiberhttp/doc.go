// Package fiberhttp mounts the HTTP API of package httpapi on a Fiber v2 application:
//
//	server := fiber.New()
//	server.Route("/me", fiberhttp.Router(api, currentSubject))
//	// or, behind a middleware:
//	fiberhttp.Router(api, currentSubject)(server.Group("/me", authenticate))
//
// The configuration of the host application is not touched and its ErrorHandler never sees a request to the API. What
// the host alone decides is how paths are matched (StrictRouting, CaseSensitive, UnescapePath) and what its server
// refuses before any route is looked at (BodyLimit, which must not be below httpapi.MaxBodySize).
//
// A prefix may have parameters, with Route and Group. Fiber's Mount does not support them.
//
// A large export is streamed over TCP and Unix sockets, with TLS or without. A failure breaks the connection off. Over
// HTTP/1.0 and over connections of other types it is held in memory as a whole. A middleware that gathers a stream by
// Response.Body, as etag and cache do, gets status 500 and no document if the stream fails. A middleware that
// compresses leaves a stream as it is, because the handler removes Accept-Encoding from the request. A middleware that
// reads the stream by itself, ignores its errors and stores the bytes, stores a document that is cut. Do not cache the
// routes, see Router.
//
// The time of a request includes its body only with StreamRequestBody; otherwise Fiber reads the body before it calls a
// handler, and its ReadTimeout counts.
package fiberhttp
