package cli

import (
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// controlEscaper writes to a terminal. In place of DEL, the characters from U+0080 to U+009F, which a terminal could
// execute, and the format characters (category Cf), which reorder or hide others, it writes their escapes in JSON. In
// JSON documents, these characters stand only in strings. An encoder of JSON escapes all other control characters.
type controlEscaper struct {
	w    io.Writer
	held []byte // the begin of a character; it is not written yet
}

// Write implements io.Writer.
func (e *controlEscaper) Write(text []byte) (n int, err error) {
	var escaped bytes.Buffer
	rest := append(e.held, text...)
	for utf8.FullRune(rest) {
		r, size := utf8.DecodeRune(rest)
		if r == 0x7F || r >= 0x80 && r <= 0x9F || unicode.Is(unicode.Cf, r) {
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&escaped, `\u%04x`, unit)
			}
		} else {
			escaped.Write(rest[:size])
		}
		rest = rest[size:]
	}
	e.held = rest
	if _, err := e.w.Write(escaped.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}
