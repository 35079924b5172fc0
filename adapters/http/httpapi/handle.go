package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/detach"
	"github.com/habeas-data/habeas/ports"
)

// Route handles a request to any path. It calls Handle if an endpoint matches the request, and otherwise Fallback. A
// HEAD request is handled by the endpoint for GET. The parameter path is relative to the prefix and still
// percent-encoded. The path of the prefix itself is "/". Route sets Request.Parameter from the path.
//
// Call Route if the framework passes every request under the prefix to one handler. Call Handle if the framework does
// the routing, with each endpoint registered separately.
func (a *API) Route(ctx context.Context, method, path string, r Request) Response {
	wanted := method
	if method == http.MethodHead {
		wanted = http.MethodGet
	}
	for _, endpoint := range a.endpoints {
		if parameter, ok := endpoint.match(path); ok && endpoint.Method == wanted {
			r.Parameter = parameter
			return a.Handle(ctx, endpoint, r)
		}
	}
	if r.SetReadDeadline != nil { // some servers read the body before they send the response
		r.SetReadDeadline(time.Now().Add(a.config.Timeout))
	}
	return a.Fallback(method, path)
}

// Handle handles a request to an endpoint of the API. It calls Request.Subject, checks the input, and opens one
// session, in which the endpoint does its work. Handle has opened no session if it returns a response with status 4xx,
// except 409. If the response has a Stream, the session stays open until the rows are read, however slow the reader of
// the stream.
//
// A request is canceled after Config.Timeout, or when ctx ends. After a panic, for example in Request.Subject, the
// response has the status 500.
//
// Some goroutines may still run after Handle has returned, but they do not use ctx. There is one exception: if
// Request.ContextOutlivesHandle is set, the work on a Stream may use ctx until the Stream has ended.
func (a *API) Handle(ctx context.Context, endpoint Endpoint, r Request) (response Response) {
	end := time.Now().Add(a.config.Timeout)
	ctx, release := lend(ctx)
	ctx, observed := ports.StartActivity(ctx, a.config.Observer, observation.Activity{
		Kind: observation.ActivityRequest, Method: endpoint.Method, Route: endpoint.Path,
	})
	defer func() {
		if response.Stream == nil {
			observed.End(response.ended())
		}
		if body, streams := response.Stream.(*stream); streams && r.ContextOutlivesHandle {
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
	case endpoint.format != nil && r.NoStream:
		return a.export(ctx, endpoint, subject, &export.Document{})
	case endpoint.format != nil:
		return a.exportStream(ctx, endpoint, subject, observed, r)
	}
	var result any
	operate, err := endpoint.accept(a, subject, r, &result)
	if err == nil {
		err = a.config.Sessions.Do(ctx, operate)
	}
	if err != nil {
		return a.failed(ctx, endpoint, err)
	}
	status, header := http.StatusOK, successHeader
	if made, ok := result.(created); ok {
		status, header = http.StatusCreated, header.Clone()
		header.Set("Location", made.location)
		result = made.resource
	}
	body, err := encode(result)
	if err != nil {
		return a.failed(ctx, endpoint, err)
	}
	return Response{Status: status, Header: header, Body: body}
}

// lend returns a context that delegates to ctx until release is called. After that, the returned context no longer uses
// ctx, because the framework may reuse ctx for another request. A goroutine of a resolver or a database driver can
// therefore use the returned context even after the end of the request.
func lend(ctx context.Context) (lent context.Context, release func()) {
	if ctx == context.Background() { // is never reused
		return ctx, func() {}
	}
	return detach.New(ctx)
}

// evidenceTime returns the part of a request's timeout that is reserved for the audit events about a failure. A request
// that takes too long is canceled this much earlier than the timeout. Its failure can then be recorded, and its
// response can be sent, within the timeout.
func evidenceTime(timeout time.Duration) time.Duration { return min(timeout/5, 2*time.Second) }

// subject calls Request.Subject and checks the result. It returns a copy that shares no memory with the request.
func (a *API) subject(ctx context.Context, r Request) (domain.Subject, error) {
	subject, err := r.Subject(ctx)
	if err != nil {
		return domain.Subject{}, refused(err)
	}
	subject = subject.Clone()
	return subject, a.config.DataMap.CheckSubject(subject)
}

// failed returns the response to a request that failed with err. It logs the error if the status is 500 or above.
func (a *API) failed(ctx context.Context, endpoint Endpoint, err error) Response {
	failure := failureOf(err)
	if failure.Status >= http.StatusInternalServerError {
		a.logFailure(ctx, endpoint, failure.Status, err)
	}
	response := failure.response()
	response.outcome = outcomeOf(failure.Status, err)
	return response
}

// recovered recovers a panic, logs it, and sets the response to status 500. The caller must call it by defer.
func (a *API) recovered(ctx context.Context, endpoint Endpoint, response *Response) {
	if value := recover(); value != nil {
		a.logPanic(ctx, endpoint, value)
		*response = internalError.response()
		response.outcome = domain.OutcomePanic
	}
}

// successHeader is the header of every success.
var successHeader = newResponse(http.StatusOK, http.Header{"Content-Type": {"application/json"}}, nil).Header

// newResponse returns a response with the headers that every response has. Caches must not store the response, because
// it may contain personal data. Browsers must not interpret it as a page.
func newResponse(status int, header http.Header, body []byte) Response {
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	return Response{Status: status, Header: header, Body: body}
}
