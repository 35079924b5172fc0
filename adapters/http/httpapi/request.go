package httpapi

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Request is the input of Handle and Route. An adapter fills it from the request of its framework. After Handle has
// returned, the framework may reuse the memory of the strings and the body, because the API has copied all data that it
// uses later.
type Request struct {
	// Subject returns the subject of the request. It calls the application's SubjectProvider with the given context.
	// Required.
	//
	// The response to a *StatusError has the status of the StatusError. The response to any other error has the status
	// 500. The status is also 500 if the subject is not valid or its id does not fit the data map.
	Subject func(context.Context) (domain.Subject, error)

	Parameter       string    // the last segment of the path, still percent-encoded, if it is a parameter of the endpoint
	Query           string    // the part of the URL after the "?", still percent-encoded
	ContentType     string    // the header Content-Type, or "" if the request has more than one
	ContentEncoding string    // the values of the header Content-Encoding, joined by commas
	Body            io.Reader // as sent, not decompressed, or nil; the API reads at most MaxBodySize+1 bytes

	// SetReadDeadline sets the time after which a read of Body fails with an error whose method Timeout returns true.
	// Handle and Route call SetReadDeadline before they call Subject, so that the request ends within its timeout. Leave
	// SetReadDeadline nil if reads of Body never block.
	//
	// On net/http, set the function only if the request has a body, and remove the deadline (time.Time{}) when a read of
	// the body has returned io.EOF. From then on, net/http reads the connection in the background. A deadline that passes
	// during this read cancels the context of the request.
	SetReadDeadline func(time.Time)

	// NoStream requests a Response without a Stream, even if the export is large. The export is then held in memory.
	NoStream bool

	// NeedsLength requests that a Stream starts only when the export is complete, and that Response.Length is set. An
	// adapter must set NeedsLength or NoStream if a client could not detect that a stream ended early: over HTTP/1.0, or
	// if the adapter cannot close the connection.
	NeedsLength bool

	// Shutdown is closed when the server begins to shut down. A client that has not received its Stream a second later is
	// not waited for: the Stream is broken off. The default is nil: the deadline of the request breaks it off.
	Shutdown <-chan struct{}

	// SetWriteDeadline ends a write to a client that does not read, when its Stream is broken off. It is not called after
	// Stream.Close has returned. The default is nil: such a write may block until the client reads.
	SetWriteDeadline func(time.Time) error

	// ContextOutlivesHandle states that the context of the request stays valid until the Stream of the response has ended.
	// If it is false, the work on a Stream cannot read values of the context after Handle has returned.
	ContextOutlivesHandle bool
}

// Response is the response that an adapter sends.
type Response struct {
	Status int
	Header http.Header // read-only
	Body   []byte      // empty for 204; an adapter does not send it in response to HEAD

	// Stream is the body of an export that is too large for the buffer. For every other response it is nil, and it is
	// always nil if Request.NoStream is set. An adapter must read Stream to its end, also in response to HEAD, and then
	// close it. A slow reader does not slow down the export, which is written to a temporary file meanwhile.
	//
	// If Read fails, the response cannot be completed. The adapter must then close the connection, so that the client does
	// not take the response for complete.
	//
	// A call of Close before the end of Stream cancels the export. Close returns after the export has stopped, but at the
	// latest at the timeout of the request. After Handle has returned, the export does not use the Request. It uses the
	// context only if Request.ContextOutlivesHandle is set.
	Stream io.ReadCloser
	Length int64 // of Stream, in bytes; 0 if it is not known

	outcome domain.Outcome // of a failure, for the observer
}

// StatusError is an error of a SubjectProvider that sets the status of the response: 401, 403 or any other status from
// 400 to 599. The text of Err is not sent to the client and not logged.
type StatusError struct {
	Status int
	// Header is sent with the response, for example WWW-Authenticate. It cannot replace a header that the API sets. An
	// adapter may join several values of one header with commas.
	Header http.Header
	Err    error // the cause, or nil
}

// Error implements error.
func (r *StatusError) Error() string { return "habeas: refused: " + http.StatusText(r.Status) }

// Unwrap returns the cause, for errors.Is and errors.As.
func (r *StatusError) Unwrap() error { return r.Err }
