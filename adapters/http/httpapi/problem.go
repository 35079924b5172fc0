package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/habeas-data/habeas/domain"
)

// Problem is the body of every answer that reports a failure: a problem document by RFC 9457, sent as
// application/problem+json. Its type is always "about:blank", which says that the status tells it all.
type Problem struct {
	Type   string              `json:"type"`
	Title  string              `json:"title"` // the standard phrase of the status, or "Refused" where it has none
	Status int                 `json:"status"`
	Detail string              `json:"detail"`
	Errors []domain.FieldError `json:"errors,omitempty"` // with 422 only, and only where fields are at fault
}

// failure is an error that knows its answer.
type failure struct {
	Problem
	header http.Header // besides those of every answer
	cause  error       // may be nil
}

// Error implements error. The text is for nobody: clients get the Problem, and the log the class of the cause.
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

// internalError is the answer to everything that is nobody's business but the application's.
var internalError = problem(http.StatusInternalServerError, "The server could not process the request.")

// failures says how the errors of the engines and the stores are answered. The first that fits counts; an error that
// fits none is internal. So is domain.ErrConflict: a constraint of the database has refused a write, and refuses it again
// until the application's data or schema is changed. A 503 would ask the client to repeat it in vain.
var failures = []struct {
	target error
	status int
	detail string
}{
	{domain.ErrInvalid, http.StatusUnprocessableEntity, "The request has fields that are not valid."},
	{domain.ErrSubject, http.StatusInternalServerError, internalError.Detail}, // the application's fault
	{domain.ErrUnavailable, http.StatusServiceUnavailable, "The service is not available now. Try again later."},
	{context.DeadlineExceeded, http.StatusGatewayTimeout, "The request took too long and was given up."},
	// The client has gone, or the server is about to: mostly nobody reads this.
	{context.Canceled, http.StatusServiceUnavailable, "The request was interrupted. Try again later."},
}

// retryAfter is how many seconds a client is asked to wait after a 503.
const retryAfter = "5"

// failureOf decides how an error is answered. Nothing of its text is.
func failureOf(err error) *failure {
	var known *failure
	if errors.As(err, &known) {
		return known
	}
	for _, candidate := range failures {
		if !errors.Is(err, candidate.target) {
			continue
		}
		answer := problem(candidate.status, candidate.detail)
		var coded *domain.Error
		if candidate.status == http.StatusUnprocessableEntity && errors.As(err, &coded) {
			answer.Errors = coded.Fields
		}
		if candidate.status == http.StatusServiceUnavailable {
			answer.header = http.Header{"Retry-After": {retryAfter}}
		}
		return answer
	}
	return internalError
}

// refused decides how an error of the SubjectProvider is answered: with the status and the header that it names, else
// with 500, whatever the error is.
func refused(err error) error {
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Status < 400 || refusal.Status > 599 {
		return &failure{Problem: internalError.Problem, cause: err}
	}
	answer := problem(refusal.Status, "The request was refused.")
	answer.cause, answer.header = err, http.Header{}
	for name, values := range refusal.Header {
		for _, value := range values {
			answer.header.Add(name, value) // under its canonical name
		}
	}
	return answer
}

// response writes the problem document.
func (f *failure) response() Response {
	header := f.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", "application/problem+json")
	body, _ := encode(f.Problem) // which holds nothing that cannot be encoded
	return newResponse(f.Status, header, body)
}
