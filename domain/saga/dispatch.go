package saga

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/detach"
	"github.com/habeas-data/habeas/ports"
)

// outcome is the result of the processing of one claimed outbox entry.
type outcome struct {
	settlement    domain.Settlement
	alreadyAbsent bool
	gaveUp        bool               // the entry was abandoned although it could have been retried
	ifYoung       *domain.Settlement // replaces settlement if the first attempt was more recent than GiveUpAfter
	after         time.Duration      // the wait that the system requested; 0 if it requested no wait
	cause         error              // the error of the attempt; nil if there was no error
}

// dispatch starts the calls of a batch and returns a channel that receives one outcome per entry. The calls of
// different systems run in parallel.
func (n *run) dispatch(ctx context.Context, b batch) <-chan outcome {
	outcomes := make(chan outcome, len(b.entries))
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
					o := n.attempt(ctx, entry, b.leaseUntil)
					n.done(system)
					outcomes <- o
				}
			}()
		}
	}
	return outcomes
}

// attempt calls the resolver of an outbox entry if the limits of the system and the lease permit the call. Otherwise it
// returns the entry to the outbox without a call. If a method of the resolver's error panics, the attempt counts as
// failed.
func (r *Runner) attempt(ctx context.Context, entry domain.OutboxEntry, leaseUntil time.Time) (o outcome) {
	began, called := time.Time{}, false
	throttle := r.throttles[entry.Resolver] // nil if the store returned an entry of a resolver that was not requested
	defer func() {
		if recover() != nil {
			o = r.fail(entry, "panic", &panicError{})
		}
		switch {
		case throttle == nil:
		case !called:
			throttle.giveBack()
		case o.settlement.Status == domain.OutboxFailed || o.gaveUp:
			throttle.end(began, r.config.Clock.Now(), faltered, o.after)
		default:
			throttle.end(began, r.config.Clock.Now(), responded, 0)
		}
		r.reportBreaker(ctx, entry.Resolver)
	}()
	givenBack := outcome{settlement: domain.Settlement{Entry: entry, Status: domain.OutboxPending}}
	if r.isLost(ctx, entry) {
		return r.abandon(entry, "lost", nil)
	}
	if throttle != nil {
		if !throttle.enter(ctx, leaseUntil.Add(-r.config.CallTimeout).Sub(r.config.Clock.Now())) {
			return givenBack
		}
		defer throttle.leave()
	}
	if ctx.Err() != nil { // the caller is stopping
		return givenBack
	}
	if throttle != nil {
		wait, ok := throttle.begin(r.config.Clock.Now())
		if !ok || !r.inTime(wait, leaseUntil) || !pause(ctx, wait) {
			return givenBack
		}
	}
	if !r.inTime(0, leaseUntil) {
		return givenBack
	}
	began, called = r.config.Clock.Now(), true
	return r.try(ctx, entry)
}

// inTime reports whether a call would end before the lease expires if it began after the given wait.
func (r *Runner) inTime(wait time.Duration, leaseUntil time.Time) bool {
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

// try calls the resolver of an entry.
func (r *Runner) try(ctx context.Context, entry domain.OutboxEntry) outcome {
	alreadyAbsent, err := r.call(context.WithoutCancel(ctx), entry)
	if err == nil {
		return outcome{
			settlement: domain.Settlement{Entry: entry, Status: domain.OutboxSucceeded}, alreadyAbsent: alreadyAbsent,
		}
	}
	class := domain.ErrorClass(err)
	if panicked := (*panicError)(nil); errors.As(err, &panicked) {
		class = "panic"
	}
	var refused *domain.ResolverError
	if errors.As(err, &refused) {
		return r.abandon(entry, class, err)
	}
	return r.fail(entry, class, err)
}

// fail returns the outcome of a failed attempt. The entry is abandoned if this was its last attempt, and otherwise
// retried. No entry is older than its intake, so fail compares the intake first. The runner reads the first attempt
// only if the intake is too old (see spareYoung). A first attempt is never too old.
func (r *Runner) fail(entry domain.OutboxEntry, class string, err error) outcome {
	var after time.Duration
	if later := (*domain.RetryLater)(nil); errors.As(err, &later) {
		after = min(later.After, domain.LongestWait)
	}
	retryAt := domain.Instant(r.config.Clock.Now().Add(r.backoff(entry.Attempts, after)))
	failed := outcome{settlement: domain.Settlement{
		Entry: entry, Status: domain.OutboxFailed, LastError: class, NextAttemptAt: &retryAt,
	}, after: after, cause: err}
	tooOften := r.config.MaxAttempts > 0 && entry.Attempts >= r.config.MaxAttempts
	if !tooOften && (entry.Attempts <= 1 || !r.isTooOld(entry.EnqueuedAt)) {
		return failed
	}
	given := r.abandon(entry, class, err)
	given.gaveUp, given.after = true, after
	if !tooOften {
		given.ifYoung = &failed.settlement
	}
	return given
}

// isLost reports whether too many attempts of the entry ended without an outcome. An attempt has no outcome if the
// process dies, or if the lease expires before the outcome is written.
func (r *Runner) isLost(ctx context.Context, entry domain.OutboxEntry) bool {
	if r.config.MaxAttempts > 0 && entry.Attempts > r.config.MaxAttempts {
		return true
	}
	doublings := int(math.Log2(float64(r.config.MaxBackoff/r.config.FirstBackoff + 1)))
	most := 2*int(r.config.GiveUpAfter/r.config.MaxBackoff) + 2*doublings + 10 // jitter halves waits
	if entry.Attempts <= most || !r.isTooOld(entry.EnqueuedAt) {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.config.CallTimeout)
	defer cancel()
	var first map[string]time.Time
	err := r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		first, err = s.Outbox().FirstClaims(ctx, []string{entry.EntryID})
		return err
	})
	return err == nil && r.isTooOld(firstOr(first, entry))
}

