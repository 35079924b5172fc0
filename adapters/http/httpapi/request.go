package httpapi

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Request is the input of Handle and Route. An adapter fills it from the request of its framework. The strings and the
// body may use memory that is reused after Handle has returned, because the API copies all data that it keeps longer.
type Request struct {
	// Subject returns the subject of the request. It calls the application's SubjectProvider with the given context.
	// Required.
	//
	// The response to a *Refusal has the status of the Refusal. The response to any other error has the status 500. The
	// status is also 500 if the subject is not valid or its id does not fit the data map.
	Subject func(context.Context) (domain.Subject, error)

	Purpose         string    // the last segment of the path, still percent-encoded, if the endpoint has {purpose}
	Query           string    // the part of the URL after the "?", still percent-encoded
	ContentType     string    // the header Content-Type
	ContentEncoding string    // the values of the header Content-Encoding, joined by commas
	Body            io.Reader // as sent, not decompressed, or nil; the API reads at most MaxBodySize+1 bytes

	// SetReadDeadline sets the time at which reads of Body fail with an error whose method Timeout returns true. Handle
	// and Route call it before they call Subject, with the end of the request's time. It is nil if reads of Body never
	// block.
	SetReadDeadline func(time.Time)

	// NoStream requests a Response without Stream, even if the body is large. An adapter sets it if a client could not
	// detect that a stream was broken off. That is the case over HTTP/1.0, or if the adapter cannot close the connection.
	NoStream bool

	// ContextOutlivesHandle states that the context of the request is valid until the Stream of the response has ended. If
	// it is false, the work behind a Stream gets no values of the context.
	ContextOutlivesHandle bool
}

// Response is the response that an adapter sends.
type Response struct {
	Status int
	Header http.Header // read-only
	Body   []byte      // empty for 204; an adapter does not send it in response to HEAD

	// Stream replaces Body for an export that is too large for the buffer. It is nil otherwise, and if Request.NoStream is
	// set. An adapter reads Stream to its end, also in response to HEAD, and closes it. Close before the end cancels the
	// request. Close returns when the work on the stream has ended, at the latest at the end of the request's time. After
	// Handle has returned, the work does not use the Request. It uses the context only if Request.ContextOutlivesHandle is
	// set.
	//
	// An error of Read means that the response cannot be completed. The adapter must then break off the connection, so
	// that no client takes the response for complete.
	Stream io.ReadCloser

	outcome domain.Outcome // of a failure, for the observer
}

// Refusal is the error by which a SubjectProvider sets the status of the response: 401, 403 or any other status from
// 400 to 599. The text of Err reaches neither the client nor the log.
type Refusal struct {
	Status int
	// Header is sent with the response, for example WWW-Authenticate. It cannot replace the headers of the API. An adapter
	// may join several values of one name with commas.
	Header http.Header
	Err    error // the cause, or nil
}

// Error implements error.
func (r *Refusal) Error() string { return "habeas: refused: " + http.StatusText(r.Status) }

// Unwrap gives the cause to errors.Is and errors.As.
func (r *Refusal) Unwrap() error { return r.Err }
