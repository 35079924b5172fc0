// Package journal writes the erasures of a database to a place outside of it. A backup that is restored brings back who
// was erased since; package replay erases them again by the lines of the journal.
package journal

import (
	"context"
	"io"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// defaultBatch is Config.Batch by default.
const defaultBatch = 1000

// Config is what a Writer is made of. Sessions and Journal are required.
type Config struct {
	Sessions ports.SessionFactory
	Journal  ports.Journal

	// Batch is how many lines are appended at once, at most. The default is 1,000.
	Batch int
}

// Writer writes the marks of erasures to a journal, in the order of intake. It is safe for concurrent use, also by
// several processes.
//
// An erasure whose line is in the journal has no gap before it: the line of each erasure that was taken in earlier is
// there, too, or that of a later erasure of the same subject. A line may be there more than once. How far the journal
// has come is kept in the database, under the name of the journal, so that a database that is restored goes on from
// where it was itself: it writes some lines again, and leaves out none.
type Writer struct {
	sessions ports.SessionFactory
	journal  ports.Journal
	reader   string
	batch    int
}

// NewWriter returns a writer. Returns domain.ErrConfiguration if a field is missing or not valid.
func NewWriter(c Config) (*Writer, error) {
	const longest = 200
	switch {
	case c.Sessions == nil || c.Journal == nil:
		return nil, domain.Misconfigured("journal", "Sessions and Journal are required")
	case c.Batch < 0:
		return nil, domain.Misconfigured("journal", "Batch must not be negative")
	case len(domain.CheckText("name", c.Journal.Name(), 1)) > 0 || len([]rune(c.Journal.Name())) > longest:
		return nil, domain.Misconfigured("journal", "the name of the journal must have 1 to 200 characters")
	case c.Batch == 0:
		c.Batch = defaultBatch
	}
	return &Writer{c.Sessions, c.Journal, "journal " + c.Journal.Name(), c.Batch}, nil
}

// RunOnce appends the next lines to the journal, and reports how many there were and whether there is more to do at
// once. After an error, the same lines are appended again by the next call.
func (w *Writer) RunOnce(ctx context.Context) (written int, more bool, err error) {
	var position int64
	var marks []domain.ErasureMark
	err = w.sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		store, err := ports.MarksOf(s)
		if err != nil {
			return err
		}
		if position, err = store.Position(ctx, w.reader); err != nil {
			return err
		}
		marks, err = store.Marks(ctx, domain.MarkQuery{After: position, Limit: w.batch})
		return err
	})
	if err != nil || len(marks) == 0 {
		return 0, false, err
	}
	if err := w.journal.Append(ctx, linesOf(marks)); err != nil {
		return 0, false, err
	}
	var moved bool
	err = w.sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		store, err := ports.MarksOf(s)
		if err == nil {
			moved, err = store.Advance(ctx, w.reader, position, marks[len(marks)-1].Intake)
		}
		return err
	})
	return len(marks), err == nil && (len(marks) == w.batch || !moved), err
}

func linesOf(marks []domain.ErasureMark) (lines []byte) {
	for _, mark := range marks {
		lines = domain.JournalEntry{SubjectID: mark.SubjectID, ErasedAt: mark.ErasedAt}.AppendLine(lines)
	}
	return lines
}

// Write writes the lines of all erasures since an instant to out, in the order of intake, and returns how many there
// were. The zero instant stands for all. It is beside the journals: none of them moves on. out is written a batch at a
// time, which is all that is held in memory.
func Write(
	ctx context.Context, sessions ports.SessionFactory, out io.Writer, since time.Time,
) (written int64, err error) {
	for query := (domain.MarkQuery{Since: since, Limit: defaultBatch}); ; {
		var marks []domain.ErasureMark
		err := sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
			store, err := ports.MarksOf(s)
			if err == nil {
				marks, err = store.Marks(ctx, query)
			}
			return err
		})
		if err != nil || len(marks) == 0 {
			return written, err
		}
		if _, err := out.Write(linesOf(marks)); err != nil {
			return written, &domain.Error{Op: "journal", Message: "the lines cannot be written", Err: err}
		}
		written += int64(len(marks))
		query.After = marks[len(marks)-1].Intake
	}
}
