// Package journal copies the list of erasures from a database to a place outside of it. If the database is restored
// from a backup, package replay reads the journal and erases the listed subjects again. See [Writer] and [Write].
package journal

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/positions"
	"github.com/habeas-data/habeas/ports"
)

// defaultBatch is the default of Config.Batch.
const defaultBatch = 1000

// Config holds the dependencies and the options of a Writer. Sessions and Journal are required.
type Config struct {
	Sessions ports.SessionFactory
	Journal  ports.Journal

	// Batch is the maximum number of lines in one call of Journal.Append. The default is 1,000.
	Batch int

	// Patience is the age at which an erasure must have a line. The default 0 means no limit. A Patience needs a Clock.
	Patience time.Duration
	Clock    ports.Clock

	// Sign signs the lines (see domain.JournalEntry.AppendSigned). The default is no signature.
	Sign func(line []byte) []byte
}

// Writer appends a line to a journal for each erasure that the database records, in the order of recording. Writer is
// safe for concurrent use by several goroutines and processes.
//
// If the journal has the line of an erasure, it also has the line of each earlier erasure, with one exception: if a
// subject is erased again before the line of its first erasure is appended, only the second erasure gets a line. A line
// may be in the journal more than once.
//
// The database stores the position of the writer, that is, the last erasure in the journal. After a restore, the
// position is that of the backup. The writer therefore repeats some lines and omits no line.
type Writer struct {
	sessions ports.SessionFactory
	journal  ports.Journal
	reader   string
	batch    int
	patience time.Duration
	clock    ports.Clock
	sign     func([]byte) []byte
}

// NewWriter returns a writer. It returns domain.ErrConfiguration if a field is missing or invalid.
func NewWriter(c Config) (*Writer, error) {
	const longest = 200
	switch {
	case c.Sessions == nil || c.Journal == nil:
		return nil, domain.Misconfigured("journal", "Sessions and Journal are required")
	case c.Batch < 0 || c.Patience < 0:
		return nil, domain.Misconfigured("journal", "Batch and Patience must not be negative")
	case c.Patience > 0 && c.Clock == nil:
		return nil, domain.Misconfigured("journal", "Patience needs a Clock")
	case len(domain.CheckText("name", c.Journal.Name(), 1)) > 0 || len([]rune(c.Journal.Name())) > longest:
		return nil, domain.Misconfigured("journal", "the name of the journal must have 1 to 200 characters")
	}
	return &Writer{
		c.Sessions, c.Journal, "journal " + c.Journal.Name(), cmp.Or(c.Batch, defaultBatch), c.Patience, c.Clock,
		c.Sign,
	}, nil
}

// RunOnce appends the next lines to the journal and returns the number of lines. It also reports whether the caller
// should call RunOnce again immediately. After an error, the next call appends the same lines again. RunOnce returns
// domain.ErrBehind if all lines are appended that may be, and an open session holds up one that is older than
// Config.Patience.
func (w *Writer) RunOnce(ctx context.Context) (written int, more bool, err error) {
	var position int64
	var next page
	err = w.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		if position, err = s.Erased().Position(ctx, w.reader); err != nil {
			return err
		}
		next, err = read(ctx, s, domain.MarkQuery{After: position, Limit: w.batch})
		if err == nil && len(next.marks) == 0 && w.patience > 0 {
			err = positions.Behind(ctx, s.Erased(), "journal", position, w.clock.Now().Add(-w.patience))
		}
		return err
	})
	marks := next.marks
	if err != nil || len(marks) == 0 {
		return 0, false, err
	}
	if err := w.journal.Append(ctx, next.lines(w.sign)); err != nil {
		return 0, false, err
	}
	var moved bool
	err = w.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		moved, err = s.Erased().Advance(ctx, w.reader, position, marks[len(marks)-1].Intake)
		return err
	})
	return len(marks), err == nil && (len(marks) == w.batch || !moved), err
}

// page is a part of the list of marks. A mark is the row that records the erasures of a subject.
type page struct {
	installation string // the id of the installation to which the marks belong
	marks        []domain.ErasureMark
}

// read reads a page of marks in a session. It reads the installation only if there are marks.
func read(ctx context.Context, s ports.Session, query domain.MarkQuery) (next page, err error) {
	if next.marks, err = s.Erased().Marks(ctx, query); err != nil || len(next.marks) == 0 {
		return next, err
	}
	found, err := s.Installation().Read(ctx)
	next.installation = found.ID
	return next, err
}

// lines returns the lines of the marks.
func (p page) lines(sign func([]byte) []byte) (lines []byte) {
	for _, mark := range p.marks {
		lines = domain.JournalEntry{
			Installation: p.installation, Number: mark.Intake, After: mark.After,
			SubjectID: mark.SubjectID, ErasedAt: mark.ErasedAt, AddedAt: mark.AddedAt,
		}.AppendSigned(lines, sign)
	}
	return lines
}

// From selects the erasures that Write writes. The zero value selects all erasures, and signs no line.
type From struct {
	// After selects the erasures with a higher number (see domain.JournalEntry.Number). It is exact: with the number of
	// the last line of a journal, Write continues this journal without a gap. It must not be negative.
	After int64
	// Since selects the erasures since one day before this time. Write begins a day earlier because clocks of servers
	// differ, and because an erasure is recorded after the instant that it has. The zero time selects all erasures.
	Since time.Time
	// Sign signs the lines, as Config.Sign does.
	Sign func(line []byte) []byte
}

// earlier is the time before From.Since at which Write begins.
const earlier = 24 * time.Hour

// Write writes one line for each erasure that the bounds select to w, in the order of recording, and returns the number
// of lines. Write does not change the position of a [Writer]. It holds one batch in memory. It returns
// domain.ErrConfiguration if a bound is negative, and the errors of the store and of w.
func Write(ctx context.Context, sessions ports.SessionFactory, w io.Writer, from From) (written int64, err error) {
	query := domain.MarkQuery{After: from.After, Limit: defaultBatch}
	if from.After < 0 {
		return 0, domain.Misconfigured("journal", "After must not be negative")
	}
	if !from.Since.IsZero() {
		query.Since = from.Since.Add(-earlier)
	}
	for {
		var next page
		err := sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
			next, err = read(ctx, s, query)
			return err
		})
		if err != nil || len(next.marks) == 0 {
			return written, err
		}
		if _, err := w.Write(next.lines(from.Sign)); err != nil {
			return written, &domain.Error{Op: "journal", Message: "the lines cannot be written", Err: err}
		}
		written += int64(len(next.marks))
		query.After = next.marks[len(next.marks)-1].Intake
	}
}
