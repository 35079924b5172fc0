// Package fiberhttp mounts the HTTP API of package httpapi on a Fiber v2 application:
//
//	server := fiber.New()
//	server.Route("/me", fiberhttp.Router(api, currentSubject))
//	// or, behind a middleware:
//	fiberhttp.Router(api, currentSubject)(server.Group("/me", authenticate))
//
// The api is a *httpapi.API, for example from stack.Stack.API. The function currentSubject is a SubjectProvider, which
// authenticates requests. Health mounts the probes of an orchestrator, and Prefix returns the prefix of a group for
// API.OpenAPI.
//
// # Configuration of the Fiber application
//
// The package does not change the configuration of the application. The ErrorHandler of the application is never called
// for a request to the API. The options StrictRouting, CaseSensitive and UnescapePath determine how paths match. The
// option BodyLimit must be at least httpapi.MaxBodySize, because the server refuses larger bodies before routing.
//
// A prefix may have parameters if the API is mounted with Route or Group. Fiber's Mount does not support parameters.
//
// The timeout of a request includes reading its body only if StreamRequestBody is set. Otherwise Fiber reads the body
// before it calls a handler, and only Fiber's ReadTimeout bounds the reading.
//
// # Large exports
//
// A large export is streamed over TCP and Unix sockets, with or without TLS. If the export fails, the handler breaks
// the connection off, so that the client detects the failure. Over HTTP/1.0 and over other types of connections, the
// handler buffers the complete export in memory.
//
// Middlewares can see a stream that fails:
//
//   - A middleware that buffers the stream by Response.Body, such as etag and cache, gets the status 500 and no
//     document.
//   - A middleware that compresses does not compress a stream, because the handler removes Accept-Encoding from the
//     request.
//   - A middleware that reads the stream itself and ignores its errors gets an incomplete document. It must not store
//     the document.
//
// Do not cache the routes. See Router.
package fiberhttp
