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
	// maxHeld is how many bytes of an export are held back. A larger export is streamed.
	maxHeld = 1 << 20
	// chunk is how many bytes of a stream are sent at once.
	chunk = 32 << 10
)

// exportBody is the body of an export while it is written. It is held until the session has committed, so that an
// attempt can be repeated and a failure can have a status. A body over maxHeld is streamed. A failure then ends the
// stream before the tail of the body, so that no client takes a part for the whole.
type exportBody struct {
	bundle domain.ExportBundle // of the last attempt, without its records
	held   bytes.Buffer
	tail   []byte           // the end of the body, sent after the session has committed
	open   func() io.Writer // returns the stream if there has to be one; nil if there must be none
	sent   io.Writer        // the stream, nil while everything is held

	repeated bool // a part of an earlier attempt was sent
}

// restart is called before each attempt. After a part was sent, another attempt cannot succeed: it runs for its
// evidence only, and its first write fails.
func (b *exportBody) restart() {
	b.held.Reset()
	b.repeated = b.sent != nil
}

// encode adds a value as JSON.
func (b *exportBody) encode(v any) error {
	if err := appendJSON(&b.held, v); err != nil {
		return err
	}
	return b.spill()
}

// write adds bytes.
func (b *exportBody) write(p []byte) error {
	b.held.Write(p)
	return b.spill()
}

// spill sends the bytes that are too many to be held.
func (b *exportBody) spill() error {
	if b.repeated {
		return &domain.Error{Op: "export", Message: "a part was sent, which cannot be repeated"}
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
	if _, piped := b.sent.(*io.PipeWriter); piped { // which fails when its other end was closed
		return &domain.Error{Op: "export", Message: "the client has gone, or took too long", Err: context.Canceled}
	}
	return &domain.Error{Op: "export", Message: "the copy cannot be written", Err: err}
}

// end completes the body. The session has committed.
func (b *exportBody) end() error {
	b.held.Write(b.tail)
	if b.sent == nil {
		return nil
	}
	return b.flush()
}

// appendJSON encodes v without a line break at its end.
func appendJSON(body *bytes.Buffer, v any) error {
	encoder := json.NewEncoder(body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	body.Truncate(body.Len() - 1)
	return nil
}

// encode encodes v as a line.
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

// lines has the buffers of encode, to be used again. maxLine is how many bytes a buffer may have.
var lines = sync.Pool{New: func() any { return &bytes.Buffer{} }}

const maxLine = 16 << 10
