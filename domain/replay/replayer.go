// Package replay repeats erasures after a database was restored from a backup. A backup must not bring erased data back
// into use (Art. 17(1) and Art. 5(1)(f) GDPR). The journal lists all erased subjects, including those that were erased
// after the backup. See package journal. See also the example of [Replayer.Replay].
package replay

import (
	"context"
	"errors"
	"io"
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
	// Batch is the number of subjects that Replay holds in memory. One query reads the erasures of these subjects that the
	// database records. The default is 500.
	Batch int
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
}

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
	if c.Workers < 0 || c.Batch < 0 {
		return nil, domain.Misconfigured("replay", "Workers and Batch must not be negative")
	}
	if c.Workers == 0 {
		c.Workers = defaultWorkers
	}
	if c.Batch == 0 {
		c.Batch = defaultBatch
	}
	return &Replayer{c, audit.Stamper{Clock: c.Clock, IDs: c.IDs}}, nil
}

// Replay reads lines of a journal. Each line has a subject and the time of its erasure. If the database does not record
// this or a later erasure of the subject, Replay erases the subject in a separate session. It records
// erasure_replayed {erased_at} before the events of the erasure. After each batch it calls progress with the totals so
// far, unless progress is nil.
//
// A further call with the same lines continues the work, because it skips subjects that were erased again. If the
// erasure of a subject fails, Replay continues with the other subjects and returns the first error at the end. If a
// line is broken, it also returns domain.ErrInvalid at the end. A line that was cut off is not broken, because a writer
// repeats a line that it did not write completely. If the database cannot be reached or ctx ends, Replay returns the
// error immediately.
//
// Run Replay before the application serves requests again. Replay also erases data that a subject adds between the
// restore and the replay.
func (r *Replayer) Replay(
	ctx context.Context, lines io.Reader, progress func(domain.ReplayReport),
) (report domain.ReplayReport, err error) {
	source, first := newReader(lines), error(nil)
	for {
		batch, err := source.next(r.config.Batch)
		report.Lines, report.Broken = source.lines, source.broken
		if err != nil {
			return report, errors.Join(err, first)
		}
		if len(batch) == 0 {
			break
		}
		erasedAt, err := r.recordedErasures(ctx, batch)
		if err != nil {
			return report, errors.Join(err, first)
		}
		err = r.eraseAll(ctx, batch, erasedAt, &report)
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
	if report.Broken > 0 {
		first = errors.Join(source.damage(), first)
	}
	return report, first
}

// eraseAll erases the subjects of a batch of journal lines. It skips a subject if the database records an erasure that
// is not older than the line. It returns the first error of a subject. If an error ends the replay, it returns that
// error instead.
func (r *Replayer) eraseAll(
	ctx context.Context, batch []domain.JournalEntry, erasedAt map[domain.SubjectID]time.Time,
	report *domain.ReplayReport,
) error {
	var work sync.Mutex
	var failed error
	left := batch
	next := func() (entry domain.JournalEntry, ok bool) {
		work.Lock()
		defer work.Unlock()
		for len(left) > 0 && !errors.Is(failed, domain.ErrUnavailable) && ctx.Err() == nil {
			entry, left = left[0], left[1:]
			if at, known := erasedAt[entry.SubjectID]; known && !at.Before(entry.ErasedAt) {
				report.Current++
				continue
			}
			return entry, true
		}
		return domain.JournalEntry{}, false
	}
	var workers sync.WaitGroup
	for range min(r.config.Workers, len(batch)) {
		workers.Go(func() {
			for entry, ok := next(); ok; entry, ok = next() {
				err := r.erase(ctx, entry)
				work.Lock()
				if err == nil {
					report.Erased++
				} else {
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

// recordedErasures returns the times of the last erasures that the database records for the subjects of a batch.
func (r *Replayer) recordedErasures(
	ctx context.Context, batch []domain.JournalEntry,
) (erasedAt map[domain.SubjectID]time.Time, err error) {
	ids := make([]domain.SubjectID, len(batch))
	for i, entry := range batch {
		ids[i] = entry.SubjectID
	}
	err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		marks, err := ports.MarksOf(s)
		if err != nil {
			return err
		}
		found, err := marks.Find(ctx, ids)
		erasedAt = map[domain.SubjectID]time.Time{}
		for _, mark := range found {
			erasedAt[mark.SubjectID] = mark.ErasedAt
		}
		return err
	})
	return erasedAt, err
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
