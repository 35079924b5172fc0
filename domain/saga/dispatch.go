package saga

import (
	"context"
	"errors"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/detach"
	"github.com/habeas-data/habeas/ports"
)

// outcome is what came of one entry.
type outcome struct {
	settlement    domain.Settlement
	alreadyAbsent bool
}

// dispatch makes the calls of a batch and sends one outcome per entry to the channel it returns.
func (r *Runner) dispatch(ctx context.Context, b batch) <-chan outcome {
	outcomes := make(chan outcome, len(b.entries))
	next := make(chan domain.OutboxEntry, len(b.entries))
	for _, entry := range b.entries {
		next <- entry
	}
	close(next)
	for range min(r.config.Concurrency, len(b.entries)) {
		go func() {
			for entry := range next {
				outcomes <- r.contain(ctx, entry, b.leaseUntil)
			}
		}()
	}
	return outcomes
}

// contain makes a failed attempt of a panic that comes with looking at a resolver's error, whose methods are its own.
func (r *Runner) contain(ctx context.Context, entry domain.OutboxEntry, leaseUntil time.Time) (o outcome) {
	defer func() {
		if recover() != nil {
			o = r.fail(entry, "panic", &panicError{})
		}
	}()
	return r.try(ctx, entry, leaseUntil)
}

// try makes the call of one entry, unless it is no longer the time for it.
func (r *Runner) try(ctx context.Context, entry domain.OutboxEntry, leaseUntil time.Time) outcome {
	givenBack := outcome{settlement: domain.Settlement{Entry: entry, Status: domain.OutboxPending}}
	switch {
	case ctx.Err() != nil:
		return givenBack // nobody waits for more
	case r.config.Clock.Now().Add(r.config.CallTimeout).After(leaseUntil):
		return givenBack // the call could outlast the lease
	case entry.Attempts > r.config.MaxAttempts:
		return r.abandon(entry, "lost") // each attempt ended without an outcome: its process died, or lost its lease
	}
	alreadyAbsent, err := r.call(context.WithoutCancel(ctx), entry)
	if err == nil {
		return outcome{domain.Settlement{Entry: entry, Status: domain.OutboxSucceeded}, alreadyAbsent}
	}
	class := domain.ErrorClass(err)
	if panicked := (*panicError)(nil); errors.As(err, &panicked) {
		class = "panic"
	}
	var refused *domain.ResolverError
	if errors.As(err, &refused) {
		return r.abandon(entry, class)
	}
	return r.fail(entry, class, err)
}

// fail is the outcome of an attempt that may be repeated, unless it was the last one.
func (r *Runner) fail(entry domain.OutboxEntry, class string, err error) outcome {
	if entry.Attempts >= r.config.MaxAttempts {
		return r.abandon(entry, class)
	}
	retryAt := domain.Instant(r.config.Clock.Now().Add(r.backoff(entry.Attempts, err)))
	return outcome{settlement: domain.Settlement{
		Entry: entry, Status: domain.OutboxFailed, LastError: class, NextAttemptAt: &retryAt,
	}}
}

func (r *Runner) abandon(entry domain.OutboxEntry, class string) outcome {
	return outcome{settlement: domain.Settlement{Entry: entry, Status: domain.OutboxAbandoned, LastError: class}}
}

// backoff is how long to wait after an attempt: doubled each time up to the limit, and longer where the system says
// so, but for a bound: one that says "next year" is not forgotten until then.
func (r *Runner) backoff(attempts int, err error) time.Duration {
	wait := r.config.FirstBackoff
	for i := 1; i < attempts && wait < r.config.MaxBackoff; i++ {
		wait *= 2
	}
	wait = min(wait, r.config.MaxBackoff)
	var later *domain.RetryLater
	if errors.As(err, &later) {
		wait = max(wait, min(later.After, domain.LongestWait))
	}
	return wait
}

// panicError stands for a panic of a resolver, whose value may hold anything.
type panicError struct{}

func (*panicError) Error() string { return "habeas: a resolver panicked" }

// call asks the resolver of the entry to do what the entry says. It never takes longer than CallTimeout: a resolver that
// does not heed its context is left behind, and its answer is not waited for. Its context then uses nothing of ctx any
// more, which may be that of a request.
func (r *Runner) call(ctx context.Context, entry domain.OutboxEntry) (alreadyAbsent bool, err error) {
	ctx, release := detach.New(ctx)
	defer release()
	ctx, cancel := context.WithTimeout(ctx, r.config.CallTimeout)
	defer cancel()
	type answer struct {
		alreadyAbsent bool
		err           error
	}
	answered := make(chan answer, 1)
	go func() {
		a := answer{err: &panicError{}} // unless carryOut returns
		defer func() {
			_ = recover()
			answered <- a
		}()
		absent, err := r.carryOut(ctx, entry)
		a = answer{absent, err}
	}()
	select {
	case a := <-answered:
		return a.alreadyAbsent, a.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func (r *Runner) carryOut(ctx context.Context, entry domain.OutboxEntry) (alreadyAbsent bool, err error) {
	resolver, ok := r.config.Resolvers.Get(entry.Resolver)
	if !ok {
		return false, &domain.ResolverError{Resolver: entry.Resolver, Message: "is not registered"}
	}
	switch entry.Operation {
	case domain.OperationErase:
		return resolver.EraseSubject(ctx, entry.Ref, entry.EntryID)
	case domain.OperationRectify:
		if rectifying, ok := resolver.(ports.RectifyingResolver); ok {
			return false, rectifying.RectifySubject(ctx, entry.Ref, entry.EntryID, entry.Corrections)
		}
	}
	return false, &domain.ResolverError{Resolver: entry.Resolver, Message: "does not know the operation"}
}
