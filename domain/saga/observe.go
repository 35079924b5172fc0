package saga

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

// begin notifies the observer that a call of a resolver begins. It does nothing if the resolver is not registered.
func (r *Runner) begin(ctx context.Context, entry domain.OutboxEntry) (context.Context, ports.RunningActivity) {
	if _, registered := r.resolvers.Get(entry.Resolver); !registered {
		return ctx, ports.RunningActivity{}
	}
	return ports.StartActivity(ctx, r.config.Observer, observation.Activity{
		Kind: observation.ActivityCall, System: entry.Resolver, Call: observation.CallOperation(entry.Operation),
	})
}

// breakerReport holds the breaker state that was last reported to the observer.
type breakerReport struct {
	mu       sync.Mutex // held during the call of the observer, to keep the order of the states
	reported observation.BreakerState
}

// reportBreaker reports the state of a system's breaker to the observer if it has changed.
func (r *Runner) reportBreaker(ctx context.Context, system string) {
	throttle := r.throttles[system]
	if r.config.Observer == nil || throttle == nil {
		return
	}
	throttle.reporting.mu.Lock()
	defer throttle.reporting.mu.Unlock()
	if state := throttle.state(); state != throttle.reporting.reported {
		throttle.reporting.reported = state
		ports.Emit(ctx, r.config.Observer, observation.BreakerObserved{System: system, State: state})
	}
}

// state returns the state of the breaker.
func (t *throttle) state() observation.BreakerState {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.opened == 0:
		return observation.BreakerClosed
	case t.probing:
		return observation.BreakerHalfOpen
	default:
		return observation.BreakerOpen
	}
}

// ObserveOutbox reads the backlogs of the outbox and reports the backlogs to the observer. It also reports breaker
// states that were not reported yet. A worker that has an observer calls it every minute. It does nothing if the runner
// has no observer.
func (r *Runner) ObserveOutbox(ctx context.Context) error {
	if r.config.Observer == nil {
		return nil
	}
	for _, system := range r.resolvers.Names() {
		r.reportBreaker(ctx, system)
	}
	backlogs, err := r.backlogs(ctx)
	if err != nil {
		return err
	}
	for _, system := range r.resolvers.Names() {
		if !slices.ContainsFunc(backlogs, func(b domain.OutboxBacklog) bool { return b.Resolver == system }) {
			backlogs = append(backlogs, domain.OutboxBacklog{Resolver: system, Counts: maps.Clone(noEntries)})
		}
	}
	ports.Emit(ctx, r.config.Observer, observation.OutboxObserved{Backlogs: backlogs})
	return nil
}

// noEntries has a count of zero for each status. The observer gets these counts for a system without a backlog.
var noEntries = map[domain.OutboxStatus]int64{
	domain.OutboxPending: 0, domain.OutboxInFlight: 0, domain.OutboxFailed: 0, domain.OutboxAbandoned: 0,
	domain.OutboxSpared: 0,
}

// backlogs reads the backlogs of all systems.
func (r *Runner) backlogs(ctx context.Context) (backlogs []domain.OutboxBacklog, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.config.CallTimeout)
	defer cancel()
	err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		backlogs, err = s.OutboxAdmin().Backlog(ctx)
		return err
	})
	return backlogs, err
}
