// Package fiberhttp mounts the HTTP API of package httpapi on a Fiber v2 application:
//
//	server := fiber.New()
//	server.Route("/me", fiberhttp.Router(api, currentSubject))
//	// or, behind a middleware:
//	fiberhttp.Router(api, currentSubject)(server.Group("/me", authenticate))
//
// The api is a *httpapi.API, for example from stack.Stack.API. The function currentSubject is a SubjectProvider, which
// authenticates requests. Health mounts the probes of an orchestrator, such as Kubernetes. Prefix returns the prefix of
// a group for API.OpenAPI.
//
// # Configuration of the Fiber application
//
// The package does not change the configuration of the application. The ErrorHandler of the application is never called
// for a request to the API. The options StrictRouting, CaseSensitive and UnescapePath determine how paths match. The
// option BodyLimit must be at least httpapi.MaxBodySize, because the server refuses larger bodies before routing.
//
// A prefix may have parameters if the API is mounted with Route or Group. Fiber's Mount does not support parameters.
//
// The timeout of a request begins when Fiber calls the handler. By default, Fiber reads the complete body before. With
// StreamRequestBody, it reads only the first 8 KiB of a body with a Content-Length before, and nothing of a chunked
// body, and the timeout includes the arrival of the rest. Only Fiber's ReadTimeout limits the arrival of the part that
// Fiber reads before. Set ReadTimeout, also with StreamRequestBody: it is unlimited by default.
//
// # Large exports
//
// A large export is streamed over TCP and Unix sockets, with or without TLS. If a streamed export fails, the handler
// closes the connection before the end of the body, so that the client detects the failure. Over HTTP/1.0 and over
// other types of connections, the handler buffers the complete export in memory.
//
// A streamed export has these effects on middlewares:
//
//   - A middleware that reads the body with Response.Body, such as etag and cache, buffers the complete export. If the
//     export fails, this middleware gets the status 500 and no document.
//   - A middleware that compresses responses does not compress a streamed export, because the handler removes the
//     header Accept-Encoding of the request.
//   - A middleware that reads the stream itself and ignores read errors can get an incomplete document. It must not
//     store the document.
//
// Do not cache the responses of the API. See Router.
package fiberhttp
