// Package httpapi is the framework-free half of the HTTP API: which endpoints there are, what a request must look
// like, what is answered and how failures look. An adapter such as fiberhttp gathers a Request from its framework,
// calls API.Route or API.Handle and writes the Response; all behaviour is here, so that every adapter behaves alike.
//
// The API authenticates nobody. Whose data a request is about is decided by the application's SubjectProvider alone;
// no identifier is ever read from the path, the query, a header or the body.
//
// Successes are the result models of package domain as JSON, failures problem documents (RFC 9457). None of them is to
// be cached, and no answer and no log line holds an identifier, SQL or the text of a foreign error.
package httpapi
