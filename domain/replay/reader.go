package replay

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/habeas-data/habeas/domain"
)

// maxLine is the number of bytes of a line that a reader keeps. The line of a valid entry is far shorter, even if every
// character of the id is escaped.
const maxLine = 64 << 10

// reader reads journal entries from lines.
type reader struct {
	from          *bufio.Reader
	sign          func([]byte) []byte // signs a line; nil if lines need no signature
	lines, broken int64
	number        int64  // number of the current line, counted from the beginning
	first         broken // the first broken line
	unconfirmed   broken // an invalid line that the next line may report as cut off
	cut           broken // a line that was cut off and has no entry after it
	line          []byte // the current line; its memory is reused
}

// broken is a line without a valid entry. The zero value is no line.
type broken struct {
	number  int64
	problem string
}

func newReader(lines io.Reader, sign func([]byte) []byte) *reader {
	return &reader{from: bufio.NewReaderSize(lines, maxLine), sign: sign}
}

// read returns the entry of the next line, or false if the line has no valid entry. After the last line, the error is
// io.EOF.
func (r *reader) read() (entry domain.JournalEntry, ok bool, err error) {
	err = r.readLine()
	switch {
	case err == nil, errors.Is(err, io.EOF) && len(r.line) > 0: // the last line may lack its line feed
	case errors.Is(err, io.EOF):
		r.countBroken()
		if r.cut.number > 0 { // the entry was not repeated
			r.lines++
			r.unconfirmed, r.cut = r.cut, broken{}
			r.countBroken()
		}
		return domain.JournalEntry{}, false, io.EOF
	default:
		return domain.JournalEntry{}, false, &domain.Error{Op: "replay", Message: "the lines cannot be read", Err: err}
	}
	if len(bytes.TrimSpace(r.line)) == 0 {
		return domain.JournalEntry{}, false, nil
	}
	entry, cut, err := domain.ParseSignedLine(r.line, r.sign)
	switch {
	case cut:
		if r.unconfirmed.number > 0 {
			r.cut, r.unconfirmed = r.unconfirmed, broken{}
			r.lines--
		}
		return domain.JournalEntry{}, false, nil
	case err == nil:
		r.countBroken()
		r.cut = broken{}
		r.lines++
		return entry, true, nil
	}
	r.countBroken()
	r.lines++
	r.unconfirmed = broken{number: r.number}
	if refused := (*domain.Error)(nil); errors.As(err, &refused) {
		r.unconfirmed.problem = refused.Message
	}
	return domain.JournalEntry{}, false, nil
}

// countBroken counts the previous line as broken if it was invalid. It is called after the current line was read,
// because the current line may report that the previous line was cut off. A line that was cut off is not broken.
func (r *reader) countBroken() {
	if r.unconfirmed.number == 0 {
		return
	}
	if r.broken == 0 || r.unconfirmed.number < r.first.number {
		r.first = r.unconfirmed
	}
	r.broken++
	r.unconfirmed = broken{}
}

// readLine reads a line. It keeps only the beginning of a line that is longer than maxLine. Such a line is not a valid
// entry.
func (r *reader) readLine() error {
	r.line = r.line[:0]
	r.number++
	for {
		part, err := r.from.ReadSlice('\n')
		if len(r.line) < maxLine {
			r.line = append(r.line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}
