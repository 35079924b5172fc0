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

// export runs the export in one session and writes it into body. It returns the response, whose Body is the document
// unless the document was sent as a stream.
func (a *API) export(
	ctx context.Context, endpoint Endpoint, subject domain.Subject, body *exportBody,
) (response Response) {
	defer a.recovered(ctx, endpoint, &response) // also of the goroutine of a stream
	err := a.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		return a.writeBundle(ctx, s, subject, body)
	})
	if err == nil {
		err = body.end()
	}
	if err != nil {
		return a.failed(ctx, endpoint, err)
	}
	return Response{Status: http.StatusOK, Header: successHeader, Body: body.held.Bytes()}
}

// writeBundle writes the bundle record by record. Its JSON is that of a domain.ExportBundle. A session factory may call
// it more than once.
func (a *API) writeBundle(ctx context.Context, s ports.Session, subject domain.Subject, body *exportBody) error {
	body.restart()
	separator := []byte{}
	var current domain.ExportRecord // one for all: encoding moves it to the heap
	return a.config.Export.Stream(ctx, s, subject,
		func(bundle domain.ExportBundle) error {
			whole, err := encode(bundle)
			if err != nil {
				return err
			}
			head, tail, _ := bytes.Cut(whole, []byte(`"records":[]`)) // no string holds that: quotes are escaped
			body.tail = append([]byte("]"), tail...)
			body.held.Grow(chunk)
			return body.write(append(head, `"records":[`...))
		},
		func(record domain.ExportRecord) error {
			if err := body.write(separator); err != nil {
				return err
			}
			separator = []byte(",")
			current = record
			return body.encode(&current)
		})
}

// exportStream runs the export in a goroutine of its own. It returns the whole response, or a response with a stream as
// soon as the document is too large to be held. The goroutine then goes on while the stream is read, and ends what is
// observed.
func (a *API) exportStream(
	ctx context.Context, endpoint Endpoint, subject domain.Subject, observed ports.Ending,
) Response {
	deadline, _ := ctx.Deadline() // Handle has set one
	own, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	follow := func() {
		if errors.Is(ctx.Err(), context.Canceled) { // its deadline is that of own as well
			cancel()
		}
	}
	follow()
	// ctx ends when Handle returns. The reader of the stream then says whether the client is still there.
	stopFollowing := context.AfterFunc(ctx, follow)
	response, ended := make(chan Response, 1), make(chan struct{})
	body := &exportBody{}
	body.stream = func(rest *io.PipeReader) {
		stopFollowing()
		context.AfterFunc(own, body.breakOff) // a client that reads too slowly is not waited for
		response <- Response{Status: http.StatusOK, Header: successHeader, Stream: stream{rest, own, cancel, ended}}
	}
	go func() {
		defer close(ended)
		defer cancel()
		whole := internalError.response() // unless a store ends the goroutine, as a failing test does
		whole.outcome = domain.OutcomePanic
		defer func() {
			if body.pipe == nil {
				response <- whole
				return
			}
			ended := whole.ended()
			ended.Status = http.StatusOK // which was sent
			observed.End(ended)
		}()
		if whole = a.export(own, endpoint, subject, body); whole.Status != http.StatusOK && body.pipe != nil {
			body.breakOff()
		}
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

// Close ends the work and waits for its goroutine, at the latest until the end of the request's time: a store may
// ignore its context.
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
