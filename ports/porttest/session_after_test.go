package porttest

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

type afterEnd struct {
	replacedStores
	notify func(fn func(context.Context, error))
}

func (e afterEnd) AfterEnd(fn func(context.Context, error)) { e.notify(fn) }

// changesAfterEnd returns a function that makes a store defective: notify replaces the method AfterEnd of its sessions.
func changesAfterEnd(notify func(s ports.Session, fn func(context.Context, error))) func(*Store) {
	return changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		return do(ctx, func(ctx context.Context, s ports.Session) error {
			return fn(ctx, afterEnd{replacedStores{Session: s}, func(end func(context.Context, error)) { notify(s, end) }})
		})
	})
}

// callsAfterEndInside makes a store defective: it passes the context of the session to the functions of AfterEnd,
// although the session has ended.
var callsAfterEndInside = changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
	return do(ctx, func(inside context.Context, s ports.Session) error {
		return fn(inside, afterEnd{replacedStores{Session: s}, func(end func(context.Context, error)) {
			s.AfterEnd(func(_ context.Context, err error) { end(inside, err) })
		}})
	})
})

// changesObserver returns a function that makes a store defective: it reports its sessions to fn(o) instead of the
// observer o.
func changesObserver(fn func(o ports.Observer) ports.Observer) func(*Store) {
	return func(store *Store) {
		observed := store.Observed
		store.Observed = func(t testing.TB, observer ports.Observer) ports.SessionFactory {
			t.Helper()
			return observed(t, fn(observer))
		}
	}
}

// startFunc is an observer that ignores observations.
type startFunc func(context.Context, observation.Activity) (context.Context, func(observation.ActivityEnd))

func (f startFunc) Start(ctx context.Context, a observation.Activity) (context.Context, func(observation.ActivityEnd)) {
	return f(ctx, a)
}

func (startFunc) Observe(context.Context, observation.Observation) {}

// changesProbes returns a function that makes a store defective: its Probe calls the first function if the database can
// be reached, and the second function otherwise.
func changesProbes(here, away func(context.Context) error) func(*Store) {
	return func(store *Store) {
		store.Sessions = factory{store.Sessions.Do, store.Sessions.Rehearse, here}
		unreachable := store.Unreachable
		store.Unreachable = func(t testing.TB) Store {
			t.Helper()
			broken := unreachable(t)
			broken.Sessions = factory{broken.Sessions.Do, broken.Sessions.Rehearse, away}
			return broken
		}
	}
}

// probeReachable is a correct probe of a store that can be reached.
func probeReachable(ctx context.Context) error { return ctx.Err() }

// probeUnreachable is a correct probe of a store that cannot be reached.
func probeUnreachable(context.Context) error { return errNowhere }
