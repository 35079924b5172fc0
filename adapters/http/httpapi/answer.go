package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/habeas-data/habeas/domain"
)

const (
	// maxHeld is how many bytes of an export are held back. One that is larger is streamed.
	maxHeld = 1 << 20
	// chunk is how many bytes of a stream are sent at once.
	chunk = 32 << 10
)

// answer is the body of a success on its way. It is held until the session has committed, so that an attempt can be
// repeated, and a failure answered with its status. What is too much to be held is streamed, and then a failure breaks the
// stream off before its tail, without which no client can take it for whole.
type answer struct {
	held   bytes.Buffer
	tail   []byte               // what ends it, once the session has committed
	stream func(*io.PipeReader) // takes the stream when there has to be one; nil where there must be none
	pipe   *io.PipeWriter       // nil while all is held

	repeated bool // this attempt comes after one of which a part was sent
}

// restart is called before each attempt. Of one that comes after a part was sent only the evidence counts: it fails with
// its first byte.
func (a *answer) restart() {
	a.held.Reset()
	a.repeated = a.pipe != nil
}

// encode adds a value as JSON.
func (a *answer) encode(v any) error {
	if err := appendJSON(&a.held, v); err != nil {
		return err
	}
	return a.spill()
}

// write adds bytes.
func (a *answer) write(p []byte) error {
	a.held.Write(p)
	return a.spill()
}

// spill hands on what is too much to be held.
func (a *answer) spill() error {
	if a.repeated {
		return &domain.Error{Op: "answer", Message: "a part was sent, which cannot be repeated"}
	}
	if a.stream == nil || a.pipe == nil && a.held.Len() <= maxHeld || a.pipe != nil && a.held.Len() < chunk {
		return nil
	}
	if a.pipe == nil {
		body, pipe := io.Pipe()
		a.pipe = pipe
		a.stream(body)
	}
	return a.flush()
}

func (a *answer) flush() error {
	_, err := a.held.WriteTo(a.pipe)
	if err != nil { // a pipe fails when its other end was closed
		return &domain.Error{Op: "answer", Message: "the client has gone, or took too long", Err: context.Canceled}
	}
	return nil
}

// end completes the answer, or breaks a stream off with the error.
func (a *answer) end(err error) error {
	if a.pipe == nil {
		return err
	}
	if err == nil {
		a.held.Write(a.tail)
		err = a.flush()
	}
	if err != nil {
		a.breakOff()
		return err
	}
	return a.pipe.Close()
}

// body is the answer that was held as a whole.
func (a *answer) body() []byte {
	if a.held.Len() == 0 {
		return a.tail
	}
	a.held.Write(a.tail)
	return a.held.Bytes()
}

// breakOff makes the stream fail, unless it has ended. Servers log its error, so it is not ours.
func (a *answer) breakOff() { _ = a.pipe.CloseWithError(io.ErrUnexpectedEOF) }

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
	var body bytes.Buffer
	err := appendJSON(&body, v)
	body.WriteByte('\n')
	return body.Bytes(), err
}
