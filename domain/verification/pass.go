package verification

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

const (
	// reader is the name of the position that all processes share: the last mark that was verified or skipped.
	reader = "verification"

	// oldest is the age from which an erasure is skipped. An older erasure took place before the first process verified
	// erasures, or no process has run since.
	oldest = 7 * 24 * time.Hour

	batch        = 20   // erasures per call of RunOnce, each in its own session
	page         = 1000 // old marks that one session skips
	mostFailures = 3    // failures of one erasure in this process before it is skipped
)

// RunOnce verifies the erasures that are due, in the order of their marks. It reports whether the caller should call it
// again immediately. An erasure is due after the delay. Exactly one of the processes verifies it: its events and the
// shared position are committed together. RunOnce returns the verified erasures, so that the caller can report data
// that is left over. RunOnce skips an erasure that is older than a week.
//
// An error ends RunOnce, and the next call retries. RunOnce returns each failure as an error. After three failures of
// an erasure in this process, RunOnce skips this erasure, so that it does not delay the others. RunOnce does not count
// domain.ErrConfiguration and domain.ErrManifest, because they concern all subjects.
func (v *Verifier) RunOnce(
	ctx context.Context, delay time.Duration,
) (verified []domain.Verification, more bool, err error) {
	for range batch {
		var next part
		err := v.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
			next, err = v.next(ctx, s, delay)
			return err
		})
		switch {
		case errors.Is(err, errTaken):
			continue
		case err != nil:
			v.failures.note(next, err)
			return verified, false, err
		case next.verified != nil:
			verified = append(verified, *next.verified)
		case !next.moved:
			return verified, false, nil
		}
	}
	return verified, true, nil
}

// errTaken rolls back a session if another process has verified the erasure meanwhile.
var errTaken = errors.New("another process was first")

// part is the result of one session.
type part struct {
	mark     domain.ErasureMark // the next mark
	verified *domain.Verification
	failed   bool // the verification itself failed
	moved    bool
}

// next verifies the next erasure if it is due, and moves the position of the reader behind the mark of this erasure.
func (v *Verifier) next(ctx context.Context, s ports.Session, delay time.Duration) (next part, err error) {
	marks, err := ports.MarksOf(s)
	if err != nil {
		return next, err
	}
	from, err := marks.Position(ctx, reader)
	if err != nil {
		return next, err
	}
	list, err := marks.Marks(ctx, domain.MarkQuery{After: from, Limit: 1})
	if err != nil || len(list) == 0 {
		return next, err
	}
	next.mark = list[0]
	to := next.mark.Intake
	switch age := v.audit.Clock.Now().Sub(next.mark.ErasedAt); {
	case age > oldest:
		if to, err = v.behindOld(ctx, marks, from, to); err != nil {
			return next, err
		}
	case v.failures.many(next.mark):
	case age < delay && age > -delay: // the clock of another process may be ahead by up to the delay
		return next, nil
	default:
		verified, err := v.verify(ctx, s, next.mark)
		if err != nil {
			next.failed = true
			return next, err
		}
		next.verified = &verified
	}
	next.moved, err = marks.Advance(ctx, reader, from, to)
	if err == nil && !next.moved {
		err = errTaken
	}
	return next, err
}

// behindOld returns the position behind a page of marks that are too old. to is the position of the first of them.
func (v *Verifier) behindOld(ctx context.Context, marks ports.ErasureMarks, from, to int64) (int64, error) {
	list, err := marks.Marks(ctx, domain.MarkQuery{After: from, Limit: page})
	now := v.audit.Clock.Now()
	for _, mark := range list {
		if now.Sub(mark.ErasedAt) <= oldest {
			break
		}
		to = mark.Intake
	}
	return to, err
}

// failures counts the failures of the last erasure whose verification failed in this process.
type failures struct {
	mu     sync.Mutex
	intake int64
	times  int
}

// note counts the failure of a part, if the error may concern only its subject.
func (f *failures) note(failed part, err error) {
	if !failed.failed || errors.Is(err, domain.ErrConfiguration) || errors.Is(err, domain.ErrManifest) ||
		errors.Is(err, context.Canceled) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.intake != failed.mark.Intake {
		f.intake, f.times = failed.mark.Intake, 0
	}
	f.times++
}

// many reports whether to skip an erasure because of its failures.
func (f *failures) many(mark domain.ErasureMark) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.intake == mark.Intake && f.times >= mostFailures
}
