package cli

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"unicode"

	"github.com/habeas-data/habeas/domain"
)

// formats are the words of --output. The first one is the default.
var formats = []string{"text", "json"}

// printer writes results. After a write that failed it writes nothing more, and the verb goes on: what a verb changes
// does not depend on its reader.
type printer struct {
	w      io.Writer
	json   bool
	colour bool
	err    error
}

func newPrinter(w io.Writer, format string) *printer {
	p := &printer{w: w, json: format == "json"}
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

// show writes a result: as a document in JSON on a line of its own, or by the function for people.
func (p *printer) show(result any, forPeople func()) error {
	if !p.json {
		forPeople()
		return nil
	}
	encoder := json.NewEncoder(p)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(result); err != nil && p.err == nil {
		return err // of the encoding
	}
	return nil
}

// end returns the error of the output, if there is any. A reader that has gone needs no message.
func (p *printer) end() error {
	switch {
	case p.err == nil, hasGone(p.err):
		return nil
	default:
		return &Error{Code: ExitFailed, Text: "the output cannot be written; the verb has done its work", Err: p.err}
	}
}

// hasGone reports whether a write failed because the reader has closed the pipe.
func hasGone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// colours are the sequences of a terminal for words.
var colours = map[string]string{"error": "\x1b[31m", "warning": "\x1b[33m", "head": "\x1b[1m"}

// paint colours a text as a word is coloured, on a terminal.
func (p *printer) paint(word, text string) string {
	if !p.colour || colours[word] == "" {
		return text
	}
	return colours[word] + text + "\x1b[0m"
}

// problems prints the mistakes of a data map.
func (p *printer) problems(problems []domain.Problem) {
	if len(problems) == 0 {
		return
	}
	t := table{head: []string{"place", "mistake"}}
	for _, problem := range problems {
		where := problem.Where()
		problem.Table, problem.Column = "", ""
		t.rows = append(t.rows, []string{where, problem.String()})
	}
	p.table(t)
}

// printable replaces what could control a terminal. Line breaks stay if several lines are allowed.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
