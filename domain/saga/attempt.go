package saga

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// attempted is the result of an attempt.
type attempted struct {
	entry  domain.OutboxEntry
	lost   bool // too many attempts had no outcome, so the resolver was not called
	called bool // otherwise the entry returns to the outbox, unless it is lost
	answer answer
}

// dispatch starts the attempts of a batch and returns a channel that receives one result per entry. The calls of
// different systems run in parallel. The parameter lost has the ids of the entries whose resolver must not be called.
func (n *run) dispatch(ctx context.Context, b batch, lost map[string]bool) <-chan attempted {
	results := make(chan attempted, len(b.entries))
	queues := map[string]chan domain.OutboxEntry{}
	for _, entry := range b.entries {
		if queues[entry.Resolver] == nil {
			queues[entry.Resolver] = make(chan domain.OutboxEntry, len(b.entries))
		}
		queues[entry.Resolver] <- entry
	}
	for system, queue := range queues {
		close(queue)
		slots := n.config.Concurrency
		if throttle := n.throttles[system]; throttle != nil {
			slots = cap(throttle.slots)
		}
		for range min(slots, len(queue)) {
			go func() {
				for entry := range queue {
					result := attempted{entry: entry, lost: lost[entry.EntryID]}
					result.answer, result.called = n.attempt(ctx, result, b.leaseUntil)
					n.reportBreaker(ctx, system)
					n.done(system)
					results <- result
				}
			}()
		}
	}
	return results
}

// attempt calls the resolver of an outbox entry if the limits of the system and the lease permit the call. It reports
// whether it has made the call.
func (r *Runner) attempt(ctx context.Context, a attempted, leaseUntil time.Time) (got answer, called bool) {
	throttle := r.throttles[a.entry.Resolver]
	if throttle == nil { // the store returned an entry of a resolver that was not requested
		return r.call(ctx, a.entry), true
	}
	if a.lost || !r.isAdmitted(ctx, throttle, leaseUntil) {
		throttle.giveBack()
		return answer{}, false
	}
	defer throttle.leave()
	began := r.config.Clock.Now()
	got = r.call(ctx, a.entry)
	if got.err != nil && !got.refused {
		throttle.end(began, r.config.Clock.Now(), faltered, got.after)
	} else {
		throttle.end(began, r.config.Clock.Now(), responded, 0)
	}
	return got, true
}

// isAdmitted waits for a slot of the system, and then for its rate limit. It reports whether a call may begin now. If
// it reports true, the caller must call throttle.leave after the call.
func (r *Runner) isAdmitted(ctx context.Context, throttle *throttle, leaseUntil time.Time) bool {
	if !throttle.enter(ctx, leaseUntil.Add(-r.config.CallTimeout).Sub(r.config.Clock.Now())) {
		return false
	}
	if ctx.Err() == nil { // otherwise the caller is stopping
		wait, ok := throttle.begin(r.config.Clock.Now())
		if ok && r.isInTime(wait, leaseUntil) && pause(ctx, wait) && r.isInTime(0, leaseUntil) &&
			!throttle.isBlocked(r.config.Clock.Now()) { // another call may have blocked the system during the pause
			return true
		}
	}
	throttle.leave()
	return false
}

// Admit waits for a slot of a system, and then for its rate limit, as for an entry, for a call that is not about an
// entry. It returns false if ctx ends before, or if the system has requested a wait, or its breaker is open. Otherwise
// the caller must call leave after the call. A system that has no entries has no limits.
func (r *Runner) Admit(ctx context.Context, system string) (leave func(), ok bool) {
	throttle := r.throttles[system]
	if throttle == nil {
		return func() {}, true
	}
	if !throttle.enter(ctx, domain.LongestWait) {
		return nil, false
	}
	if wait, ok := throttle.begin(r.config.Clock.Now()); !ok || !pause(ctx, wait) {
		throttle.leave()
		return nil, false
	}
	return throttle.leave, true
}

// isInTime reports whether a call would end before the lease expires if it began after the given wait.
func (r *Runner) isInTime(wait time.Duration, leaseUntil time.Time) bool {
	return !r.config.Clock.Now().Add(wait + r.config.CallTimeout).After(leaseUntil)
}

// pause waits for the duration. It reports false if ctx ends earlier.
func pause(ctx context.Context, wait time.Duration) bool {
	if wait <= 0 {
		return true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
