package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/habeas-data/habeas/domain"
)

// Problem is the body of every response to a failure: a problem document by RFC 9457, sent as application/problem+json.
// The type is always "about:blank", which means that the status alone identifies the kind of failure.
type Problem struct {
	Type   string              `json:"type"`
	Title  string              `json:"title"` // the standard phrase of the status, or "Refused" if it has none
	Status int                 `json:"status"`
	Detail string              `json:"detail"`
	Errors []domain.FieldError `json:"errors,omitempty"` // only with status 422, if fields are at fault
}

// failure is an error with its response.
type failure struct {
	Problem
	header http.Header // in addition to the headers of every response
	cause  error       // may be nil
}

// Error implements error. Clients and logs do not get the text: clients get the Problem, and the log gets the class of
// the cause.
func (f *failure) Error() string { return f.Detail }

// Unwrap gives the cause to errors.Is and errors.As.
func (f *failure) Unwrap() error { return f.cause }

func problem(status int, detail string) *failure {
	title := http.StatusText(status)
	if title == "" {
		title = "Refused" // only a Refusal can have a status without a standard phrase
	}
	return &failure{Problem: Problem{Type: "about:blank", Title: title, Status: status, Detail: detail}}
}

// internalError is the failure for every error whose cause must not reach the client.
var internalError = problem(http.StatusInternalServerError, "The server could not process the request.")

// failures maps errors of the services and the stores to responses. The first target that matches counts. An error that
// matches no target is internal. domain.ErrConflict is internal, too: a constraint of the database has refused a write,
// and would refuse it again until the application's data or schema is changed. A client that repeats the request after
// a 503 could not succeed.
var failures = []struct {
	target error
	status int
	detail string
}{
	{domain.ErrInvalid, http.StatusUnprocessableEntity, "The request has fields that are not valid."},
	{domain.ErrSubject, http.StatusInternalServerError, internalError.Detail}, // a mistake of the application
	{domain.ErrUnavailable, http.StatusServiceUnavailable, "The service is not available now. Try again later."},
	{context.DeadlineExceeded, http.StatusGatewayTimeout, "The request took too long and was given up."},
	// The client has gone, or the server is shutting down.
	{context.Canceled, http.StatusServiceUnavailable, "The request was interrupted. Try again later."},
}

// retryAfter is the number of seconds that a client should wait after a 503.
const retryAfter = "5"

// failureOf returns the failure for an error. The failure does not contain the text of the error.
func failureOf(err error) *failure {
	var known *failure
	if errors.As(err, &known) {
		return known
	}
	for _, candidate := range failures {
		if !errors.Is(err, candidate.target) {
			continue
		}
		found := problem(candidate.status, candidate.detail)
		var coded *domain.Error
		if candidate.status == http.StatusUnprocessableEntity && errors.As(err, &coded) {
			found.Errors = coded.Fields
		}
		if candidate.status == http.StatusServiceUnavailable {
			found.header = http.Header{"Retry-After": {retryAfter}}
		}
		return found
	}
	return internalError
}

// refused returns the failure for an error of Request.Subject. For a Refusal with a valid status, the failure has the
// status and the header of the Refusal. For any other error, the failure is internal.
func refused(err error) error {
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Status < 400 || refusal.Status > 599 {
		return &failure{Problem: internalError.Problem, cause: err}
	}
	found := problem(refusal.Status, "The request was refused.")
	found.cause, found.header = err, http.Header{}
	for name, values := range refusal.Header {
		for _, value := range values {
			found.header.Add(name, value) // under its canonical name
		}
	}
	return found
}

// response writes the problem document.
func (f *failure) response() Response {
	header := f.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", "application/problem+json")
	body, _ := encode(f.Problem) // a Problem can always be encoded
	return newResponse(f.Status, header, body)
}
