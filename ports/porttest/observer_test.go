package porttest

import (
	"context"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// fakeObserver is an observer whose methods a test can replace.
type fakeObserver struct {
	start   func(context.Context, observation.Activity) (context.Context, func(observation.ActivityEnd))
	observe func(observation.Observation)
}

func (f fakeObserver) Start(ctx context.Context, a observation.Activity) (context.Context,
	func(observation.ActivityEnd),
) {
	if f.start != nil {
		return f.start(ctx, a)
	}
	return ctx, nil
}

func (f fakeObserver) Observe(_ context.Context, o observation.Observation) {
	if f.observe != nil {
		f.observe(o)
	}
}

func TestAnObserverThatKeepsItsPromisesPasses(t *testing.T) {
	TestObserver(t, func(testing.TB) ports.Observer { return fakeObserver{} })
}

func TestObserversThatBreakAPromiseFail(t *testing.T) {
	type observerFinds = promise.Finds[observerHarness]
	type defect struct {
		newObserver func() ports.Observer
		found       observerFinds
	}
	starts := func(within func(context.Context) context.Context) func() ports.Observer {
		return func() ports.Observer {
			return fakeObserver{start: func(
				ctx context.Context, _ observation.Activity,
			) (context.Context, func(observation.ActivityEnd)) {
				return within(ctx), nil
			}}
		}
	}
	type key struct{}
	promise.ExpectDefects(t, observerPromises, func(d defect) (observerHarness, observerFinds) {
		return func(testing.TB) ports.Observer { return d.newObserver() }, d.found
	}, map[string]defect{
		"an unknown right": {func() ports.Observer {
			return fakeObserver{observe: func(o observation.Observation) {
				if right, is := o.(observation.RightObserved); is && right.Right == "of a later version" {
					panic("unknown")
				}
			}}
		}, observerFinds{"the observer panicked with a string": {observerTakesEverything}}},
		"no context": {starts(func(context.Context) context.Context { return nil }), observerFinds{
			"is nil": {observerContinuesTheContext},
		}},
		"a context of its own": {
			starts(func(context.Context) context.Context { return context.WithValue(context.Background(), key{}, 1) }),
			observerFinds{"lacks the values of the caller's": {observerContinuesTheContext}},
		},
		"a context without an end": {starts(context.WithoutCancel), observerFinds{
			"ends at another time": {observerContinuesTheContext},
		}},
		"counts that are taken over": {func() ports.Observer {
			return fakeObserver{observe: func(o observation.Observation) {
				if outbox, is := o.(observation.OutboxObserved); is && len(outbox.Backlogs) > 0 {
					clear(outbox.Backlogs[0].Counts)
				}
			}}
		}, observerFinds{"the observer changed the count of": {observerChangesNothing}}},
		"one at a time": {func() ports.Observer {
			var mu sync.Mutex
			within := 0
			return fakeObserver{start: func(
				ctx context.Context, _ observation.Activity,
			) (context.Context, func(observation.ActivityEnd)) {
				mu.Lock()
				defer mu.Unlock()
				if within++; within > 1 {
					panic("two at a time")
				}
				return ctx, func(observation.ActivityEnd) {
					mu.Lock()
					defer mu.Unlock()
					within--
				}
			}}
		}, observerFinds{"the observer panicked with a string": {observerIsSafeForConcurrentUse}}},
	})
}
