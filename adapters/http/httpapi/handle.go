package httpapi

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/detach"
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

	// SetReadDeadline makes reads of Body end at an instant, with an error whose method Timeout returns true. Handle and
	// Route call it before anything else, with the end of the request's time. It is nil if Body never makes a reader wait.
	SetReadDeadline func(time.Time)

	// Whole asks for a Response without Stream, however large the body is. An adapter sets it if it could not make a
	// client see that a stream was broken off: over HTTP/1.0, or if it cannot reach the connection.
	Whole bool

	// ContextLasts says that the context of the request may be used until the Stream of its response has ended. Without it,
	// the work behind a stream sees no value of the context.
	ContextLasts bool
}

// Response is what an adapter sends.
type Response struct {
	Status int
	Header http.Header // not to be modified
	Body   []byte      // empty for 204; an adapter leaves it out in answer to HEAD

	// Stream takes the place of a Body that is too large to be held, that of a large export. It is nil otherwise, and if
	// Request.Whole is set. An adapter reads it to its end, also in response to HEAD, and closes it. Close before the end
	// gives the request up. Close returns when the work on the stream has ended, at the latest at the end of the request's
	// time; nothing of the Request is used after Handle has returned. An error of Read means that the response cannot be
	// completed: the adapter then breaks the connection off, so that no client takes the response for complete.
	Stream io.ReadCloser
}

// Refusal is a SubjectProvider's way to say why there is no subject, as the status to answer: 401, 403 or any other
// from 400 to 599. The text of Err reaches neither the client nor the log.
type Refusal struct {
	Status int
	// Header is sent along, WWW-Authenticate for one; nil for none. It replaces none of the API's own. Several values of
	// one name may be sent as one, with commas between them.
	Header http.Header
	Err    error // the cause, or nil
}

// Error implements error.
func (r *Refusal) Error() string { return "habeas: refused: " + http.StatusText(r.Status) }

// Unwrap gives the cause to errors.Is and errors.As.
func (r *Refusal) Unwrap() error { return r.Err }

// Route answers a request to any path: by the endpoint that takes it, which is HEAD's where it is GET's, or else by
// Fallback. It is all that an adapter calls whose framework gives it everything under the prefix; one that tells its
// framework of each endpoint calls Handle. The path is relative to the prefix and still percent-encoded, "/" for the
// prefix itself. The purpose is taken from it.
func (a *API) Route(ctx context.Context, method, path string, r Request) Response {
	asked := method
	if method == http.MethodHead {
		asked = http.MethodGet
	}
	for _, endpoint := range a.Endpoints() {
		if purpose, ok := endpoint.match(path); ok && endpoint.Method == asked {
			r.Purpose = purpose
			return a.Handle(ctx, endpoint, r)
		}
	}
	if r.SetReadDeadline != nil { // some servers read the body before they send the response
		r.SetReadDeadline(time.Now().Add(a.config.Timeout))
	}
	return a.Fallback(method, path)
}

// Handle answers a request to one of the API's endpoints: it asks for the subject, checks the input, and opens one
// session, in which it does what the endpoint is for. A request that is answered with a status below 500 other than
// 200 has opened no session. Where the response has a Stream, the session is open until that has ended.
//
// The request ends after Config.Timeout, or earlier with ctx. A panic, also of the SubjectProvider, is answered with
// 500 and goes no further. No method of ctx is called after Handle has returned, also not by work that goes on, unless
// Request.ContextLasts allows it until the end of the Stream.
func (a *API) Handle(ctx context.Context, endpoint Endpoint, r Request) Response {
	ctx, release := lend(ctx)
	response := a.handle(ctx, endpoint, r)
	if body, streams := response.Stream.(stream); streams && r.ContextLasts {
		context.AfterFunc(body.ctx, release) //nolint:contextcheck // which ends with the work of the stream
		return response
	}
	release()
	return response
}

func (a *API) handle(ctx context.Context, endpoint Endpoint, r Request) Response {
	end := time.Now().Add(a.config.Timeout)
	ctx, cancel := context.WithDeadline(ports.WithEvidenceDeadline(ctx, end), end.Add(-evidenceTime(a.config.Timeout)))
	defer cancel()
	if r.SetReadDeadline != nil {
		deadline, _ := ctx.Deadline()
		r.SetReadDeadline(deadline)
	}
	if endpoint.streams && !r.Whole {
		return a.handleStream(ctx, endpoint, r)
	}
	return a.complete(ctx, endpoint, func(ctx context.Context, out *answer) error {
		perform, err := a.prepare(ctx, endpoint, r)
		if err != nil {
			return err
		}
		return perform(ctx, out)
	}, &answer{})
}

// lend returns a context that stands for ctx until release is called. Frameworks reuse the objects that ctx may be made
// of, and goroutines of resolvers, drivers and shared statements may outlive the request.
func lend(ctx context.Context) (lent context.Context, release func()) {
	if ctx == context.Background() { // has nothing to be used too late
		return ctx, func() {}
	}
	return detach.New(ctx)
}

// evidenceTime is how much of a request's time is kept for the evidence of its failure, so that a request that runs
// into its deadline leaves evidence and gets its response in time all the same.
func evidenceTime(timeout time.Duration) time.Duration { return min(timeout/5, 2*time.Second) }

// performance is what remains of a request once it was accepted: its session.
type performance func(context.Context, *answer) error

// prepare finds out whose request it is, and checks its input.
func (a *API) prepare(ctx context.Context, endpoint Endpoint, r Request) (performance, error) {
	subject, err := a.subject(ctx, r)
	if err != nil {
		return nil, err
	}
	operate, err := endpoint.read(a, r)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, out *answer) error {
		return a.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
			out.restart()
			return operate(ctx, s, subject, out)
		})
	}, nil
}

// complete carries a request on to its end, and returns its answer or that to its failure.
func (a *API) complete(ctx context.Context, endpoint Endpoint, perform performance, out *answer) (response Response) {
	defer func() {
		if value := recover(); value != nil {
			a.logPanic(ctx, endpoint, value)
			_ = out.end(internalError)
			response = internalError.response()
		}
	}()
	if err := out.end(perform(ctx, out)); err != nil {
		failure := failureOf(err)
		if failure.Status >= http.StatusInternalServerError {
			a.logFailure(ctx, endpoint, failure.Status, err)
		}
		return failure.response()
	}
	return Response{Status: http.StatusOK, Header: successHeader, Body: out.body()}
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

// successHeader is that of every success.
var successHeader = newResponse(http.StatusOK, http.Header{"Content-Type": {"application/json"}}, nil).Header

// newResponse adds the headers that every answer has. Personal data must not stay in any cache, nor be taken for a
// page by a browser.
func newResponse(status int, header http.Header, body []byte) Response {
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	return Response{Status: status, Header: header, Body: body}
}
