package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Request is what an adapter gathers from its framework. Its strings and its body may lie in memory that is reused
// once Handle has returned: what is kept for longer is copied.
type Request struct {
	// Subject calls the application's SubjectProvider, under the context of the request. Required.
	//
	// A *Refusal is answered with its status. Any other error is answered with 500, and so is a subject that is not
	// valid or whose id does not fit the data map: nobody is taken for somebody else.
	Subject func(context.Context) (domain.Subject, error)

	Purpose         string    // the last segment of the path, still percent-encoded, where the endpoint has {purpose}
	Query           string    // what stands after the "?", still percent-encoded
	ContentType     string    // the header
	ContentEncoding string    // the header; several lines of it joined by commas
	Body            io.Reader // as it was sent, not decompressed; nil for none. No more of it is read than is allowed
}

// Response is what an adapter sends.
type Response struct {
	Status int
	Header http.Header
	Body   []byte // empty for 204; an adapter leaves it out in answer to HEAD
}

// Refusal is a SubjectProvider's way to say why there is no subject, as the status to answer: 401, 403 or any other
// from 400 to 599. The text of Err reaches neither the client nor the log.
type Refusal struct {
	Status int
	Err    error // the cause, or nil
}

// Error implements error.
func (r *Refusal) Error() string { return "habeas: refused: " + http.StatusText(r.Status) }

// Unwrap gives the cause to errors.Is and errors.As.
func (r *Refusal) Unwrap() error { return r.Err }

// Handle answers a request to one of the API's endpoints: it asks for the subject, checks the input, and opens one
// session, in which it does what the endpoint is for. A request that is answered with a status below 500 other than
// 200 has opened no session.
//
// The request ends after Config.Timeout, or earlier with ctx. A panic, also of the SubjectProvider, is answered with
// 500 and goes no further.
func (a *API) Handle(ctx context.Context, endpoint Endpoint, r Request) (response Response) {
	defer func() {
		if value := recover(); value != nil {
			a.logPanic(ctx, endpoint, value)
			response = internalError.response()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, a.config.Timeout)
	defer cancel()

	body, err := a.serve(ctx, endpoint, r)
	if err == nil {
		return newResponse(http.StatusOK, http.Header{"Content-Type": {"application/json"}}, body)
	}
	failure := failureOf(err)
	if failure.Status >= http.StatusInternalServerError {
		a.logFailure(ctx, endpoint, failure.Status, err)
	}
	return failure.response()
}

// serve returns the body of a success.
func (a *API) serve(ctx context.Context, endpoint Endpoint, r Request) ([]byte, error) {
	subject, err := a.subject(ctx, r)
	if err != nil {
		return nil, err
	}
	operation, err := endpoint.read(a, r)
	if err != nil {
		return nil, err
	}
	var result any
	err = a.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		var err error
		result, err = operation(ctx, s, subject)
		return err
	})
	if err != nil {
		return nil, err
	}
	return encode(result)
}

func (a *API) subject(ctx context.Context, r Request) (domain.Subject, error) {
	subject, err := r.Subject(ctx)
	if err != nil {
		return domain.Subject{}, refused(err)
	}
	subject = subject.Clone()
	if err := subject.Validate(); err != nil {
		return domain.Subject{}, err
	}
	if _, err := a.config.DataMap.Key(subject.ID); err != nil {
		return domain.Subject{}, err
	}
	return subject, nil
}

func encode(v any) ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return body.Bytes(), err
}

// newResponse adds the headers that every answer has. Personal data must not stay in any cache, nor be taken for a
// page by a browser.
func newResponse(status int, header http.Header, body []byte) Response {
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	return Response{Status: status, Header: header, Body: body}
}
