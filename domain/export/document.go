package export

import (
	"bytes"
	"context"
	"encoding/json"
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

// Document is the JSON document of an export, a domain.ExportBundle. It buffers a document of up to 1 MiB until the
// session has committed. Until then, a retry can start the document again. It is for one export.
//
// If Open is set, a larger document is streamed. Its last part, the tail, is sent only after the session has committed.
// If the export fails, the tail is missing, so that a client does not take the partial document for a complete one.
type Document struct {
	// Open opens the stream. It is called at most once, in the goroutine of Export. By default, Document buffers a
	// document of any size.
	Open func() io.Writer

	bundle domain.ExportBundle // of the last attempt, without its records
	held   bytes.Buffer        // the part of the document that was not sent yet
	tail   []byte              // the end of the document, sent after the session has committed
	sent   io.Writer           // the stream; nil until it is opened

	repeated bool // true if a part of an earlier attempt was sent
}

// Write writes the JSON document of an export to w, and returns the bundle without its records. It uses one session and
// sets no timeout.
//
// A document of up to 1 MiB is written after the session has committed. A larger document is written while the rows are
// read. The output is complete only if Write returns no error. If w fails, the error wraps the error of w, or
// context.Canceled if w is an *io.PipeWriter. All other errors are those of Stream and of the session factory.
func (e *Exporter) Write(
	ctx context.Context, sessions ports.SessionFactory, subject domain.Subject, w io.Writer,
) (domain.ExportBundle, error) {
	document := &Document{Open: func() io.Writer { return w }}
	if err := document.Export(ctx, sessions, e, subject); err != nil {
		return domain.ExportBundle{}, err
	}
	document.sent = w
	return document.bundle, document.flush()
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

// writeBundle writes the JSON of a domain.ExportBundle, record by record. A session factory may call it more than once,
// because it may retry.
func (d *Document) writeBundle(
	ctx context.Context, s ports.Session, exporter *Exporter, subject domain.Subject,
) error {
	d.restart()
	separator := []byte{}
	var current domain.ExportRecord // shared by all records, because encoding moves it to the heap
	return exporter.Stream(ctx, s, subject,
		func(bundle domain.ExportBundle) error {
			d.bundle = bundle
			var whole bytes.Buffer
			if err := appendJSON(&whole, bundle); err != nil {
				return err
			}
			whole.WriteByte('\n')
			head, tail, _ := bytes.Cut(whole.Bytes(), []byte(`"records":[]`)) // not in a string value, where JSON escapes quotes
			d.tail = append([]byte("]"), tail...)
			d.held.Grow(chunk)
			return d.write(append(head, `"records":[`...))
		},
		func(record domain.ExportRecord) error {
			if err := d.write(separator); err != nil {
				return err
			}
			separator = []byte(",")
			current = record
			return d.encode(&current)
		})
}

// restart prepares for the next attempt of the session factory. If a part of an earlier attempt was already streamed,
// the new attempt cannot succeed. Its first write fails, and the attempt only leaves audit events about the failure.
func (d *Document) restart() {
	d.held.Reset()
	d.repeated = d.sent != nil
}

// encode appends a value as JSON.
func (d *Document) encode(v any) error {
	if err := appendJSON(&d.held, v); err != nil {
		return err
	}
	return d.spill()
}

// write appends bytes.
func (d *Document) write(p []byte) error {
	d.held.Write(p)
	return d.spill()
}

// spill writes the buffer to the stream if the buffer is full. It opens the stream first if necessary.
func (d *Document) spill() error {
	if d.repeated {
		return &domain.Error{Op: "export", Message: "a part was sent, so the export cannot be repeated"}
	}
	if d.Open == nil || d.sent == nil && d.held.Len() <= maxHeld || d.sent != nil && d.held.Len() < chunk {
		return nil
	}
	if d.sent == nil {
		d.sent = d.Open()
	}
	return d.flush()
}

func (d *Document) flush() error {
	_, err := d.held.WriteTo(d.sent)
	if err == nil {
		return nil
	}
	if _, piped := d.sent.(*io.PipeWriter); piped { // its write fails if the reader was closed
		return &domain.Error{Op: "export", Message: "the client has gone, or took too long", Err: context.Canceled}
	}
	return &domain.Error{Op: "export", Message: "the copy cannot be written", Err: err}
}

// end appends the tail, which is the end of the document, to the buffer. If the document is streamed, end sends the
// buffer. The caller must call end only after the session has committed.
func (d *Document) end() error {
	d.held.Write(d.tail)
	if d.sent == nil {
		return nil
	}
	return d.flush()
}

// appendJSON appends the JSON of v to body, without a final newline.
func appendJSON(body *bytes.Buffer, v any) error {
	encoder := json.NewEncoder(body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	body.Truncate(body.Len() - 1)
	return nil
}
