package saga

import (
	"context"
	"errors"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/detach"
)

// answer is the result of a call of a resolver.
type answer struct {
	alreadyAbsent bool
	err           error
	class         string         // the class of err
	refused       bool           // whether err is permanent
	spared        bool           // whether the resolver has left a record alone, see domain.ErrSpared
	after         time.Duration  // the wait that the system requested; 0 if it requested no wait
	outcome       domain.Outcome // for the observer
}

// answerOf calls methods of the error, which may panic.
func answerOf(alreadyAbsent bool, err error) answer {
	a := answer{alreadyAbsent: alreadyAbsent, err: err, outcome: domain.OutcomeOf(err)}
	if err == nil {
		return a
	}
	if errors.Is(err, domain.ErrSpared) {
		return answer{spared: true, outcome: domain.Outcome(domain.ErrSpared)}
	}
	a.class = domain.ErrorClass(err)
	refused, later := (*domain.ResolverError)(nil), (*domain.RetryLaterError)(nil)
	a.refused = errors.As(err, &refused)
	if errors.As(err, &later) {
		a.after = min(later.After, domain.LongestWait)
	}
	return a
}

// panicError replaces the value of a resolver's panic, because that value may hold personal data.
type panicError struct{}

func (*panicError) Error() string { return "habeas: a resolver panicked" }

// call calls the resolver for the operation of the entry. It takes at most CallTimeout, even if ctx ends. If the
// resolver ignores its context, call returns without waiting for its result. The context of the resolver then no longer
// calls methods of ctx, because ctx may belong to a request that has ended.
func (r *Runner) call(ctx context.Context, entry domain.OutboxEntry) (a answer) {
	ctx, release := detach.New(context.WithoutCancel(ctx))
	defer release()
	ctx, cancel := context.WithTimeout(ctx, r.config.CallTimeout)
	defer cancel()
	ctx, observed := r.begin(ctx, entry)
	defer func() { observed.End(observation.ActivityEnd{Outcome: a.outcome}) }()
	answers := make(chan answer, 1)
	go func() {
		got := answer{err: &panicError{}, class: "panic", outcome: domain.OutcomePanic} // kept after a panic
		defer func() {
			_ = recover()
			answers <- got
		}()
		got = answerOf(r.invoke(ctx, entry))
	}()
	select {
	case a = <-answers:
		return a
	case <-ctx.Done():
		return answerOf(false, ctx.Err())
	}
}

// invoke calls the method of the resolver for the operation of the entry.
func (r *Runner) invoke(ctx context.Context, entry domain.OutboxEntry) (alreadyAbsent bool, err error) {
	resolver, ok := r.resolvers.Get(entry.Resolver)
	if !ok {
		return false, &domain.ResolverError{Resolver: entry.Resolver, Message: "is not registered"}
	}
	call := domain.ErasureCall{EntryID: entry.EntryID, RequestedAt: entry.RequestedAt, Attempt: entry.Attempts}
	if operation, known := operations[entry.Operation]; known {
		return operation.call(ctx, resolver, entry, call)
	}
	return false, unknownOperation(entry)
}
