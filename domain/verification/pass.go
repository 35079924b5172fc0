package verification

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/positions"
	"github.com/habeas-data/habeas/ports"
)

const (
	// positionKey is the key of a number in the database that all processes share: the position of the verification. The
	// position is the last erasure that was verified or skipped.
	positionKey = "verification"

	// maxAge is the age above which an erasure is skipped. Such an erasure was made before the application began to verify
	// erasures, or no process has verified erasures for a week.
	maxAge = 7 * 24 * time.Hour

	batch       = 20   // erasures per call of RunOnce, each in its own session
	page        = 1000 // old erasures that one session skips
	maxFailures = 3    // failures of one erasure in this process before it is skipped
)

// RunOnce verifies the erasures that are due, in the order in which the database recorded them. It also reports whether
// the caller should call RunOnce again immediately. An erasure is due if its age is at least the delay. Exactly one
// process verifies each erasure, because the events of the verification and the shared position are committed in one
// transaction. RunOnce returns the verified erasures, so that the caller can report data that is left over. It skips
// erasures that are older than a week.
//
// If the verification of an erasure fails, RunOnce returns the error, and the next call verifies the erasure again.
// After three failures in this process, RunOnce skips the erasure, so that the erasure does not delay the others. The
// errors domain.ErrConfiguration and domain.ErrManifest do not count, because they concern all subjects.
//
// If the id of a subject does not fit the key of the subject's table, for example because the type of the key was
// changed, RunOnce skips the erasure and continues. It returns domain.ErrSubject if there is no other error.
//
// RunOnce returns domain.ErrBehind if an open session holds up an erasure that has been due for the delay and for a
// minute (see ports.ErasedStore.Marks).
func (v *Verifier) RunOnce(
	ctx context.Context, delay time.Duration,
) (verified []domain.Verification, more bool, err error) {
	var misfits int64
	misfit := func() error { return positions.Misfits("verify", misfits, "Their erasures were not verified") }
	for range batch {
		var next result
		err := v.sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
			next, err = v.next(ctx, s, delay)
			return err
		})
		switch {
		case errors.Is(err, errTaken):
			continue
		case err != nil:
			v.failures.count(next, err)
			return verified, false, err
		case next.misfit:
			misfits++
		case next.verified != nil:
			verified = append(verified, *next.verified)
		case !next.moved:
			return verified, false, misfit()
		}
	}
	return verified, true, misfit()
}

// errTaken makes a session roll back because another process has verified the same erasure first.
var errTaken = errors.New("another process was first")

// result is the result of one session.
type result struct {
	mark     domain.ErasureMark // the record of the next erasure
	verified *domain.Verification
	failed   bool // the verification itself failed
	misfit   bool // the id of the subject does not fit the key of the subject's table
	moved    bool
}

// next verifies the next erasure if it is due. It then stores this erasure as the position of all processes.
func (v *Verifier) next(ctx context.Context, s ports.Session, delay time.Duration) (next result, err error) {
	from, err := s.Erased().Position(ctx, positionKey)
	if err != nil {
		return next, err
	}
	list, err := s.Erased().Marks(ctx, domain.MarkQuery{After: from, Limit: 1})
	if err == nil && len(list) == 0 {
		err = positions.Behind(ctx, s.Erased(), "verify", from, v.audit.Clock.Now().Add(-delay-max(delay, time.Minute)))
	}
	if err != nil || len(list) == 0 {
		return next, err
	}
	next.mark = list[0]
	to := next.mark.Intake
	switch age := v.audit.Clock.Now().Sub(next.mark.ErasedAt); {
	case age > maxAge:
		if to, err = v.skipOld(ctx, s.Erased(), from, to); err != nil {
			return next, err
		}
	case v.failures.tooMany(next.mark):
	case age < delay && age > -delay: // the clock of another process may be ahead by up to the delay
		return next, nil
	case v.dataMap.CheckSubject(domain.Subject{ID: next.mark.SubjectID}) != nil:
		next.misfit = true
	default:
		verified, err := v.verify(ctx, s, next.mark)
		if err != nil {
			next.failed = true
			return next, err
		}
		next.verified = &verified
	}
	next.moved, err = s.Erased().Advance(ctx, positionKey, from, to)
	if err == nil && !next.moved {
		err = errTaken
	}
	return next, err
}

// skipOld searches for consecutive erasures that are too old to be verified, up to 1,000. It returns the position of
// the last of them, or fallback if it finds none.
func (v *Verifier) skipOld(
	ctx context.Context, erased ports.ErasedStore, from, fallback int64,
) (position int64, err error) {
	list, err := erased.Marks(ctx, domain.MarkQuery{After: from, Limit: page})
	position = fallback
	now := v.audit.Clock.Now()
	for _, mark := range list {
		if now.Sub(mark.ErasedAt) <= maxAge {
			break
		}
		position = mark.Intake
	}
	return position, err
}

// failures counts the failed verifications of one erasure in this process. This is the erasure whose verification
// failed last.
type failures struct {
	mu     sync.Mutex
	intake int64
	times  int
}

// count counts a failed verification, unless the error concerns all subjects or the context was canceled.
func (f *failures) count(failed result, err error) {
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

// tooMany reports whether the verification of an erasure has failed so often that the erasure is skipped.
func (f *failures) tooMany(mark domain.ErasureMark) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.intake == mark.Intake && f.times >= maxFailures
}
