package ports_test

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/tests/observed"
	"github.com/habeas-data/habeas/ports"
)

var activity = observation.Activity{Kind: observation.ActivitySession}

func TestAnObserverIsNotified(t *testing.T) {
	recorder := &observed.Recorder{}
	ctx, observed := ports.StartActivity(t.Context(), recorder, activity)
	inner, innerObserved := ports.StartActivity(ctx, recorder, observation.Activity{
		Kind: observation.ActivityCall, System: "desk", Call: observation.CallExport,
	})
	ports.Emit(inner, recorder, observation.RightObserved{Right: observation.RightExport, Outcome: domain.OutcomeOK})
	innerObserved.End(observation.ActivityEnd{Outcome: domain.OutcomeTimeout})
	observed.End(observation.ActivityEnd{Outcome: domain.OutcomeOK, Retries: 2})
	recorder.Want(t, "export: ok", "session > call desk export: timeout", "session: ok after 2 retries")
}

func TestWithoutAnObserverNothingIsAllocated(t *testing.T) {
	ctx := t.Context()
	allocations := testing.AllocsPerRun(100, func() {
		within, observed := ports.StartActivity(ctx, nil, activity)
		if within != ctx {
			t.Error("Begin returned another context")
		}
		observed.End(observation.ActivityEnd{Outcome: domain.OutcomeOK})
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
	ports.Emit(ctx, nil, observation.PollObserved{})
}

// silent is an observer that returns a nil context and a nil function.
type silent struct{ observed.Broken }

func (silent) Start(context.Context, observation.Activity) (context.Context, func(observation.ActivityEnd)) {
	return nil, nil
}

func TestAFaultyObserverIsContained(t *testing.T) {
	var none *observed.Recorder // a nil pointer, which makes an interface value that is not nil
	for name, observer := range map[string]ports.Observer{
		"panics": observed.Broken{}, "panics at the end": observed.Broken{AtEnd: true}, "returns nothing": silent{},
		"nil": none,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, ending := ports.StartActivity(t.Context(), observer, activity)
			if ctx != t.Context() {
				t.Error("Begin returned another context")
			}
			ending.End(observation.ActivityEnd{Outcome: domain.OutcomeOK})
			ports.Emit(t.Context(), observer, observation.PollObserved{})
		})
	}
}
