package porttest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestObserver checks that an observer keeps the promises of ports.Observer. newObserver returns a new observer, and is
// called once for each case.
func TestObserver(t *testing.T, newObserver func(t testing.TB) ports.Observer) {
	t.Helper()
	promise.Hold(t, observerPromises, newObserver, nil)
}

type observerHarness = func(t testing.TB) ports.Observer

var observerPromises = []promise.Promise[observerHarness]{
	promise.That(observerTakesEverything,
		"An observer accepts every activity, outcome and observation, including an unknown kind."),
	promise.That(observerContinuesTheContext, "Start returns a context that derives from the context of the caller."),
	promise.That(observerChangesNothing, "An observer does not change an observation, and keeps no reference to it."),
	promise.That(observerIsSafeForConcurrentUse, "An observer is safe for concurrent use (run with -race)."),
}

// activities returns one activity of each kind, and one activity of a kind that the observer cannot know.
func activities() []observation.Activity {
	return []observation.Activity{
		{Kind: observation.ActivityRequest, Method: "GET", Route: "/consent/{purpose}"},
		{Kind: observation.ActivitySession},
		{Kind: observation.ActivityCall, System: "desk", Call: observation.CallExport},
		{Kind: observation.ActivityCall, System: "desk", Call: observation.CallErase},
		{Kind: observation.ActivityCall, System: "desk", Call: observation.CallRectify},
		{Kind: "of a later version"},
	}
}

// observations returns observations of each kind. Those with an outcome have the given outcome.
func observations(outcome domain.Outcome) []observation.Observation {
	return []observation.Observation{
		observation.RightObserved{Right: observation.RightErasure, Outcome: outcome},
		observation.RightObserved{Right: observation.RightExport, Outcome: outcome},
		observation.RightObserved{Right: observation.RightRectification, Outcome: outcome},
		observation.RightObserved{Right: observation.RightConsent, Decision: observation.DecisionGranted, Outcome: outcome},
		observation.RightObserved{Right: observation.RightConsent, Decision: observation.DecisionWithdrawn, Outcome: outcome},
		observation.RightObserved{
			Right: observation.RightRestriction, Decision: observation.DecisionPlaced,
			Outcome: outcome,
		},
		observation.RightObserved{
			Right: observation.RightRestriction, Decision: observation.DecisionLifted,
			Outcome: outcome,
		},
		observation.RightObserved{Right: "of a later version", Outcome: outcome},
		backlogOf("desk", 1),
		observation.OutboxObserved{Backlogs: []domain.OutboxBacklog{{Resolver: "desk"}}}, // no open entries
		observation.OutboxObserved{},
		observation.BreakerObserved{System: "desk", State: observation.BreakerOpen},
		observation.BreakerObserved{System: "desk", State: observation.BreakerHalfOpen},
		observation.BreakerObserved{System: "desk", State: observation.BreakerClosed},
		observation.PollObserved{At: noon, Outcome: outcome, Settled: 3},
		nil,
	}
}

func backlogOf(system string, n int64) observation.OutboxObserved {
	counts := map[domain.OutboxStatus]int64{}
	for _, status := range domain.OutboxStatuses() {
		counts[status] = n
	}
	return observation.OutboxObserved{Backlogs: []domain.OutboxBacklog{
		{Resolver: system, Counts: counts, Oldest: pointer(noon), OldestDue: pointer(noon)},
	}}
}

func reportEverything(t testing.TB, observer ports.Observer, outcome domain.Outcome) {
	t.Helper()
	defer reportPanic(t)
	for _, activity := range activities() {
		ctx, end := observer.Start(t.Context(), activity)
		if end != nil {
			end(observation.ActivityEnd{Outcome: outcome, Status: 200, Retries: 1})
		}
		for _, observation := range observations(outcome) {
			observer.Observe(ctx, observation)
		}
	}
}

// reportPanic fails the case if the observer has panicked. It must be deferred.
func reportPanic(t testing.TB) {
	if value := recover(); value != nil {
		t.Errorf("the observer panicked with a %T", value)
	}
}

func observerTakesEverything(t testing.TB, newObserver observerHarness) {
	observer := newObserver(t)
	for _, outcome := range append(domain.Outcomes(), "", "of a later version") {
		reportEverything(t, observer, outcome)
	}
}

func observerContinuesTheContext(t testing.TB, newObserver observerHarness) {
	type key struct{}
	observer := newObserver(t)
	for _, activity := range activities() {
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "value"), time.Hour)
		within, end := observer.Start(ctx, activity)
		must(t, within != nil, "the context of a %s is nil", activity.Kind)
		deadline, _ := ctx.Deadline()
		got, _ := within.Deadline()
		assert(t, within.Value(key{}) == "value", "the context of a %s lacks the values of the caller's", activity.Kind)
		assert(t, got.Equal(deadline) && within.Err() == nil, "the context of a %s ends at another time", activity.Kind)
		cancel()
		assert(t, within.Err() != nil, "the context of a %s does not end with the caller's", activity.Kind)
		if end != nil {
			end(observation.ActivityEnd{Outcome: domain.OutcomeOK})
		}
	}
}

func observerChangesNothing(t testing.TB, newObserver observerHarness) {
	observer := newObserver(t)
	observed, want := backlogOf("desk", 1), backlogOf("desk", 1)
	observer.Observe(t.Context(), observed)
	for status, n := range want.Backlogs[0].Counts {
		assert(t, observed.Backlogs[0].Counts[status] == n, "the observer changed the count of %s", status)
	}
	assert(t, len(observed.Backlogs) == 1 && observed.Backlogs[0].Resolver == "desk" &&
		observed.Backlogs[0].Oldest.Equal(noon) && observed.Backlogs[0].OldestDue.Equal(noon),
		"the observer changed the backlog")
	var callers sync.WaitGroup // the race detector reports an observer that keeps a reference
	callers.Go(func() { reportEverything(t, observer, domain.OutcomeOK) })
	observed.Backlogs[0].Counts[domain.OutboxPending] = 7
	*observed.Backlogs[0].Oldest, observed.Backlogs[0].Resolver = time.Time{}, "other"
	callers.Wait()
}

func observerIsSafeForConcurrentUse(t testing.TB, newObserver observerHarness) {
	observer := newObserver(t)
	var callers, begun sync.WaitGroup
	begun.Add(goroutines)
	for range goroutines {
		callers.Go(func() {
			defer reportPanic(t)
			_, end := func() (context.Context, func(observation.ActivityEnd)) {
				defer begun.Done()
				return observer.Start(t.Context(), observation.Activity{Kind: observation.ActivitySession})
			}()
			begun.Wait() // every activity has started
			if end != nil {
				end(observation.ActivityEnd{Outcome: domain.OutcomeOK})
			}
			reportEverything(t, observer, domain.OutcomeOK)
		})
	}
	callers.Wait()
}
