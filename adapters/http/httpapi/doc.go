// Package httpapi is the half of the HTTP API that is free of frameworks: the endpoints, the checks of requests, the
// responses and the problem documents. An adapter such as fiberhttp gathers a Request from its framework, calls
// API.Route or API.Handle and writes the Response. All behaviour is here, so that every adapter behaves alike.
//
// The API does not authenticate. The application's SubjectProvider alone decides whose data a request is about. The API
// reads no identifier from the path, the query, a header or the body.
//
// The body of a success is a result model of package domain as JSON. The body of a failure is a problem document
// (RFC 9457). No response may be cached. No problem document and no log line holds an identifier, SQL or the text of a
// foreign error.
package httpapi
