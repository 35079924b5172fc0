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
	// maxHeld is the size up to which an export is buffered, in bytes. A larger export is streamed.
	maxHeld = 1 << 20
	// chunk is the size from which the buffer of a stream is written out, in bytes.
	chunk = 32 << 10
)

// exportBody buffers the body of an export until the session has committed, so that an attempt can be repeated and a
// failure can have a status. A body larger than maxHeld is streamed. If the export then fails, the stream ends before
// the tail of the body, so that no client takes a partial document for a complete one.
type exportBody struct {
	bundle domain.ExportBundle // of the last attempt, without its records
	held   bytes.Buffer        // not sent yet
	tail   []byte              // the end of the body, sent after the session has committed
	open   func() io.Writer    // opens the stream; nil means that the body is always buffered completely
	sent   io.Writer           // the stream, nil until the body is streamed

	repeated bool // a part of an earlier attempt was sent
}

// restart prepares for an attempt. If a part of an earlier attempt was sent, the new attempt cannot succeed: its first
// write fails, and the attempt only leaves its evidence.
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

// spill writes the buffer to the stream if the buffer is full.
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

// end appends the tail and sends the rest of a stream. The caller calls it after the session has committed.
func (b *exportBody) end() error {
	b.held.Write(b.tail)
	if b.sent == nil {
		return nil
	}
	return b.flush()
}

// appendJSON appends the JSON of v, without the final newline.
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

// lines pools the buffers of encode. Buffers larger than maxLine bytes do not return to the pool.
var lines = sync.Pool{New: func() any { return &bytes.Buffer{} }}

const maxLine = 16 << 10
