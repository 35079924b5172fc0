package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/ports"
)

// export runs the export in one session and writes the document to the parameter document. If it has buffered
// the complete document, Response.Body is this document.
//
// Exports of one person wait for each other: each one calls all external systems.
func (a *API) export(
	ctx context.Context, endpoint Endpoint, subject domain.Subject, document *export.Document,
) (response Response) {
	defer a.recovered(ctx, endpoint, &response) // export also runs in the goroutine of a stream
	leave, err := a.exports.Enter(ctx, subject.ID.String())
	if err != nil {
		return a.failed(ctx, endpoint, err)
	}
	defer leave()
	document.Encode = endpoint.format.encode
	if err := document.Export(a.asRequest(ctx), a.config.Sessions, a.config.Export, subject); err != nil {
		return a.failed(ctx, endpoint, err)
	}
	return Response{Status: http.StatusOK, Header: endpoint.format.header, Body: document.Bytes()}
}

// exportStream runs the export in a new goroutine. If the complete document fits into the buffer, exportStream returns
// a response with a Body. Otherwise it returns a response with a Stream as soon as the buffer is full, or if the
// request needs a length, as soon as the document is complete. The goroutine writes the document into a spool, so that
// it does not wait for the client.
func (a *API) exportStream(
	ctx context.Context, endpoint Endpoint, subject domain.Subject, observed ports.RunningActivity, r Request,
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
	response, body := make(chan Response, 1), newStream(own, cancel, a.config.Export.NewSpool(), observed)
	opened, sent := false, false
	send := func(length int64) {
		sent = true
		stopFollowing()
		go body.watch(deadline, r.Shutdown, r.SetWriteDeadline)
		response <- Response{Status: http.StatusOK, Header: endpoint.format.header, Stream: body, Length: length}
	}
	document := &export.Document{Open: func() (io.Writer, error) {
		err := body.Open()
		if opened = err == nil; opened && !r.NeedsLength {
			send(0)
		}
		return body.Spool, err
	}}
	go func() {
		defer close(body.ended)
		defer cancel()
		body.whole = internalError.response() // kept if a store ends the goroutine, for example by t.FailNow
		body.whole.outcome = domain.OutcomePanic
		defer func() {
			if isComplete := opened && body.whole.Status == http.StatusOK; isComplete {
				body.End()
				if !sent {
					send(body.Length())
				}
				return
			}
			_ = body.Spool.Close() // always returns nil
			if !sent {
				response <- body.whole
			}
		}()
		body.whole = a.export(own, endpoint, subject, document)
	}()
	return <-response
}
