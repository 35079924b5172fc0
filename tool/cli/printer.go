package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"text/tabwriter"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
)

// formats has the possible values of the flag --output. The first value is the default.
var formats = []string{"text", "json"}

// printer writes the results of a command. After a failed write, it drops all further output, and the command
// continues. The changes that a command makes must not depend on the reader of its output.
type printer struct {
	w      io.Writer
	json   bool
	colour bool
	width  int // the number of characters of a line
	err    error
}

func newPrinter(w io.Writer, format string) *printer {
	p := &printer{w: w, json: format == "json", width: widthOf(w)}
	if isTerminal(w) {
		p.w = &controlEscaper{w: w}
	}
	p.colour = !p.json && isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return p
}

// Write implements io.Writer.
func (p *printer) Write(text []byte) (n int, err error) {
	if p.err != nil {
		return 0, p.err
	}
	n, p.err = p.w.Write(text)
	return n, p.err
}

// line writes a line of text.
func (p *printer) line(text string) { _, _ = io.WriteString(p, text+"\n") }

// show writes a result as one line of JSON. If the format of the output is text, show calls the function asText
// instead.
func (p *printer) show(result any, asText func()) error {
	if !p.json {
		asText()
		return nil
	}
	encoder := json.NewEncoder(p)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(result); err != nil && p.err == nil {
		return err // the result cannot be encoded
	}
	return nil
}

// end returns the error of a failed write. It returns nil if no write has failed, or if the reader has closed the pipe.
func (p *printer) end() error {
	switch {
	case p.err == nil, readerClosed(p.err):
		return nil
	default:
		return &Error{Code: ExitFailed, Text: "the output cannot be written; the command has finished its work", Err: p.err}
	}
}

// readerClosed reports whether a write failed because the reader has closed the pipe.
func readerClosed(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// colours has the terminal escape sequences for the severities error and warning, for the head of a table, and for the
// steps of an erasure. The steps have the colours of a picture of the data map.
var colours = map[string]string{
	"error": "\x1b[31m", "warning": "\x1b[33m", "head": "\x1b[1m",
	"delete": "\x1b[31m", "anonymize": "\x1b[33m", "retain": "\x1b[34m",
}

// paint returns the text in the colour of a severity, of a step or of the head of a table. The parameter key is a key
// of the map colours. If the output has no colours, paint returns the text unchanged.
func (p *printer) paint(key, text string) string {
	if !p.colour || colours[key] == "" {
		return text
	}
	return colours[key] + text + "\x1b[0m"
}

// problems prints the mistakes of a data map.
func (p *printer) problems(problems []domain.Problem) {
	for _, problem := range problems {
		if where := problem.Where(); where != "" {
			p.line(printable(where))
		}
		problem.Table, problem.Column = "", ""
		p.indented(problem.String(), "  ")
	}
}

// printable replaces control characters, because a terminal could execute them. It keeps line breaks.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// gap is between two columns of a table.
const gap = "  "

// table is a table to print, with short cells: no cell is wrapped. It may have no head.
type table struct {
	head []string
	rows [][]string
}

// table prints a table. A row is a line.
func (p *printer) table(t table) {
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, len(gap), ' ', 0)
	_, _ = fmt.Fprint(w, strings.ToUpper(strings.Join(t.head, "\t")))
	for _, row := range t.rows {
		_, _ = fmt.Fprintln(w)
		for _, cell := range row {
			_, _ = fmt.Fprint(w, oneLine(printable(cell))+"\t")
		}
	}
	_ = w.Flush() // a buffer accepts each write
	for i, line := range strings.Split(text.String(), "\n") {
		line = strings.TrimRight(line, " ")
		if i == 0 && line == "" { // without a head
			continue
		}
		if i == 0 {
			p.line(p.paint("head", line))
			continue
		}
		for _, cell := range t.rows[i-1] { // only now, because a tabwriter would count the letters of a colour
			line = strings.Replace(line, gap+cell+gap, gap+p.paint(cell, cell)+gap, 1)
		}
		p.line(line)
	}
}

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
