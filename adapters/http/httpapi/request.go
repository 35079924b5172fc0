package httpapi

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Request is what an adapter gathers from its framework. Its strings and its body may lie in memory that is reused
// after Handle has returned: the API copies what it keeps for longer.
type Request struct {
	// Subject calls the application's SubjectProvider, under the context of the request. Required.
	//
	// The response to a *Refusal has the status of the refusal. The response to any other error has the status 500, and so
	// has the response to a subject that is not valid or whose id does not fit the data map.
	Subject func(context.Context) (domain.Subject, error)

	Purpose         string    // the last segment of the path, still percent-encoded, if the endpoint has {purpose}
	Query           string    // the part of the URL after the "?", still percent-encoded
	ContentType     string    // the header
	ContentEncoding string    // the header; several lines of it joined by commas
	Body            io.Reader // as it was sent, not decompressed; nil for none. The API reads no more of it than it allows

	// SetReadDeadline makes reads of Body end at an instant, with an error whose method Timeout returns true. Handle and
	// Route call it before anything else, with the end of the request's time. It is nil if Body never makes a reader wait.
	SetReadDeadline func(time.Time)

	// Whole asks for a Response without Stream, however large the body is. An adapter sets it if it could not make a
	// client see that a stream was broken off: over HTTP/1.0, or if it cannot reach the connection.
	Whole bool

	// ContextLasts says that the context of the request may be used until the Stream of its response has ended. Without
	// it, the work behind a stream sees no value of the context.
	ContextLasts bool
}

// Response is what an adapter sends.
type Response struct {
	Status int
	Header http.Header // not to be modified
	Body   []byte      // empty for 204; an adapter leaves it out in response to HEAD

	// Stream takes the place of a Body that is too large to be held, that of a large export. It is nil otherwise, and if
	// Request.Whole is set. An adapter reads it to its end, also in response to HEAD, and closes it. Close before the end
	// gives the request up. Close returns when the work on the stream has ended, at the latest at the end of the request's
	// time; nothing of the Request is used after Handle has returned. An error of Read means that the response cannot be
	// completed: the adapter then breaks the connection off, so that no client takes the response for complete.
	Stream io.ReadCloser

	outcome domain.Outcome // of a failure, for the observer
}

// Refusal is the error by which a SubjectProvider chooses the status of the response: 401, 403 or any other from 400 to
// 599. The text of Err reaches neither the client nor the log.
type Refusal struct {
	Status int
	// Header is sent along, such as WWW-Authenticate; nil for none. It replaces none of the API's own. Several values of
	// one name may be sent as one, with commas between them.
	Header http.Header
	Err    error // the cause, or nil
}

// Error implements error.
func (r *Refusal) Error() string { return "habeas: refused: " + http.StatusText(r.Status) }

// Unwrap gives the cause to errors.Is and errors.As.
func (r *Refusal) Unwrap() error { return r.Err }
