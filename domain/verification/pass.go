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
	// reader is the name whose position says how far the verifications have come that the processes share.
	reader = "verification"

	// oldest is the age of an erasure from which on it is passed over: it comes from before the first process verified,
	// or all processes have been off since.
	oldest = 7 * 24 * time.Hour

	batch        = 20   // erasures that a part verifies, each in a session of its own
	page         = 1000 // marks that are passed over at once
	mostFailures = 3    // of one erasure, in this process
)

// RunOnce verifies the erasures that are due, in the order of their marks, and reports whether there is more to do at
// once. An erasure is due once the delay has passed since then. It is verified once, by one of the processes that share
// the work: its events and the position behind it commit together. Verified erasures come back, so that a caller can
// tell of what is left over. An erasure of more than a week ago is passed over.
//
// An error ends the part, and the next call tries again. An erasure that has failed three times in this process is
// passed over, so that it does not keep the others waiting, unless the error is domain.ErrConfiguration or
// domain.ErrManifest: those are not of one subject. Each failure comes back as an error.
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

// errTaken rolls a session back whose erasure another process has verified meanwhile.
var errTaken = errors.New("another process was first")

// part is what one session does.
type part struct {
	mark     domain.ErasureMark // the next one
	verified *domain.Verification
	failed   bool // the search failed, and not what comes before or after it
	moved    bool
}

// next verifies the next erasure, if it is due, and moves the position behind it.
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
	case age < delay && age > -delay: // another clock may be ahead, but not for long
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

// behindOld returns the place behind a page of marks that are too old. The first of them is at to.
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

// failures count how often the verification of one erasure, the last that failed, has failed in this process.
type failures struct {
	mu     sync.Mutex
	intake int64
	times  int
}

// note notes that a part has failed, if its error may be one of its subject alone.
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

// many reports whether an erasure is passed over.
func (f *failures) many(mark domain.ErasureMark) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.intake == mark.Intake && f.times >= mostFailures
}
