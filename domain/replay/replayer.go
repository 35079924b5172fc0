// Package replay repeats erasures after a database was restored from a backup. A backup must not bring erased data back
// into use (Art. 17(1) and Art. 5(1)(f) GDPR). The journal lists all erased subjects, including those that were erased
// after the backup. See package journal. See also the example of [Replayer.Replay].
package replay

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/ports"
)

// The default values of Config.
const (
	defaultBatch   = 500
	defaultWorkers = 4
)

// Config holds the dependencies and the options of a Replayer. Sessions, Erase, Clock and IDs are required.
type Config struct {
	Sessions ports.SessionFactory
	Clock    ports.Clock
	IDs      ports.IDSource
	// Erase erases a subject in a session, as erasure.Eraser.Erase does.
	Erase func(ctx context.Context, s ports.Session, subject domain.Subject) (domain.ErasureResult, error)

	// Refs returns the ids (refs) of a subject in external systems. These systems then erase the subject again. Set Refs
	// if outbox entries were lost with the database, because only Refs can repeat their calls. A journal does not have the
	// ids. By default, external systems do not erase by id again, because they were not restored.
	//
	// External objects whose keys are in the subject's rows, such as files, are always erased again.
	Refs func(ctx context.Context, id domain.SubjectID) ([]domain.SubjectRef, error)
	// Workers is the number of concurrent erasures. The default is 4.
	Workers int
	// Batch is the number of subjects of a batch. One query reads the erasures of these subjects that the database
	// records. The default is 500.
	Batch int
	// Installation is the same as Options.Installation.
	Installation string
	// Expect is the same as Options.Expect. It must not be negative.
	Expect int64
}

// Options are the options that a caller sets for one replay. The zero value uses the defaults.
type Options struct {
	// Refs returns the ids (refs) of a subject in external systems. These systems then erase the subject again. By
	// default, external systems do not erase by id again. See Config.Refs.
	Refs func(ctx context.Context, id domain.SubjectID) ([]domain.SubjectRef, error)
	// Workers is the number of concurrent erasures. The default is 4.
	Workers int
	// Progress is called with the totals so far. Default: no call.
	Progress func(domain.ReplayReport)
	// Installation is the id of the installation (domain.Installation.ID) to which all lines without an installation
	// belong. Lines of version 1 of the format have none. The caller vouches for it. The replay refuses it if it is not
	// the installation of the database or an ancestor. By default, the replay refuses lines without an installation.
	Installation string
	// Expect is the number of the last line that the journal must have (domain.JournalEntry.Number), as the operator knows
	// it from elsewhere. If the highest number of a line is lower, the replay carries out the erasures that it knows, and
	// returns an error. The default 0 expects nothing.
	Expect int64
}

// ErrIncomplete is the cause (see errors.Is) of the error of a replay that has carried out all erasures of the lines
// that it could read and use, but has findings that an operator must examine. The report and the message name them:
// broken lines, missing numbers, ids that do not fit the key, an unexpected last number, and sequences of the
// application that would give the id of an erased subject to a new subject.
var ErrIncomplete = errors.New("replay: an operator must examine the findings")

// Replayer repeats the erasures of a journal. It is safe for concurrent use.
type Replayer struct {
	config Config
	audit  audit.Stamper
}

// NewReplayer returns a replayer. It returns domain.ErrConfiguration if a field is missing or negative.
func NewReplayer(c Config) (*Replayer, error) {
	if c.Sessions == nil || c.Erase == nil || c.Clock == nil || c.IDs == nil {
		return nil, domain.Misconfigured("replay", "Sessions, Erase, Clock and IDs are required")
	}
	if c.Workers < 0 || c.Batch < 0 || c.Expect < 0 {
		return nil, domain.Misconfigured("replay", "Workers, Batch and Expect must not be negative")
	}
	if c.Workers == 0 {
		c.Workers = defaultWorkers
	}
	if c.Batch == 0 {
		c.Batch = defaultBatch
	}
	return &Replayer{c, audit.Stamper{Clock: c.Clock, IDs: c.IDs}}, nil
}

