package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/habeas-data/habeas/domain"
)

// Problem is the body of every response to a failure: a problem document by RFC 9457, sent as application/problem+json.
// Its type is always "about:blank": the status alone says which kind of failure it is.
type Problem struct {
	Type   string              `json:"type"`
	Title  string              `json:"title"` // the standard phrase of the status, or "Refused" if it has none
	Status int                 `json:"status"`
	Detail string              `json:"detail"`
	Errors []domain.FieldError `json:"errors,omitempty"` // with 422 only, and only if fields are at fault
}

// failure is an error with its response.
type failure struct {
	Problem
	header http.Header // besides those of every response
	cause  error       // may be nil
}

// Error implements error. Clients get the Problem instead, and the log the class of the cause.
func (f *failure) Error() string { return f.Detail }

// Unwrap gives the cause to errors.Is and errors.As.
func (f *failure) Unwrap() error { return f.cause }

func problem(status int, detail string) *failure {
	title := http.StatusText(status)
	if title == "" {
		title = "Refused" // only a SubjectProvider names a status that has no phrase
	}
	return &failure{Problem: Problem{Type: "about:blank", Title: title, Status: status, Detail: detail}}
}

// internalError is the response to every error whose cause must not reach the client.
var internalError = problem(http.StatusInternalServerError, "The server could not process the request.")

// failures has the responses to the errors of the services and the stores. The first target that fits counts. An error
// that fits none is internal. So is domain.ErrConflict: a constraint of the database has refused a write, and refuses
// it again until the application's data or schema is changed. A 503 would ask the client to repeat the request in
// vain.
var failures = []struct {
	target error
	status int
	detail string
}{
	{domain.ErrInvalid, http.StatusUnprocessableEntity, "The request has fields that are not valid."},
	{domain.ErrSubject, http.StatusInternalServerError, internalError.Detail}, // the application's fault
	{domain.ErrUnavailable, http.StatusServiceUnavailable, "The service is not available now. Try again later."},
	{context.DeadlineExceeded, http.StatusGatewayTimeout, "The request took too long and was given up."},
	// The client has gone, or the server is shutting down.
	{context.Canceled, http.StatusServiceUnavailable, "The request was interrupted. Try again later."},
}

// retryAfter is the number of seconds that a client should wait after a 503.
const retryAfter = "5"

// failureOf returns the failure for an error. The failure has nothing of its text.
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

// refused returns the failure for an error of the SubjectProvider: that of its Refusal, with its status and header, or
// else an internal one, whatever the error is.
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
