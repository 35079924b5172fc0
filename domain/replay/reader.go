package replay

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/habeas-data/habeas/domain"
)

// maxLine is the number of bytes of a line that a reader keeps. The line of a valid entry is far shorter, even if every
// character of the id is escaped.
const maxLine = 64 << 10

// reader reads journal entries from lines.
type reader struct {
	from          *bufio.Reader
	lines, broken int64
	number        int64  // number of the current line, counted from the beginning
	first         int64  // number of the first broken line; 0 if there is none
	unconfirmed   int64  // number of an invalid line that the next line may report as cut off; 0 if there is none
	line          []byte // the current line; its memory is reused
}

func newReader(lines io.Reader) *reader {
	return &reader{from: bufio.NewReaderSize(lines, maxLine)}
}

// next returns up to limit entries of the journal, with different subjects. If the lines that it reads have several
// entries of a subject, next returns the latest erasure. It returns no entries after the last line.
func (r *reader) next(limit int) (batch []domain.JournalEntry, err error) {
	at := map[domain.SubjectID]int{}
	for len(batch) < limit {
		entry, ok, err := r.read()
		if errors.Is(err, io.EOF) {
			return batch, nil
		}
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		i, known := at[entry.SubjectID]
		switch {
		case !known:
			at[entry.SubjectID] = len(batch)
			batch = append(batch, entry)
		case batch[i].ErasedAt.Before(entry.ErasedAt):
			batch[i] = entry
		}
	}
	return batch, nil
}

// read returns the entry of the next line, or false if the line has no valid entry. After the last line, the error is
// io.EOF.
func (r *reader) read() (entry domain.JournalEntry, ok bool, err error) {
	terminated, err := r.readLine()
	switch {
	case err == nil, errors.Is(err, io.EOF) && len(r.line) > 0: // the last line may lack its line feed
	case errors.Is(err, io.EOF):
		r.countBroken()
		return domain.JournalEntry{}, false, io.EOF
	default:
		return domain.JournalEntry{}, false, &domain.Error{Op: "replay", Message: "the lines cannot be read", Err: err}
	}
	if len(bytes.TrimSpace(r.line)) == 0 {
		return domain.JournalEntry{}, false, nil
	}
	entry, cut, err := domain.ParseJournalLine(r.line)
	switch {
	case cut:
		if r.unconfirmed > 0 {
			r.unconfirmed = 0
			r.lines--
		}
		return domain.JournalEntry{}, false, nil
	case err == nil:
		r.countBroken()
		r.lines++
		return entry, true, nil
	case !terminated: // the last line was cut off, and no process has appended a line after it
		r.countBroken()
		return domain.JournalEntry{}, false, nil
	}
	r.countBroken()
	r.lines++
	r.unconfirmed = r.number
	return domain.JournalEntry{}, false, nil
}

// countBroken counts the previous line as broken if it was invalid. It is called after the current line was read,
// because the current line may report that the previous line was cut off. A line that was cut off is not broken.
func (r *reader) countBroken() {
	if r.unconfirmed == 0 {
		return
	}
	if r.broken == 0 {
		r.first = r.unconfirmed
	}
	r.broken++
	r.unconfirmed = 0
}

// readLine reads a line and reports whether it ends with a line feed. It keeps only the beginning of a line that is
// longer than maxLine. Such a line is not a valid entry.
func (r *reader) readLine() (terminated bool, err error) {
	r.line = r.line[:0]
	r.number++
	for {
		part, err := r.from.ReadSlice('\n')
		if len(r.line) < maxLine {
			r.line = append(r.line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return err == nil, err
	}
}

func (r *reader) damage() error {
	return &domain.Error{
		Code: domain.ErrInvalid, Op: "replay",
		Message: "broken lines: " + strconv.FormatInt(r.broken, 10) + "; the first one is line " +
			strconv.FormatInt(r.first, 10),
	}
}
