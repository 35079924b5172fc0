package cli

import (
	"bytes"
	"fmt"
	"io"
)

// controlEscaper writes to a terminal. In place of DEL and the characters from U+0080 to U+009F, which a terminal could
// execute, it writes their escapes in JSON. In JSON documents, these characters stand only in strings. An encoder of
// JSON escapes all other control characters.
type controlEscaper struct {
	w    io.Writer
	held bool // the last byte was leadOfControls; it is not written yet
}

// leadOfControls is the first of the two bytes of each character from U+0080 to U+00BF in UTF-8.
const leadOfControls = 0xC2

// Write implements io.Writer.
func (e *controlEscaper) Write(text []byte) (n int, err error) {
	var escaped bytes.Buffer
	for _, b := range text {
		follows := e.held
		e.held = b == leadOfControls
		switch {
		case follows && b >= 0x80 && b <= 0x9F, b == 0x7F:
			fmt.Fprintf(&escaped, `\u%04x`, b)
			continue
		case follows:
			escaped.WriteByte(leadOfControls)
		}
		if !e.held {
			escaped.WriteByte(b)
		}
	}
	if _, err := e.w.Write(escaped.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}
