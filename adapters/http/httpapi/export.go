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

// export runs the export in one session and writes it into body. It returns the response, whose Body is the document
// unless the document was sent as a stream.
func (a *API) export(
	ctx context.Context, endpoint Endpoint, subject domain.Subject, body *exportBody,
) (response Response) {
	defer a.recovered(ctx, endpoint, &response) // also of the goroutine of a stream
	err := body.export(ctx, a.config.Sessions, a.config.Export, subject)
	if err != nil {
		return a.failed(ctx, endpoint, err)
	}
	return Response{Status: http.StatusOK, Header: successHeader, Body: body.held.Bytes()}
}

// WriteExport writes the body of GET /export to w outside of a request, and returns the bundle without its records. It
// runs in one session without a timeout of its own. It holds back 1 MiB; a larger body is written while the rows are
// read, and a copy of it is complete only if WriteExport returns nil. An error of w is wrapped. Other errors are those
// of Exporter.Export and of the session factory.
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

// writeBundle writes the bundle record by record. Its JSON is that of a domain.ExportBundle. A session factory may call
// it more than once.
func (b *exportBody) writeBundle(
	ctx context.Context, s ports.Session, exporter *export.Exporter, subject domain.Subject,
) error {
	b.restart()
	separator := []byte{}
	var current domain.ExportRecord // one for all: encoding moves it to the heap
	return exporter.Stream(ctx, s, subject,
		func(bundle domain.ExportBundle) error {
			b.bundle = bundle
			whole, err := encode(bundle)
			if err != nil {
				return err
			}
			head, tail, _ := bytes.Cut(whole, []byte(`"records":[]`)) // no string holds that: quotes are escaped
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
	var pipe *io.PipeWriter // nil while everything is held
	body := &exportBody{open: func() io.Writer {
		var rest *io.PipeReader
		rest, pipe = io.Pipe()
		stopFollowing()
		context.AfterFunc(own, func() { breakOff(pipe) }) // a client that reads too slowly is not waited for
		response <- Response{Status: http.StatusOK, Header: successHeader, Stream: stream{rest, own, cancel, ended}}
		return pipe
	}}
	go func() {
		defer close(ended)
		defer cancel()
		whole := internalError.response() // unless a store ends the goroutine, as a failing test does
		whole.outcome = domain.OutcomePanic
		defer func() {
			if pipe == nil {
				response <- whole
				return
			}
			ended := whole.ended()
			ended.Status = http.StatusOK // which was sent
			observed.End(ended)
		}()
		whole = a.export(own, endpoint, subject, body)
		switch {
		case pipe == nil:
		case whole.Status == http.StatusOK:
			_ = pipe.Close() // which never fails
		default:
			breakOff(pipe)
		}
	}()
	return <-response
}

// breakOff makes a stream fail, unless it has ended. Servers log the error of the stream, so it has no details.
func breakOff(pipe *io.PipeWriter) { _ = pipe.CloseWithError(io.ErrUnexpectedEOF) }

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