// isTooOld reports whether to give up an entry whose first attempt was at the given time.
func (r *Runner) isTooOld(since time.Time) bool {
	return r.config.Clock.Now().Sub(since) >= r.config.GiveUpAfter
}

func (r *Runner) abandon(entry domain.OutboxEntry, class string, cause error) outcome {
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

// panicError replaces the value of a resolver's panic, because that value may hold personal data.
type panicError struct{}

func (*panicError) Error() string { return "habeas: a resolver panicked" }

// outcomeOf returns the outcome of a call for the observer.
func outcomeOf(err error) domain.Outcome {
	if _, panicked := err.(*panicError); panicked { //nolint:errorlint // unwrapped, as call returns it
		return domain.OutcomePanic
	}
	return domain.OutcomeOf(err)
}

// call calls the resolver for the operation of the entry. It takes at most CallTimeout. If the resolver ignores its
// context, call returns without waiting for its result. The context of the resolver then no longer calls methods of
// ctx, because ctx may belong to a request that has ended.
func (r *Runner) call(ctx context.Context, entry domain.OutboxEntry) (alreadyAbsent bool, err error) {
	ctx, release := detach.New(ctx)
	defer release()
	ctx, cancel := context.WithTimeout(ctx, r.config.CallTimeout)
	defer cancel()
	ctx, observed := r.begin(ctx, entry)
	defer func() { observed.End(domain.Ended{Outcome: outcomeOf(err)}) }()
	type result struct {
		alreadyAbsent bool
		err           error
	}
	results := make(chan result, 1)
	go func() {
		got := result{err: &panicError{}} // kept if carryOut panics
		defer func() {
			_ = recover()
			results <- got
		}()
		absent, err := r.carryOut(ctx, entry)
		got = result{absent, err}
	}()
	select {
	case got := <-results:
		return got.alreadyAbsent, got.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func (r *Runner) carryOut(ctx context.Context, entry domain.OutboxEntry) (alreadyAbsent bool, err error) {
	resolver, ok := r.resolvers.Get(entry.Resolver)
	if !ok {
		return false, &domain.ResolverError{Resolver: entry.Resolver, Message: "is not registered"}
	}
	switch entry.Operation {
	case domain.OperationErase:
		if keys := entry.Ref.Keys; len(keys) > 0 {
			return eraseKeys(ctx, resolver, keys, entry.EntryID)
		}
		return resolver.EraseSubject(ctx, entry.Ref, entry.EntryID)
	case domain.OperationRectify:
		if rectifying, ok := resolver.(ports.RectifyingResolver); ok {
			return false, rectifying.RectifySubject(ctx, entry.Ref, entry.EntryID, entry.Corrections)
		}
	}
	return false, &domain.ResolverError{Resolver: entry.Resolver, Message: "does not know the operation"}
}

func eraseKeys(
	ctx context.Context, resolver ports.Resolver, keys []string, entryID string,
) (allAbsent bool, err error) {
	ofKeys, ok := resolver.(ports.KeyResolver)
	if !ok {
		return false, &domain.ResolverError{Resolver: resolver.Name(), Message: "does not take keys"}
	}
	absent, err := ofKeys.EraseKeys(ctx, slices.Clone(keys), entryID)
	return absent >= len(keys), err
}