// Replay repeats the erasures of the lines of a journal. It first reads all lines. The lines may have any order, may be
// duplicates, and may have been appended by several writers. Replay groups them by subject in memory. It needs about
// 500 bytes for each subject, and no memory for further lines of the subject. Then it does these steps:
//
//   - It refuses the journal if a line belongs to another installation than the database, because the same id is
//     another person there. See domain.Installation.Accepts, and Options.Installation for lines of version 1. It
//     returns domain.ErrInvalid and has changed nothing.
//   - It finds the missing numbers, see domain.ReplayReport.Missing.
//   - It raises the sequences of habeas above the highest number, see ports.InstallationStore.RaiseSequences.
//   - It erases each subject in a separate session, unless the database already records the erasure: unless the mark of
//     the subject has at least the number of each line. For lines without a number, it compares the instants. It
//     records erasure_replayed {erased_at} before the events of the erasure. After each batch it calls progress with
//     the totals so far, unless progress is nil.
//   - It searches for sequences of the application that would give the id of an erased subject to a new subject. It
//     searches only if one integer column is the key of the subject's table.
//
// A further call with the same lines continues the work, because it skips subjects that were erased again. If the
// erasure of a subject fails, Replay continues with the other subjects and returns the first error at the end. Findings
// that an operator must examine do not stop the erasures, either. Replay returns an error with the code
// domain.ErrInvalid and the cause ErrIncomplete at the end. If the database cannot be reached, if the lines cannot be
// read or if ctx ends, Replay returns the error immediately.
//
// A line that was cut off is a finding, unless the journal says so (domain.AppendTruncated) and has an entry after it,
// because the writer then has repeated the line.
//
// Run Replay before the application serves requests again. Replay also erases data that a subject adds between the
// restore and the replay.
func (r *Replayer) Replay(
	ctx context.Context, lines io.Reader, progress func(domain.ReplayReport),
) (report domain.ReplayReport, err error) {
	journal, err := readAll(lines)
	if err != nil {
		return journal.report, err
	}
	own, err := r.prepare(ctx, journal)
	report = journal.report
	if err != nil {
		return report, err
	}
	var first error
	for ids := range slices.Chunk(journal.order, r.config.Batch) {
		marks, err := r.recordedErasures(ctx, ids)
		if err != nil {
			return report, errors.Join(err, first)
		}
		err = r.eraseAll(ctx, ids, journal.subjects, marks, &report)
		if progress != nil {
			progress(report)
		}
		if err != nil && (ctx.Err() != nil || errors.Is(err, domain.ErrUnavailable)) {
			return report, err
		}
		if first == nil {
			first = err
		}
	}
	if report.Sequences, err = r.lowSequences(ctx, own, journal); err != nil {
		return report, errors.Join(err, first)
	}
	return report, errors.Join(findings(report, journal.first, r.config.Expect), first)
}

// eraseAll erases the subjects of a batch. It skips a subject if the database records its erasures. It returns the
// first error of a subject. If an error ends the replay, it returns that error instead.
func (r *Replayer) eraseAll(
	ctx context.Context, left []domain.SubjectID, journal map[domain.SubjectID]*lines,
	marks map[domain.SubjectID]domain.ErasureMark, report *domain.ReplayReport,
) error {
	var work sync.Mutex
	var failed error
	next := func() (entry domain.JournalEntry, ok bool) {
		work.Lock()
		defer work.Unlock()
		for len(left) > 0 && !errors.Is(failed, domain.ErrUnavailable) && ctx.Err() == nil {
			of := journal[left[0]]
			isRecorded := of.isRecorded(marks[left[0]])
			left = left[1:]
			if isRecorded {
				report.Current++
				continue
			}
			return of.last, true
		}
		return domain.JournalEntry{}, false
	}
	var workers sync.WaitGroup
	for range min(r.config.Workers, len(left)) {
		workers.Go(func() {
			for entry, ok := next(); ok; entry, ok = next() {
				err := r.erase(ctx, entry)
				work.Lock()
				switch {
				case err == nil:
					report.Erased++
				case errors.Is(err, domain.ErrSubject):
					report.Skipped++
					err = nil
				default:
					report.Failed++
				}
				if failed == nil || errors.Is(err, domain.ErrUnavailable) {
					failed = err
				}
				work.Unlock()
			}
		})
	}
	workers.Wait()
	if failed == nil && ctx.Err() != nil {
		failed = &domain.Error{Op: "replay", Message: "the context ended", Err: ctx.Err()}
	}
	return failed
}

// recordedErasures returns the marks of the subjects of a batch. A mark is the row that records the erasures of a
// subject.
func (r *Replayer) recordedErasures(
	ctx context.Context, ids []domain.SubjectID,
) (recorded map[domain.SubjectID]domain.ErasureMark, err error) {
	err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		marks, err := ports.MarksOf(s)
		if err != nil {
			return err
		}
		found, err := marks.Find(ctx, ids)
		recorded = map[domain.SubjectID]domain.ErasureMark{}
		for _, mark := range found {
			recorded[mark.SubjectID] = mark
		}
		return err
	})
	return recorded, err
}

// erase repeats the erasure of a subject.
func (r *Replayer) erase(ctx context.Context, entry domain.JournalEntry) error {
	subject := domain.Subject{ID: entry.SubjectID}
	if r.config.Refs != nil {
		refs, err := r.config.Refs(ctx, entry.SubjectID)
		if err != nil {
			return err
		}
		subject.Refs = refs
	}
	return r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		event := r.audit.Event(ctx, domain.EventErasureReplayed, entry.SubjectID, domain.Payload{
			"erased_at": entry.ErasedAt.Format(time.RFC3339Nano),
		})
		if err := s.Audit().Append(ctx, event); err != nil {
			return err
		}
		_, err := r.config.Erase(ctx, s, subject)
		return err
	})
}
