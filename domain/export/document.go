package export

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

const (
	// maxHeld is the maximum size in bytes of an export that is buffered completely. A larger export is streamed.
	maxHeld = 1 << 20
	// chunk is the size in bytes at which the buffer of a streamed export is written to the stream.
	chunk = 32 << 10
)

// Document is the document of an export. It buffers a document of up to 1 MiB until the session has committed. Until
// then, a retry can start the document again. It is for one export.
//
// If Open is set, a larger document is streamed. Its last part, the tail, is sent only after the session has committed.
// If the export fails, the tail is missing, so that a client does not take the partial document for a complete one.
type Document struct {
	// Open opens the stream. It is called at most once, in the goroutine of Export, and its error ends the export. A
	// stream that waits for its reader holds the session, see Spool. By default, Document buffers a document of any size.
	Open func() (io.Writer, error)
	// Encode returns the encoder of the document, for each attempt a new one. The default is NewJSON.
	Encode func(w io.Writer) Encoder

	encoder Encoder             // of the last attempt
	bundle  domain.ExportBundle // of the last attempt, without its records
	held    bytes.Buffer        // the part of the document that was not sent yet
	sent    io.Writer           // the stream; nil until it is opened
	ended   bool                // the session has committed

	repeated bool // true if a part of an earlier attempt was sent
}

// Write writes the JSON document of an export to w, and returns the bundle without its records. It uses one session and
// sets no timeout.
//
// A document of up to 1 MiB is written after the session has committed. A larger document is written while the rows are
// read, through a Spool and in another goroutine, so that a slow w does not hold the session. Write returns after the
// last call of w. The output is complete only if Write returns no error. If w fails, the error wraps the error of w,
// and context.Canceled if w returned io.ErrClosedPipe. All other errors are those of Stream and of the session factory.
func (e *Exporter) Write(
	ctx context.Context, sessions ports.SessionFactory, subject domain.Subject, w io.Writer,
) (domain.ExportBundle, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	spool := e.NewSpool()
	defer func() { _ = spool.Close() }() // returns nil
	document, copied := &Document{}, make(chan error, 1)
	document.Open = func() (io.Writer, error) {
		if err := spool.Open(); err != nil {
			return nil, err
		}
		go func() {
			_, err := io.Copy(w, spool)
			if err != nil {
				_ = spool.Close() // always returns nil
				cancel()
			}
			copied <- err
		}()
		return spool, nil
	}
	err := document.Export(ctx, sessions, e, subject)
	var failed error
	switch {
	case document.sent == nil && err == nil:
		_, failed = document.held.WriteTo(w)
	case document.sent != nil && err == nil:
		spool.End()
		failed = <-copied
	case document.sent != nil:
		_ = spool.Close() // always returns nil
		failed = <-copied
	}
	if failed != nil && (err == nil || !errors.Is(failed, io.ErrUnexpectedEOF)) { // that error is of the closed spool
		err = writeError(failed)
	}
	if err != nil {
		return domain.ExportBundle{}, err
	}
	return document.bundle, nil
}

// Export runs the export in one session.
func (d *Document) Export(
	ctx context.Context, sessions ports.SessionFactory, exporter *Exporter, subject domain.Subject,
) error {
	err := sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		return d.writeBundle(ctx, s, exporter, subject)
	})
	if err == nil {
		err = d.end()
	}
	return err
}

// Bytes returns the document after Export, or nothing if it was streamed.
func (d *Document) Bytes() []byte { return d.held.Bytes() }

// writeBundle writes the document without its end, record by record. A session factory may call it more than once,
// because it may retry.
func (d *Document) writeBundle(
	ctx context.Context, s ports.Session, exporter *Exporter, subject domain.Subject,
) error {
	d.restart()
	return exporter.Stream(ctx, s, subject,
		func(bundle domain.ExportBundle) error {
			d.bundle = bundle
			d.held.Grow(chunk)
			return d.encoder.Begin(bundle)
		},
		func(record domain.ExportRecord) error { return d.encoder.Record(record) })
}

// restart prepares for the next attempt of the session factory. If a part of an earlier attempt was already streamed,
// the new attempt cannot succeed. Its first write fails, and the attempt only leaves audit events about the failure.
func (d *Document) restart() {
	d.held.Reset()
	d.repeated = d.sent != nil
	encode := d.Encode
	if encode == nil {
		encode = NewJSON
	}
	d.encoder = encode(encoded{d})
}

// encoded receives what the encoder of a document writes.
type encoded struct{ *Document }

func (e encoded) Write(p []byte) (int, error) {
	e.held.Write(p)
	return len(p), e.spill()
}

// spill writes the buffer to the stream if the buffer is full. It opens the stream first if necessary.
func (d *Document) spill() error {
	if d.repeated {
		return &domain.Error{Op: "export", Message: "a part was sent, so the export cannot be repeated"}
	}
	if d.Open == nil || d.ended || d.sent == nil && d.held.Len() <= maxHeld || d.sent != nil && d.held.Len() < chunk {
		return nil
	}
	if d.sent == nil {
		stream, err := d.Open()
		if err != nil {
			return err
		}
		d.sent = stream
	}
	return d.flush()
}

func (d *Document) flush() error {
	if _, err := d.held.WriteTo(d.sent); err != nil {
		return writeError(err)
	}
	if d.held.Cap() > 2*chunk {
		d.held = bytes.Buffer{} // frees the memory, because the export may last
	}
	return nil
}

// writeError returns the error for an error of the reader's side. An error of a Spool is returned unchanged.
func writeError(err error) error {
	var known *domain.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, io.ErrClosedPipe): // the reader was closed
		return &domain.Error{
			Op: "export", Message: "the client has gone, or took too long", Err: errors.Join(context.Canceled, err),
		}
	default:
		return &domain.Error{Op: "export", Message: "the copy cannot be written", Err: err}
	}
}

// end writes the end of the document. If the document is streamed, end sends the buffer. The caller must call end only
// after the session has committed.
func (d *Document) end() error {
	d.ended = true
	if d.encoder == nil { // the session factory has not called the function
		return nil
	}
	if err := d.encoder.End(); err != nil || d.sent == nil {
		return err
	}
	return d.flush()
}
