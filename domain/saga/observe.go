package saga

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// begin tells the observer that a call of a resolver begins. An entry for a resolver that is not registered has none.
func (r *Runner) begin(ctx context.Context, entry domain.OutboxEntry) (context.Context, ports.Ending) {
	if _, registered := r.resolvers.Get(entry.Resolver); !registered {
		return ctx, ports.Ending{}
	}
	call := domain.CallErase
	if entry.Operation == domain.OperationRectify {
		call = domain.CallRectify
	}
	return ports.Begin(ctx, r.config.Observer, domain.Activity{
		Kind: domain.ActivityCall, System: entry.Resolver, Call: call,
	})
}

// turns keep what the observer was told of the breaker of a system.
type turns struct {
	mu   sync.Mutex // held while the observer is told, so that it is told in order
	told domain.BreakerState
}

// turned tells the observer of the state of a system's breaker if it has changed.
func (r *Runner) turned(ctx context.Context, system string) {
	throttle := r.throttles[system]
	if r.config.Observer == nil || throttle == nil {
		return
	}
	throttle.turns.mu.Lock()
	defer throttle.turns.mu.Unlock()
	if state := throttle.state(); state != throttle.turns.told {
		throttle.turns.told = state
		ports.Observe(ctx, r.config.Observer, domain.BreakerObserved{System: system, State: state})
	}
}

// state is that of the breaker.
func (t *throttle) state() domain.BreakerState {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.opened == 0:
		return domain.BreakerClosed
	case t.probing:
		return domain.BreakerHalfOpen
	default:
		return domain.BreakerOpen
	}
}

// ObserveOutbox reads the state of the outbox and tells the observer of it, and of the breaker of each system whose
// state it was not told of. A worker calls it every minute. Without an observer, or on a store that does not implement
// ports.OutboxOperations, it does nothing.
func (r *Runner) ObserveOutbox(ctx context.Context) error {
	if r.config.Observer == nil {
		return nil
	}
	for _, system := range r.resolvers.Names() {
		r.turned(ctx, system)
	}
	backlogs, known, err := r.backlogs(ctx)
	if err != nil || !known {
		return err
	}
	for _, system := range r.resolvers.Names() {
		if !slices.ContainsFunc(backlogs, func(b domain.OutboxBacklog) bool { return b.Resolver == system }) {
			backlogs = append(backlogs, domain.OutboxBacklog{Resolver: system, Counts: maps.Clone(noEntries)})
		}
	}
	ports.Observe(ctx, r.config.Observer, domain.OutboxObserved{Backlogs: backlogs})
	return nil
}

// noEntries are the counts of a system without a backlog.
var noEntries = map[domain.OutboxStatus]int64{
	domain.OutboxPending: 0, domain.OutboxInFlight: 0, domain.OutboxFailed: 0, domain.OutboxAbandoned: 0,
}

// backlogs reads what is left to be done, where the store knows that.
func (r *Runner) backlogs(ctx context.Context) (backlogs []domain.OutboxBacklog, known bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.config.CallTimeout)
	defer cancel()
	err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		var operations ports.OutboxOperations
		if operations, known = s.Outbox().(ports.OutboxOperations); known {
			backlogs, err = operations.Backlog(ctx)
		}
		return err
	})
	return backlogs, known, err
}
