package replay

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/habeas-data/habeas/domain"
)

// longestLine is the maximum size of a line in bytes. The line of an id is far shorter, however the id is escaped.
const longestLine = 64 << 10

// reader reads journal entries from lines.
type reader struct {
	from          *bufio.Reader
	lines, broken int64
	number        int64  // number of the current line, counted from the beginning
	first         int64  // number of the first broken line
	suspect       int64  // number of a line that is broken unless it was cut off; 0 if there is none
	line          []byte // reused
}

func newReader(lines io.Reader) *reader {
	return &reader{from: bufio.NewReaderSize(lines, longestLine)}
}

// next returns up to limit entries. If a subject has several of them, next returns its latest erasure. At the end, next
// returns no entries.
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

// read returns the entry of the next line. ok is false if the line has no entry. At the end, the error is io.EOF.
func (r *reader) read() (entry domain.JournalEntry, ok bool, err error) {
	whole, err := r.readLine()
	switch {
	case err == nil, errors.Is(err, io.EOF) && len(r.line) > 0: // the last line may lack its line feed
	case errors.Is(err, io.EOF):
		r.confirm()
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
		if r.suspect > 0 {
			r.suspect = 0
			r.lines--
		}
		return domain.JournalEntry{}, false, nil
	case err == nil:
		r.confirm()
		r.lines++
		return entry, true, nil
	case !whole: // the cut end of a journal to which no process has appended since
		r.confirm()
		return domain.JournalEntry{}, false, nil
	}
	r.confirm()
	r.lines++
	r.suspect = r.number
	return domain.JournalEntry{}, false, nil
}

// confirm counts the suspect line as broken.
func (r *reader) confirm() {
	if r.suspect == 0 {
		return
	}
	if r.broken == 0 {
		r.first = r.suspect
	}
	r.broken++
	r.suspect = 0
}

// readLine reads a line and reports whether it ends with a line feed. It keeps only the beginning of a line that is too
// long. Such a line is then not a valid entry.
func (r *reader) readLine() (whole bool, err error) {
	r.line = r.line[:0]
	r.number++
	for {
		part, err := r.from.ReadSlice('\n')
		if len(r.line) < longestLine {
			r.line = append(r.line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return err == nil, err
	}
}

// damage returns the error for broken lines.
func (r *reader) damage() error {
	return &domain.Error{
		Code: domain.ErrInvalid, Op: "replay",
		Message: "broken lines: " + strconv.FormatInt(r.broken, 10) + "; the first one is line " +
			strconv.FormatInt(r.first, 10),
	}
}
