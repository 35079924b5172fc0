package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/habeas-data/habeas/domain"
)

// Problem is the body of every response to a failed request. It is a problem document by RFC 9457, and its media type
// is application/problem+json. The type is "erased" for a consent of a person who was erased, see domain.ErrErased. A
// refusal of the application (domain.RefusalError) can have a type of its own. It is "about:blank" for every other
// failure: by the RFC, the status alone then names the kind of failure.
type Problem struct {
	Type   string              `json:"type"`
	Title  string              `json:"title"` // the standard phrase of the status or "Refused", or that of a refusal
	Status int                 `json:"status"`
	Detail string              `json:"detail"`
	Errors []domain.FieldError `json:"errors,omitempty"` // the errors of fields, only with status 422
}

// failure is an error with its response.
type failure struct {
	Problem
	header http.Header // added to the headers that every response has
	cause  error       // may be nil
}

// Error implements error. Neither clients nor logs contain this text. A client receives the Problem, and the log
// contains only the class of the cause.
func (f *failure) Error() string { return f.Detail }

// Unwrap returns the cause, for errors.Is and errors.As.
func (f *failure) Unwrap() error { return f.cause }

func problem(status int, detail string) *failure {
	title := http.StatusText(status)
	if title == "" {
		title = "Refused" // only an error of the application can have a status without a standard phrase
	}
	return &failure{Problem: Problem{Type: "about:blank", Title: title, Status: status, Detail: detail}}
}

// internalError is the failure with status 500, for an error whose cause must not reach the client.
var internalError = problem(http.StatusInternalServerError, "The server could not process the request.")

// noResource is the failure of a path without a resource.
var noResource = problem(http.StatusNotFound, "There is no such resource.")

// failures maps errors of the services and the stores to responses. If an error matches several entries, the first
// entry is used. An error without an entry gets status 500.
//
// domain.ErrConflict has no entry. This error means that a constraint of the database has refused a write. The response
// is not a 503, because the same request would fail until the application's data or schema is changed.
var failures = []struct {
	target error
	status int
	detail string
}{
	{domain.ErrInvalid, http.StatusUnprocessableEntity, "The request has fields that are not valid."},
	{domain.ErrSubject, http.StatusInternalServerError, internalError.Detail}, // a mistake of the application
	{domain.ErrErased, http.StatusConflict, "The person was erased, and can give no consent."},
	{domain.ErrHeld, http.StatusConflict, "A legal hold stops the erasure for now."},
	{domain.ErrNotFound, http.StatusNotFound, noResource.Detail},
	{domain.ErrLimited, http.StatusTooManyRequests, "There were too many requests today. Try again tomorrow."},
	{domain.ErrUnavailable, http.StatusServiceUnavailable, "The service is not available now. Try again later."},
	{context.DeadlineExceeded, http.StatusGatewayTimeout, "The request took too long and was given up."},
	// The client has disconnected, or the server is shutting down.
	{context.Canceled, http.StatusServiceUnavailable, "The request was interrupted. Try again later."},
}

// problemTypes has the types of the problems that a client may want to tell from others with the same status.
var problemTypes = map[error]string{domain.ErrErased: "erased", domain.ErrHeld: "legal-hold"}

// retryAfter is the header Retry-After of a response with status 503: the number of seconds that a client should wait.
const retryAfter = "5"

// failureOf returns the response to an error. The response does not contain the text of the error.
func failureOf(err error) *failure {
	var known *failure
	if errors.As(err, &known) {
		return known
	}
	var refusal *domain.RefusalError
	if errors.As(err, &refusal) {
		return refusedBy(refusal.Bounded())
	}
	for _, candidate := range failures {
		if !errors.Is(err, candidate.target) {
			continue
		}
		found := problem(candidate.status, candidate.detail)
		if name, ok := problemTypes[candidate.target]; ok {
			found.Type = name
		}
		var coded *domain.Error
		if candidate.status == http.StatusUnprocessableEntity && errors.As(err, &coded) {
			found.Errors = coded.Fields
			if len(coded.Fields) == 0 {
				found.Detail = "The request has a text with a character that the database lacks."
			}
		}
		if candidate.status == http.StatusServiceUnavailable {
			found.header = http.Header{"Retry-After": {retryAfter}}
		}
		return found
	}
	return internalError
}

// refusedBy returns the failure for a refusal of a hook, in the words of the application.
func refusedBy(refusal domain.RefusalError) *failure {
	found := problem(refusal.Status, cmp.Or(refusal.Detail, "The application refused the request."))
	found.Type, found.Title = refusal.Type, cmp.Or(refusal.Title, found.Title)
	return found
}

// refused returns the failure for an error of Request.Subject. The failure has the status and the header of a
// StatusError with a status from 400 to 599. For any other error, the failure has status 500.
func refused(err error) error {
	var refusal *StatusError
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
