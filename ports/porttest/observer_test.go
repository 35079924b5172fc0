package porttest

import (
	"context"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// fakeObserver is an observer that ignores observations. If start is set, it replaces Start.
type fakeObserver struct {
	start func(context.Context) (context.Context, func(observation.ActivityEnd))
}

func (f fakeObserver) Start(ctx context.Context, _ observation.Activity) (context.Context,
	func(observation.ActivityEnd),
) {
	if f.start != nil {
		return f.start(ctx)
	}
	return ctx, nil
}

func (fakeObserver) Observe(context.Context, observation.Observation) {}

func TestAnObserverThatKeepsItsPromisesPasses(t *testing.T) {
	TestObserver(t, func(testing.TB) ports.Observer { return fakeObserver{} })
}

func TestAnObserverThatTakesOneAtATimeIsFoundOut(t *testing.T) {
	var mu sync.Mutex
	within := 0
	oneAtATime := fakeObserver{func(ctx context.Context) (context.Context, func(observation.ActivityEnd)) {
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
	type found = promise.Finds[observerHarness]
	promise.ExpectDefects(t, observerPromises, func(o ports.Observer) (observerHarness, found) {
		return func(testing.TB) ports.Observer { return o },
			found{"the observer panicked with a string": {observerIsSafeForConcurrentUse}}
	}, map[string]ports.Observer{"one at a time": oneAtATime})
}
