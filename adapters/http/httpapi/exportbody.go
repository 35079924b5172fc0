package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/habeas-data/habeas/domain"
)

const (
	// maxHeld is the maximum size in bytes of an export that is buffered completely. A larger export is streamed.
	maxHeld = 1 << 20
	// chunk is the size in bytes at which the buffer of a streamed export is written to the stream.
	chunk = 32 << 10
)

// exportBody collects the JSON document of an export. It buffers a document of up to maxHeld bytes until the session
// has committed. Until then, a retry can start the document again, and a failure can still set the status of the
// response.
//
// A larger document is streamed. Its last part, the tail, is sent only after the session has committed. If the export
// fails, the tail is missing, so that a client does not take the partial document for a complete one.
type exportBody struct {
	bundle domain.ExportBundle // of the last attempt, without its records
	held   bytes.Buffer        // the part of the document that was not sent yet
	tail   []byte              // the end of the document, sent after the session has committed
	open   func() io.Writer    // opens the stream; nil means that no document is streamed
	sent   io.Writer           // the stream; nil until it is opened

	repeated bool // true if a part of an earlier attempt was sent
}

// restart prepares for the next attempt of the session factory. If a part of an earlier attempt was already streamed,
// the new attempt cannot succeed. Its first write fails, and the attempt only leaves audit events about the failure.
func (b *exportBody) restart() {
	b.held.Reset()
	b.repeated = b.sent != nil
}

// encode appends a value as JSON.
func (b *exportBody) encode(v any) error {
	if err := appendJSON(&b.held, v); err != nil {
		return err
	}
	return b.spill()
}

// write appends bytes.
func (b *exportBody) write(p []byte) error {
	b.held.Write(p)
	return b.spill()
}

// spill writes the buffer to the stream if the buffer is full. It opens the stream first if necessary.
func (b *exportBody) spill() error {
	if b.repeated {
		return &domain.Error{Op: "export", Message: "a part was sent, so the export cannot be repeated"}
	}
	if b.open == nil || b.sent == nil && b.held.Len() <= maxHeld || b.sent != nil && b.held.Len() < chunk {
		return nil
	}
	if b.sent == nil {
		b.sent = b.open()
	}
	return b.flush()
}

func (b *exportBody) flush() error {
	_, err := b.held.WriteTo(b.sent)
	if err == nil {
		return nil
	}
	if _, piped := b.sent.(*io.PipeWriter); piped { // its write fails if the reader was closed
		return &domain.Error{Op: "export", Message: "the client has gone, or took too long", Err: context.Canceled}
	}
	return &domain.Error{Op: "export", Message: "the copy cannot be written", Err: err}
}

// end appends the tail, which is the end of the document, to the buffer. If the document is streamed, end sends the
// buffer. The caller must call end only after the session has committed.
func (b *exportBody) end() error {
	b.held.Write(b.tail)
	if b.sent == nil {
		return nil
	}
	return b.flush()
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

// encode returns the JSON of v, followed by a newline.
func encode(v any) ([]byte, error) {
	line, _ := lines.Get().(*bytes.Buffer)
	defer func() {
		if line.Cap() <= maxLine {
			line.Reset()
			lines.Put(line)
		}
	}()
	encoder := json.NewEncoder(line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.Clone(line.Bytes()), nil
}

// lines is a pool of the buffers that encode uses. A buffer with more than maxLine bytes is not put back.
var lines = sync.Pool{New: func() any { return &bytes.Buffer{} }}

const maxLine = 16 << 10
