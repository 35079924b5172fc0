package replay

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// run is a replay in progress.
type run struct {
	*Replayer
	tables restored
	report *domain.ReplayReport
	first  error // the first error of a subject
}

// replayed is a subject of a batch.
type replayed struct {
	of   *lines
	mark domain.ErasureMark // the row that records the erasures of the subject, as the batch has read it
}

// batch replays the subjects of a batch and calls progress. It returns an error that ends the replay, and stores the
// first other error.
func (r *run) batch(ctx context.Context, left []replayed, progress func(domain.ReplayReport)) error {
	err := r.replayAll(ctx, left)
	if progress != nil {
		progress(*r.report)
	}
	if err != nil && (ctx.Err() != nil || errors.Is(err, domain.ErrUnavailable)) {
		return err
	}
	if r.first == nil {
		r.first = err
	}
	return nil
}

// replayAll replays the subjects of a batch. It returns the first error of a subject. If an error ends the replay, it
// returns that error instead.
func (r *run) replayAll(ctx context.Context, left []replayed) error {
	var work sync.Mutex
	var failed error
	next := func() (subject replayed, ok bool) {
		work.Lock()
		defer work.Unlock()
		if len(left) == 0 || errors.Is(failed, domain.ErrUnavailable) || ctx.Err() != nil {
			return replayed{}, false
		}
		subject, left = left[0], left[1:]
		return subject, true
	}
	var workers sync.WaitGroup
	for range min(r.config.Workers, len(left)) {
		workers.Go(func() {
			for subject, ok := next(); ok; subject, ok = next() {
				verdict, err := r.replay(ctx, subject)
				work.Lock()
				err = count(r.report, verdict, err)
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

// count counts the result for a subject. It returns the error unless that is only a finding.
func count(report *domain.ReplayReport, verdict domain.ReplayVerdict, err error) error {
	switch {
	case errors.Is(err, domain.ErrSubject):
		report.Skipped++
		return nil
	case err != nil:
		report.Failed++
		return err
	}
	switch verdict {
	case domain.ReplayErase:
		report.Erased++
	case domain.ReplayCurrent:
		report.Current++
	case domain.ReplayNew:
		report.New++
	case domain.ReplayOtherRow:
		report.OtherRow++
	case domain.ReplayUnclear:
		report.Unclear++
	}
	return nil
}

// replay judges a subject, and repeats the erasure if necessary. If the database records the erasure, it first reads
// the evidence without a lock, because most of these subjects need no erasure.
func (r *run) replay(ctx context.Context, subject replayed) (verdict domain.ReplayVerdict, err error) {
	if len(subject.of.unrecorded(subject.mark)) == 0 {
		err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
			state, err := s.Subjects().State(ctx, subject.of.last.SubjectID)
			verdict = r.tables.judge(subject.of, state)
			return err
		})
		if err != nil || verdict != domain.ReplayErase {
			return verdict, err
		}
	}
	return r.erase(ctx, subject.of)
}

// erase repeats the erasure of a subject. It judges the subject again after it has locked the subject, so that an
// erasure or a registration that was committed before is not missed. If the restored database does not have the row
// that was erased, the mark gets the creation time that the line has.
func (r *run) erase(ctx context.Context, of *lines) (verdict domain.ReplayVerdict, err error) {
	entry := of.last
	subject := domain.Subject{ID: entry.SubjectID}
	if r.config.Refs != nil {
		if subject.Refs, err = r.config.Refs(ctx, entry.SubjectID); err != nil {
			return "", err
		}
	}
	err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		state, err := s.Subjects().LockToRectify(ctx, entry.SubjectID)
		if err != nil {
			return err
		}
		if verdict = r.tables.judge(of, state); verdict != domain.ReplayErase {
			return nil
		}
		event := r.audit.Event(ctx, domain.EventErasureReplayed, entry.SubjectID, domain.Payload{
			"erased_at": entry.ErasedAt.Format(time.RFC3339Nano),
		})
		if err := s.Audit().Append(ctx, event); err != nil {
			return err
		}
		if _, err = r.config.Erase(ctx, s, subject, entry.ErasedAt); err != nil {
			return err
		}
		if len(of.unrecorded(state.Mark)) == 0 {
			return nil
		}
		return s.Erased().RecallRow(ctx, entry.SubjectID, entry.AddedAt)
	})
	return verdict, err
}
