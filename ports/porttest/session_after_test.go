package porttest

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// notifier is a session that passes functions of AfterCommit to notify.
type notifier struct {
	replaced
	notify func(fn func(context.Context))
}

func (n notifier) AfterCommit(fn func(context.Context)) { n.notify(fn) }

// notifies returns a defect of the calls after a commit.
func notifies(notify func(s ports.CommitNotifier, fn func(context.Context))) func(*Store) {
	return changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		return do(ctx, func(ctx context.Context, s ports.Session) error {
			own, _ := s.(ports.CommitNotifier)
			return fn(ctx, notifier{replaced{Session: s}, func(after func(context.Context)) { notify(own, after) }})
		})
	})
}

// callsAfterAnyEnd is the defect of a session that calls functions of AfterCommit after any end.
var callsAfterAnyEnd = changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
	var after []func(context.Context)
	defer func() {
		for _, fn := range after {
			fn(ctx)
		}
	}()
	return do(ctx, func(ctx context.Context, s ports.Session) error {
		return fn(ctx, notifier{replaced{Session: s}, func(fn func(context.Context)) { after = append(after, fn) }})
	})
})

// callsInside is the defect of a context that still belongs to the session.
var callsInside = changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
	return do(ctx, func(inside context.Context, s ports.Session) error {
		own, _ := s.(ports.CommitNotifier)
		return fn(inside, notifier{replaced{Session: s}, func(fn func(context.Context)) {
			own.AfterCommit(func(context.Context) { fn(inside) })
		}})
	})
})

// ends is a session that passes functions of AfterEnd to notify.
type ends struct {
	replaced
	notify func(fn func(context.Context, error))
}

func (e ends) AfterEnd(fn func(context.Context, error)) { e.notify(fn) }

// changesAfterEnd returns a defect of the calls at the end of a session.
func changesAfterEnd(notify func(s ports.EndNotifier, fn func(context.Context, error))) func(*Store) {
	return changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		return do(ctx, func(ctx context.Context, s ports.Session) error {
			own, _ := s.(ports.EndNotifier)
			return fn(ctx, ends{replaced{Session: s}, func(end func(context.Context, error)) { notify(own, end) }})
		})
	})
}

// callsAfterEndInside is the defect of a context that still belongs to the session.
var callsAfterEndInside = changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
	return do(ctx, func(inside context.Context, s ports.Session) error {
		own, _ := s.(ports.EndNotifier)
		return fn(inside, ends{replaced{Session: s}, func(end func(context.Context, error)) {
			own.AfterEnd(func(_ context.Context, err error) { end(inside, err) })
		}})
	})
})

// observes returns a defect of the observer of a session.
func observes(change func(o ports.Observer) ports.Observer) func(*Store) {
	return func(store *Store) {
		observed := store.Observed
		store.Observed = func(t testing.TB, observer ports.Observer) ports.SessionFactory {
			t.Helper()
			return observed(t, change(observer))
		}
	}
}

// startFunc is an observer that only observes activities.
type startFunc func(context.Context, domain.Activity) (context.Context, func(domain.Ended))

func (f startFunc) Start(ctx context.Context, a domain.Activity) (context.Context, func(domain.Ended)) {
	return f(ctx, a)
}

func (startFunc) Observe(context.Context, domain.Observation) {}

// probed is a session factory with a probe.
type probed struct {
	doFunc
	probe func(context.Context) error
}

func (p probed) Probe(ctx context.Context) error { return p.probe(ctx) }

// probes returns a defect of the probes of a store and of an unreachable store.
func probes(here, away func(context.Context) error) func(*Store) {
	return func(store *Store) {
		store.Sessions = probed{store.Sessions.Do, here}
		unreachable := store.Unreachable
		store.Unreachable = func(t testing.TB) ports.SessionFactory {
			t.Helper()
			return probed{unreachable(t).Do, away}
		}
	}
}

// probeRight is a correct probe of a reachable store.
func probeRight(ctx context.Context) error { return ctx.Err() }

// away is a correct probe of an unreachable store.
func away(context.Context) error { return errNowhere }
