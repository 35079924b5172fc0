package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// handleStream is Handle for an endpoint that streams. What belongs to the framework, the subject provider above all, is
// asked in the goroutine of the request, before there is another one.
func (a *API) handleStream(ctx context.Context, endpoint Endpoint, r Request) Response {
	var perform performance
	refusal := a.complete(ctx, endpoint, func(ctx context.Context, _ *answer) (err error) {
		perform, err = a.prepare(ctx, endpoint, r)
		return err
	}, &answer{})
	if perform == nil {
		return refusal
	}
	return a.stream(ctx, endpoint, perform)
}

// stream performs an operation whose answer may be too large to be held. It returns with the whole answer, or as soon as
// there is a stream; the rest of the work is then done while the stream is read.
func (a *API) stream(ctx context.Context, endpoint Endpoint, perform performance) Response {
	deadline, _ := ctx.Deadline() // Handle has set one
	own, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	follow := func() {
		if errors.Is(ctx.Err(), context.Canceled) { // its deadline is ours as well
			cancel()
		}
	}
	follow()
	// Once there is a stream, its reader says whether the client is there: ctx ends when Handle returns.
	stopFollowing := context.AfterFunc(ctx, follow)
	response, ended := make(chan Response, 1), make(chan struct{})
	out := &answer{}
	out.stream = func(body *io.PipeReader) {
		stopFollowing()
		context.AfterFunc(own, out.breakOff) // a client that reads too slowly is not waited for
		response <- Response{Status: http.StatusOK, Header: successHeader, Stream: stream{body, own, cancel, ended}}
	}
	go func() {
		defer close(ended)
		defer cancel()
		whole := internalError.response() // unless a store ends the goroutine, as a failing test does
		defer func() {
			if out.pipe == nil {
				response <- whole
			}
		}()
		whole = a.complete(own, endpoint, perform, out)
	}()
	return <-response
}

// stream is the body of a response on whose rest a goroutine works.
type stream struct {
	*io.PipeReader
	ctx    context.Context //nolint:containedctx // of the goroutine, for the deadline of the evidence
	cancel context.CancelFunc
	ended  <-chan struct{} // closed at the end of the goroutine
}

// Close ends the work and waits for its goroutine, at the latest until the end of the request's time: a store that
// does not heed its context is not waited for any longer.
func (s stream) Close() error {
	s.cancel()
	err := s.PipeReader.Close()
	end, _ := ports.EvidenceDeadline(s.ctx)
	timer := time.NewTimer(time.Until(end))
	defer timer.Stop()
	select {
	case <-s.ended:
	case <-timer.C:
	}
	return err
}

// export writes the bundle record by record. Its JSON is that of a domain.ExportBundle.
func (a *API) export(Request) (operation, error) {
	return func(ctx context.Context, s ports.Session, subject domain.Subject, out *answer) error {
		separator := []byte{}
		var current domain.ExportRecord // one for all: encoding takes it out of the stack
		return a.config.Export.Stream(ctx, s, subject,
			func(bundle domain.ExportBundle) error {
				whole, err := encode(bundle)
				if err != nil {
					return err
				}
				head, tail, _ := bytes.Cut(whole, []byte(`"records":[]`)) // no string holds that: quotes are escaped
				out.tail = append([]byte("]"), tail...)
				out.held.Grow(chunk)
				return out.write(append(head, `"records":[`...))
			},
			func(record domain.ExportRecord) error {
				if err := out.write(separator); err != nil {
					return err
				}
				separator = []byte(",")
				current = record
				return out.encode(&current)
			})
	}, nil
}
