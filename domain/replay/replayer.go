// Package replay repeats erasures after a database was restored from a backup. A backup must not bring erased data back
// into use (Art. 17(1) and Art. 5(1)(f) GDPR). The journal lists all erased subjects, including those that were erased
// after the backup. See package journal. See also the example of [Replayer.Replay].
package replay

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
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
	// Erase repeats the erasure of a subject in a session, as erasure.Eraser.Repeat does. The parameter erasedAt is the
	// instant of the line.
	Erase func(
		ctx context.Context, s ports.Session, subject domain.Subject, erasedAt time.Time,
	) (domain.ErasureResult, error)

	// Refs returns the ids (refs) of a subject in external systems. These systems then erase the subject again. Set Refs
	// if outbox entries were lost with the database, because only Refs can repeat their calls. A journal does not have the
	// ids. By default, external systems do not erase by id again, because they were not restored.
	//
	// External objects whose keys are in the subject's rows, such as files, are always erased again.
	Refs func(ctx context.Context, id domain.SubjectID) ([]domain.SubjectRef, error)
	// Workers is the number of concurrent erasures. The default is 4.
	Workers int
	// Batch is the number of subjects of a batch. One query reads the erasures of these subjects that the database
	// records. A further query for each subject with a recorded erasure reads the subject's row. The default is 500.
	Batch int
	// Expect is the same as Options.Expect. It must not be negative.
	Expect int64
	// RestoredTo is the same as Options.RestoredTo.
	RestoredTo time.Time
	// Sign is the function with which the lines must be signed (see domain.JournalEntry.AppendSigned). Lines without its
	// signature are broken. By default, the replay believes every line: a changed line erases somebody else.
	Sign func(line []byte) []byte
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
	// Expect is the number of the last line that the journal must have (domain.JournalEntry.Number), as the operator knows
	// it from elsewhere. If the highest number of a line is lower, the replay carries out the erasures that it knows, and
	// returns an error. The default 0 expects nothing.
	Expect int64
	// RestoredTo is the instant at which the backup began from which tables of the application were restored, while the
	// tables of habeas were not. The caller vouches for it. All erasures after this instant are then undone, also those
	// without a line. The replay erases their subjects again, unless the evidence shows another person. The first replay
	// with an instant stores the highest number of an erasure, and a further replay with the same instant leaves later
	// erasures alone. For a further restore of the same backup, add a microsecond. On a database whose tables were not
	// restored, the current instant erases nobody. The zero time (the default) is no instant.
	RestoredTo time.Time
}

// ErrIncomplete is the cause (see errors.Is) of the error of a replay that has carried out all erasures of the lines
// that it could read and use, but has findings that an operator must examine. The report and the message name them:
// broken lines, missing numbers, ids that do not fit the key, an unexpected last number, subjects whose row may
// be a restored one (ReplayReport.Unclear and OtherRow), and sequences of the application that would give the id of an
// erased subject to a new subject.
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
	c.Workers, c.Batch = cmp.Or(c.Workers, defaultWorkers), cmp.Or(c.Batch, defaultBatch)
	return &Replayer{c, audit.Stamper{Clock: c.Clock, IDs: c.IDs}}, nil
}

// Replay repeats the erasures of the lines of a journal. It first reads all lines. The lines may have any order, may be
// duplicates, and may have been appended by several writers. Replay groups them by subject in memory. It needs about
// 500 bytes for each subject, and no memory for further lines of the subject. Then it does these steps:
//
//   - It refuses the journal if a line belongs to another installation than the database, because the same id is
//     another person there. See datamap.Installation.Accepts. It returns domain.ErrInvalid and has changed nothing.
//   - It finds the missing numbers, see domain.ReplayReport.Missing.
//   - It raises the sequences of habeas above the highest number, see ports.InstallationStore.RaiseSequences.
//   - It judges each subject by the mark, the subject's row and the lines, see domain.ReplayCase. The database records
//     the erasure of a line if the mark of the subject has at least the number of the line.
//   - It erases each subject whose erasure is not recorded or was undone, in a separate session. This session locks the
//     subject and judges again before the erasure. It records erasure_replayed {erased_at} before the events of the
//     erasure. After each batch it calls progress with the totals so far, unless progress is nil.
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
// restore and the replay, and it cannot recognize a person who registers between the two under an id of the journal.
func (r *Replayer) Replay(
	ctx context.Context, lines io.Reader, progress func(domain.ReplayReport),
) (report domain.ReplayReport, err error) {
	journal, err := readAll(lines, r.config.Sign)
	if err != nil {
		return journal.report, err
	}
	own, tables, err := r.prepare(ctx, journal)
	report = journal.report
	if err != nil {
		return report, err
	}
	run := &run{Replayer: r, tables: tables, report: &report}
	for ids := range slices.Chunk(journal.order, r.config.Batch) {
		marks, err := r.recordedErasures(ctx, ids)
		if err != nil {
			return report, errors.Join(err, run.first)
		}
		var left []replayed
		for _, id := range ids {
			left = append(left, replayed{journal.subjects[id], marks[id]})
		}
		if err := run.batch(ctx, left, progress); err != nil {
			return report, err
		}
	}
	err = r.withoutLines(ctx, journal, tables, func(marks []domain.ErasureMark) error {
		left := withoutLine(marks)
		report.Subjects += int64(len(left))
		return run.batch(ctx, left, progress)
	})
	if err != nil {
		return report, err
	}
	if report.Sequences, err = r.lowSequences(ctx, own, journal); err != nil {
		return report, errors.Join(err, run.first)
	}
	return report, errors.Join(findings(report, journal.first, r.config.Expect), run.first)
}

// recordedErasures returns the marks of the subjects of a batch. A mark is the row that records the erasures of a
// subject.
func (r *Replayer) recordedErasures(
	ctx context.Context, ids []domain.SubjectID,
) (recorded map[domain.SubjectID]domain.ErasureMark, err error) {
	err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		found, err := s.Erased().Find(ctx, ids)
		recorded = map[domain.SubjectID]domain.ErasureMark{}
		for _, mark := range found {
			recorded[mark.SubjectID] = mark
		}
		return err
	})
	return recorded, err
}
