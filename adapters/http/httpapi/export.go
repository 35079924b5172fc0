package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/ports"
)

// export runs the export in one session and writes the document to the parameter document. If it has buffered
// the complete document, Response.Body is this document.
func (a *API) export(
	ctx context.Context, endpoint Endpoint, subject domain.Subject, document *export.Document,
) (response Response) {
	defer a.recovered(ctx, endpoint, &response) // export also runs in the goroutine of a stream
	err := document.Export(ctx, a.config.Sessions, a.config.Export, subject)
	if err != nil {
		return a.failed(ctx, endpoint, err)
	}
	return Response{Status: http.StatusOK, Header: successHeader, Body: document.Bytes()}
}

// exportStream runs the export in a new goroutine. If the complete document fits into the buffer, exportStream returns
// a response with a Body. Otherwise it returns a response with a Stream as soon as the buffer is full. The goroutine
// then continues to write the document into the stream, and at the end reports the end of the request to the observer.
func (a *API) exportStream(
	ctx context.Context, endpoint Endpoint, subject domain.Subject, observed ports.RunningActivity,
) Response {
	deadline, _ := ctx.Deadline() // set by Handle
	own, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	follow := func() {
		if errors.Is(ctx.Err(), context.Canceled) { // own has the same deadline as ctx
			cancel()
		}
	}
	follow()
	// If the client disconnects before Handle returns, the server cancels ctx, which cancels the export. After Handle has
	// returned, the server closes the stream, which also cancels the export.
	stopFollowing := context.AfterFunc(ctx, follow)
	response, ended := make(chan Response, 1), make(chan struct{})
	var pipe *io.PipeWriter // nil until the export is streamed
	document := &export.Document{Open: func() io.Writer {
		var rest *io.PipeReader
		rest, pipe = io.Pipe()
		stopFollowing()
		context.AfterFunc(own, func() { breakOff(pipe) }) // a client that reads slowly must also meet the deadline
		response <- Response{Status: http.StatusOK, Header: successHeader, Stream: stream{rest, own, cancel, ended}}
		return pipe
	}}
	go func() {
		defer close(ended)
		defer cancel()
		whole := internalError.response() // kept if a store ends the goroutine, for example by t.FailNow
		whole.outcome = domain.OutcomePanic
		defer func() {
			if pipe == nil {
				response <- whole
				return
			}
			ended := whole.ended()
			ended.Status = http.StatusOK // the status that the client has received
			observed.End(ended)
		}()
		whole = a.export(own, endpoint, subject, document)
		switch {
		case pipe == nil:
		case whole.Status == http.StatusOK:
			_ = pipe.Close() // always returns nil
		default:
			breakOff(pipe)
		}
	}()
	return <-response
}

// breakOff makes the next read of the stream fail, if the stream has not ended. The error has no details, because
// servers log it.
func breakOff(pipe *io.PipeWriter) { _ = pipe.CloseWithError(io.ErrUnexpectedEOF) }

// stream is the body of a response. A goroutine still writes the body while the adapter reads it.
type stream struct {
	*io.PipeReader
	ctx    context.Context //nolint:containedctx // of the goroutine; Close reads a deadline from it
	cancel context.CancelFunc
	ended  <-chan struct{} // closed when the goroutine has ended
}

// Close cancels the export and waits until its goroutine has ended. A store may ignore the cancellation, so Close waits
// at most until the request's timeout.
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
