// Package httpapi implements the HTTP API independently of web frameworks: the endpoints, the checks of requests, the
// responses and the problem documents. An adapter such as package fiberhttp or nethttp fills a Request from its
// framework, calls API.Route or API.Handle, and sends the Response. All behavior is in this package, so that every
// adapter behaves alike.
//
//	api, err := httpapi.New(config) // stack.Stack.API fills in the Config
//	response := api.Route(ctx, "GET", "/consent/newsletter", httpapi.Request{Subject: currentSubject})
//
// The API does not authenticate requests. Only the function Request.Subject, which the application provides, determines
// the subject of a request. The API reads no identifier of a person from the path, the query, a header or the body.
//
// The body of a success is a result model of package domain as JSON. The body of a failure is a Problem, a problem
// document by RFC 9457. No response may be cached. Problem documents and log records hold no identifier, no SQL and no
// text of an error from outside this module.
package httpapi
