// Package replay erases again whoever was erased since a backup, after the database was restored from it. A backup must
// not bring erased data back into use (Art. 17(1) and Art. 5(1)(f) GDPR). The journal says who was erased, see package
// journal.
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

// The defaults of Config.
const (
	defaultBatch   = 500
	defaultWorkers = 4
)

// Config is what a Replayer is made of. Sessions, Erase, Clock and IDs are required.
type Config struct {
	Sessions ports.SessionFactory
	Clock    ports.Clock
	IDs      ports.IDSource
	// Erase erases a subject in a session, as erasure.Eraser.Erase does.
	Erase func(ctx context.Context, s ports.Session, subject domain.Subject) (domain.ErasureResult, error)

	// Refs returns under which refs external systems know a subject. They are then told to erase again. By default they
	// are not: they were not restored, and a journal knows no refs. What they were still to be told when the database was
	// lost is lost with it, unless there are refs. Keys that the subject's rows hold are always erased again.
	Refs func(ctx context.Context, id domain.SubjectID) ([]domain.SubjectRef, error)
	// Workers is how many subjects are erased at once. The default is 4.
	Workers int
	// Batch is how many subjects are looked up at once, and held in memory. The default is 500.
	Batch int
}

// Options are those of a Config that a caller chooses for one replay. The zero value is ready for use.
type Options struct {
	// Refs returns under which refs external systems know a subject, so that they are told to erase again; see Config. By
	// default they are not told.
	Refs func(ctx context.Context, id domain.SubjectID) ([]domain.SubjectRef, error)
	// Workers is how many subjects are erased at once. The default is 4.
	Workers int
	// Progress is called with all that was done so far. The default is nothing.
	Progress func(domain.ReplayReport)
}

// Replayer erases again by the lines of a journal. It is safe for concurrent use.
type Replayer struct {
	config Config
	audit  audit.Stamper
}

// NewReplayer returns a replayer. Returns domain.ErrConfiguration if a field is missing or negative.
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

// Replay reads lines and erases each subject whose mark in the database is missing or older than its line, in a session
// of its own. The audit trail gets an erasure_replayed {erased_at} before the events of the erasure. It calls progress,
// if there is one, after each batch, with all that was done so far.
//
// Another call with the same lines goes on where this one ended: subjects that were erased again are current. A subject
// that fails does not keep the others waiting; the first error comes back at the end, as domain.ErrInvalid for a line
// that is broken does. A line that was cut off at the end, or before a cut, is not broken: its entry is in another
// line, or the database that wrote it did not note it as written. If the database cannot be reached, or ctx ends, the
// replay ends.
//
// A replay belongs before the application is opened again: what a subject does between the restore and the replay is
// erased with the rest.
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
		erasedAt, err := r.known(ctx, batch)
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

// eraseAll erases those of a batch who were not erased since. It returns the first error, or one that ends the replay.
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
		failed = &domain.Error{Op: "replay", Message: "ended by its context", Err: ctx.Err()}
	}
	return failed
}

// known returns when the subjects of a batch were erased, of those that were.
func (r *Replayer) known(
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

// erase erases a subject again.
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
