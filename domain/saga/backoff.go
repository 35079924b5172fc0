package saga

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// outcome is the result of the processing of one claimed outbox entry.
type outcome struct {
	settlement    domain.Settlement
	alreadyAbsent bool
	ifYoung       *domain.Settlement // replaces settlement if the first attempt was more recent than GiveUpAfter
	cause         error              // the error of the attempt; nil if there was no error
}

// outcomeOf decides about an entry after an attempt: it has succeeded, it is retried after a wait, it is abandoned, or
// it returns to the outbox.
func (r *Runner) outcomeOf(a attempted) outcome {
	switch {
	case a.lost:
		return abandoned(a.entry, "lost", nil)
	case !a.called:
		return outcome{settlement: domain.Settlement{Entry: a.entry, Status: domain.OutboxPending}}
	case a.answer.err == nil:
		return outcome{
			settlement:    domain.Settlement{Entry: a.entry, Status: domain.OutboxSucceeded},
			alreadyAbsent: a.answer.alreadyAbsent,
		}
	case a.answer.refused:
		return abandoned(a.entry, a.answer.class, a.answer.err)
	default:
		return r.fail(a.entry, a.answer)
	}
}

// fail returns the outcome of a failed attempt. The entry is abandoned if this was its last attempt, and otherwise
// retried. No entry is older than its intake, so fail compares the intake first. The runner reads the first attempt
// only if the intake is too old (see spareYoung). A first attempt is never too old.
func (r *Runner) fail(entry domain.OutboxEntry, a answer) outcome {
	retryAt := domain.Instant(r.config.Clock.Now().Add(r.backoff(entry.Attempts, a.after)))
	failed := outcome{settlement: domain.Settlement{
		Entry: entry, Status: domain.OutboxFailed, LastError: a.class, NextAttemptAt: &retryAt,
	}, cause: a.err}
	tooOften := r.config.MaxAttempts > 0 && entry.Attempts >= r.config.MaxAttempts
	if !tooOften && (entry.Attempts <= 1 || !r.isTooOld(entry.EnqueuedAt)) {
		return failed
	}
	given := abandoned(entry, a.class, a.err)
	if !tooOften {
		given.ifYoung = &failed.settlement
	}
	return given
}

func abandoned(entry domain.OutboxEntry, class string, cause error) outcome {
	return outcome{
		settlement: domain.Settlement{Entry: entry, Status: domain.OutboxAbandoned, LastError: class}, cause: cause,
	}
}

// backoff returns the wait after a failed attempt. The wait doubles with each attempt up to MaxBackoff, and the jitter
// shortens it. If the external system has requested a longer wait, backoff returns the requested wait. The caller
// limits the requested wait, so that a system cannot postpone an entry for a year.
func (r *Runner) backoff(attempts int, after time.Duration) time.Duration {
	wait := r.config.FirstBackoff
	for i := 1; i < attempts && wait < r.config.MaxBackoff; i++ {
		wait *= 2
	}
	wait = min(wait, r.config.MaxBackoff)
	if r.config.Jitter != nil {
		wait -= time.Duration(min(max(r.config.Jitter(), 0), 1) * float64(wait) / 2)
	}
	return max(wait, after)
}

// isTooOld reports whether to give up an entry whose first attempt was at the given time.
func (r *Runner) isTooOld(since time.Time) bool {
	return r.config.Clock.Now().Sub(since) >= r.config.GiveUpAfter
}

// lost returns the ids of the entries of which too many attempts ended without an outcome. An attempt has no outcome if
// the process dies, or if the lease expires before the outcome is written. If the first claims cannot be read, lost
// returns only the entries that were tried more than MaxAttempts times.
func (r *Runner) lost(ctx context.Context, entries []domain.OutboxEntry) map[string]bool {
	doublings := int(math.Log2(float64(r.config.MaxBackoff/r.config.FirstBackoff + 1)))
	most := 2*int(r.config.GiveUpAfter/r.config.MaxBackoff) + 2*doublings + 10 // jitter halves waits
	ids, suspects := map[string]bool{}, map[string]domain.OutboxEntry{}
	for _, entry := range entries {
		switch {
		case r.config.MaxAttempts > 0 && entry.Attempts > r.config.MaxAttempts:
			ids[entry.EntryID] = true
		case entry.Attempts > most && r.isTooOld(entry.EnqueuedAt):
			suspects[entry.EntryID] = entry
		}
	}
	if len(suspects) == 0 {
		return ids
	}
	first, err := r.firstClaims(ctx, suspects)
	for id, entry := range suspects {
		if err == nil && r.isTooOld(firstOr(first, entry)) {
			ids[id] = true
		}
	}
	return ids
}

func (r *Runner) firstClaims(
	ctx context.Context, entries map[string]domain.OutboxEntry,
) (first map[string]time.Time, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.config.CallTimeout)
	defer cancel()
	ids := slices.Collect(maps.Keys(entries))
	err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		first, err = s.Outbox().FirstClaims(ctx, ids)
		return err
	})
	return first, err
}
