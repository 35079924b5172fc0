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
package fiberhttp
