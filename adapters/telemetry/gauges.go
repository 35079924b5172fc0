package telemetry

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
)

// gauges holds the newest observations. The gauges are computed from them when metrics are collected, so that an age is
// correct at the time of the collection.
type gauges struct {
	mu           sync.Mutex
	systems      []system
	breakers     map[string]observation.BreakerState
	duties       map[domain.DutyName]domain.Duty
	heartbeat    time.Time // the last successful batch, or the first batch if none succeeded; zero before the first batch
	registration metric.Registration
}

// system describes the outbox entries of an external system.
type system struct {
	name            string
	counts          map[domain.OutboxStatus]int64
	oldest, dueFrom time.Time // zero without such an entry
}

// reportedStatuses has the statuses of outbox entries that have not succeeded.
var reportedStatuses = []domain.OutboxStatus{
	domain.OutboxPending, domain.OutboxInFlight, domain.OutboxFailed, domain.OutboxAbandoned,
	domain.OutboxSpared,
}

var states = []observation.BreakerState{observation.BreakerClosed, observation.BreakerHalfOpen, observation.BreakerOpen}

func (g *gauges) outbox(observed observation.OutboxObserved) {
	systems := make([]system, len(observed.Backlogs))
	for i, backlog := range observed.Backlogs {
		systems[i] = system{name: backlog.Resolver, counts: map[domain.OutboxStatus]int64{}}
		for _, status := range reportedStatuses {
			systems[i].counts[status] = backlog.Counts[status]
		}
		if backlog.Oldest != nil {
			systems[i].oldest = *backlog.Oldest
		}
		if backlog.OldestDue != nil {
			systems[i].dueFrom = *backlog.OldestDue
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, before := range g.systems { // a system without entries is reported as 0
		if !slices.ContainsFunc(systems, func(s system) bool { return s.name == before.name }) {
			systems = append(systems, system{name: before.name})
		}
	}
	g.systems = systems
}

func (g *gauges) breaker(observed observation.BreakerObserved) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.breakers == nil {
		g.breakers = map[string]observation.BreakerState{}
	}
	g.breakers[observed.System] = observed.State
}

func (g *gauges) duty(observed domain.Duty) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.duties == nil {
		g.duties = map[domain.DutyName]domain.Duty{}
	}
	g.duties[observed.Name] = observed
}

func (g *gauges) poll(observed observation.PollObserved) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if observed.Outcome == domain.OutcomeOK || g.heartbeat.IsZero() {
		g.heartbeat = observed.At
	}
}

// register registers a callback, which computes the gauges when metrics are collected.
func (o *Observer) register(meter metric.Meter) (err error) {
	o.state.registration, err = meter.RegisterCallback(o.collect,
		o.entries, o.breakers, o.oldestAge, o.dueAge, o.heartbeatAge, o.failing, o.leftovers, o.successAge)
	return err
}

// Close stops the export of gauges. The observer still records histograms and counters.
func (o *Observer) Close() error { return o.state.registration.Unregister() }

func (o *Observer) collect(_ context.Context, to metric.Observer) error {
	g, now := &o.state, o.clock.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, system := range g.systems {
		name := systemKey.String(system.name)
		for _, status := range reportedStatuses {
			to.ObserveInt64(o.entries, system.counts[status], o.about,
				metric.WithAttributes(name, entryKey.String(string(status))))
		}
		to.ObserveFloat64(o.oldestAge, age(now, system.oldest), o.about, metric.WithAttributes(name))
		to.ObserveFloat64(o.dueAge, age(now, system.dueFrom), o.about, metric.WithAttributes(name))
	}
	for name, current := range g.breakers {
		for _, state := range states {
			is := int64(0)
			if state == current {
				is = 1
			}
			to.ObserveInt64(o.breakers, is, o.about,
				metric.WithAttributes(systemKey.String(name), stateKey.String(string(state))))
		}
	}
	for name, duty := range g.duties {
		about := metric.WithAttributes(dutyKey.String(string(name)))
		failing := int64(0)
		if duty.State(now) != domain.DutyFulfilled {
			failing = 1
		}
		to.ObserveInt64(o.failing, failing, o.about, about)
		to.ObserveInt64(o.leftovers, duty.LeftOver, o.about, about)
		to.ObserveFloat64(o.successAge, duty.Waits(now).Seconds(), o.about, about)
	}
	if !g.heartbeat.IsZero() {
		to.ObserveFloat64(o.heartbeatAge, age(now, g.heartbeat), o.about)
	}
	return nil
}

// age returns the seconds between the instants since and now. It returns 0 if since is zero or later than now.
func age(now, since time.Time) float64 {
	if since.IsZero() {
		return 0
	}
	return max(0, now.Sub(since).Seconds())
}
