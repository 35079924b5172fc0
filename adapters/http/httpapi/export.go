package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/ports"
)

// export runs the export in one session and writes the document to the parameter body. If body has buffered the
// complete document, Response.Body is this document.
func (a *API) export(
	ctx context.Context, endpoint Endpoint, subject domain.Subject, body *exportBody,
) (response Response) {
	defer a.recovered(ctx, endpoint, &response) // export also runs in the goroutine of a stream
	err := body.export(ctx, a.config.Sessions, a.config.Export, subject)
	if err != nil {
		return a.failed(ctx, endpoint, err)
	}
	return Response{Status: http.StatusOK, Header: successHeader, Body: body.held.Bytes()}
}

// WriteExport writes to w the JSON document that is also the response to GET /export. It returns the bundle without its
// records. WriteExport uses one session and sets no timeout.
//
// A document of up to 1 MiB is written after the session has committed. A larger document is written while the rows are
// read. The output is complete only if WriteExport returns no error. The error wraps an error of w, or is an error of
// Exporter.Export or of the session factory.
func WriteExport(
	ctx context.Context, w io.Writer, sessions ports.SessionFactory, exporter *export.Exporter, subject domain.Subject,
) (domain.ExportBundle, error) {
	body := &exportBody{open: func() io.Writer { return w }}
	if err := body.export(ctx, sessions, exporter, subject); err != nil {
		return domain.ExportBundle{}, err
	}
	body.sent = w
	return body.bundle, body.flush()
}

// export runs the export in one session.
func (b *exportBody) export(
	ctx context.Context, sessions ports.SessionFactory, exporter *export.Exporter, subject domain.Subject,
) error {
	err := sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		return b.writeBundle(ctx, s, exporter, subject)
	})
	if err == nil {
		err = b.end()
	}
	return err
}

// writeBundle writes the JSON of a domain.ExportBundle, record by record. A session factory may call it more than once,
// because it may retry.
func (b *exportBody) writeBundle(
	ctx context.Context, s ports.Session, exporter *export.Exporter, subject domain.Subject,
) error {
	b.restart()
	separator := []byte{}
	var current domain.ExportRecord // shared by all records, because encoding moves it to the heap
	return exporter.Stream(ctx, s, subject,
		func(bundle domain.ExportBundle) error {
			b.bundle = bundle
			whole, err := encode(bundle)
			if err != nil {
				return err
			}
			head, tail, _ := bytes.Cut(whole, []byte(`"records":[]`)) // not in a string value, where JSON escapes quotes
			b.tail = append([]byte("]"), tail...)
			b.held.Grow(chunk)
			return b.write(append(head, `"records":[`...))
		},
		func(record domain.ExportRecord) error {
			if err := b.write(separator); err != nil {
				return err
			}
			separator = []byte(",")
			current = record
			return b.encode(&current)
		})
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
	body := &exportBody{open: func() io.Writer {
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
		whole = a.export(own, endpoint, subject, body)
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
