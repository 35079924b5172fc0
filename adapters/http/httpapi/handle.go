package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/detach"
	"github.com/habeas-data/habeas/ports"
)

// Route handles a request to any path. It calls Handle for the endpoint that matches, or else Fallback. A HEAD request
// goes to the endpoint for GET. The path is relative to the prefix and still percent-encoded. It is "/" for the prefix
// itself. Route sets Request.Purpose from the path.
//
// An adapter whose framework passes it every request under the prefix calls Route. An adapter that registers each
// endpoint with its framework calls Handle.
func (a *API) Route(ctx context.Context, method, path string, r Request) Response {
	wanted := method
	if method == http.MethodHead {
		wanted = http.MethodGet
	}
	for _, endpoint := range a.endpoints {
		if purpose, ok := endpoint.match(path); ok && endpoint.Method == wanted {
			r.Purpose = purpose
			return a.Handle(ctx, endpoint, r)
		}
	}
	if r.SetReadDeadline != nil { // some servers read the body before they send the response
		r.SetReadDeadline(time.Now().Add(a.config.Timeout))
	}
	return a.Fallback(method, path)
}

// Handle handles a request to an endpoint of the API. It calls Request.Subject, checks the input, and opens one
// session, in which the endpoint does its work. If the status of the response is below 500 and is not 200, Handle has
// opened no session. If the response has a Stream, the session stays open until the stream has ended.
//
// The request ends after Config.Timeout, or earlier with ctx. The response to a panic, also of Request.Subject, has the
// status 500. Work that continues after Handle has returned calls no method of ctx, unless
// Request.ContextOutlivesHandle allows such calls until the end of the Stream.
func (a *API) Handle(ctx context.Context, endpoint Endpoint, r Request) (response Response) {
	end := time.Now().Add(a.config.Timeout)
	ctx, release := lend(ctx)
	ctx, observed := ports.Begin(ctx, a.config.Observer, domain.Activity{
		Kind: domain.ActivityRequest, Method: endpoint.Method, Route: endpoint.Path,
	})
	defer func() {
		if response.Stream == nil {
			observed.End(response.ended())
		}
		if body, streams := response.Stream.(stream); streams && r.ContextOutlivesHandle {
			context.AfterFunc(body.ctx, release) // body.ctx ends with the work of the stream
			return
		}
		release()
	}()
	deadline := end.Add(-evidenceTime(a.config.Timeout))
	ctx, cancel := context.WithDeadline(ports.WithEvidenceDeadline(ctx, end), deadline)
	defer cancel()
	defer a.recovered(ctx, endpoint, &response)
	if r.SetReadDeadline != nil {
		r.SetReadDeadline(deadline)
	}
	subject, err := a.subject(ctx, r)
	switch {
	case err != nil:
		return a.failed(ctx, endpoint, err)
	case endpoint.exports && r.NoStream:
		return a.export(ctx, endpoint, subject, &exportBody{})
	case endpoint.exports:
		return a.exportStream(ctx, endpoint, subject, observed)
	}
	operate, err := endpoint.accept(a, subject, r)
	if err != nil {
		return a.failed(ctx, endpoint, err)
	}
	var body []byte
	err = a.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		result, err := operate(ctx, s)
		if err == nil {
			body, err = encode(result)
		}
		return err
	})
	if err != nil {
		return a.failed(ctx, endpoint, err)
	}
	return Response{Status: http.StatusOK, Header: successHeader, Body: body}
}

// lend returns a context that uses ctx until release is called. Frameworks may reuse the object behind ctx for another
// request, while goroutines of resolvers, drivers and shared statements may outlive the request.
func lend(ctx context.Context) (lent context.Context, release func()) {
	if ctx == context.Background() { // is never reused
		return ctx, func() {}
	}
	return detach.New(ctx)
}

// evidenceTime returns how much of a request's time is reserved for the evidence of its failure. A request that exceeds
// its deadline thus still leaves evidence, and gets its response within the timeout.
func evidenceTime(timeout time.Duration) time.Duration { return min(timeout/5, 2*time.Second) }

// subject calls Request.Subject and checks the subject. It returns a copy that shares no memory with the request.
func (a *API) subject(ctx context.Context, r Request) (domain.Subject, error) {
	subject, err := r.Subject(ctx)
	if err != nil {
		return domain.Subject{}, refused(err)
	}
	subject = subject.Clone()
	return subject, a.config.DataMap.CheckSubject(subject)
}

// failed returns the response to an error. It logs the error if the status is 500 or above.
func (a *API) failed(ctx context.Context, endpoint Endpoint, err error) Response {
	failure := failureOf(err)
	if failure.Status >= http.StatusInternalServerError {
		a.logFailure(ctx, endpoint, failure.Status, err)
	}
	response := failure.response()
	response.outcome = outcomeOf(failure.Status, err)
	return response
}

// recovered sets the response to a panic. It is called by defer.
func (a *API) recovered(ctx context.Context, endpoint Endpoint, response *Response) {
	if value := recover(); value != nil {
		a.logPanic(ctx, endpoint, value)
		*response = internalError.response()
		response.outcome = domain.OutcomePanic
	}
}

// successHeader is the header of every success.
var successHeader = newResponse(http.StatusOK, http.Header{"Content-Type": {"application/json"}}, nil).Header

// newResponse adds the headers that every response has. Caches must not store personal data, and browsers must not
// interpret it as a page.
func newResponse(status int, header http.Header, body []byte) Response {
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	return Response{Status: status, Header: header, Body: body}
}
