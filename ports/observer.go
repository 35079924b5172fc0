package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain/observation"
)

// Observer receives events for metrics and traces. An event carries only counts, durations, instants, names and
// outcomes. The names are those of external systems, routes and other fixed parts of an application. An event never
// carries an id, a value, a ref (the id of a subject in an external system) or any other text. An Observer is safe for
// concurrent use.
//
// The methods are called while a request or a batch is processed, so they must return immediately and must not block.
// They return no error. StartActivity, RunningActivity.End and Emit recover a panic. An observer ignores kinds of
// activities and observations that it does not know, because a later version may add kinds.
type Observer interface {
	// Start is called when an activity begins. It returns a context for the activity, which is derived from ctx, and a
	// function that ends the activity. The caller calls this function once, in any goroutine. The duration of the activity
	// is the time from the call of Start to the call of this function. Start may return ctx itself, and may return nil
	// instead of a function.
	//
	// If another activity begins with the returned context, that activity is a part of the first one. An observer must not
	// use ctx after the end of the activity, because ctx may belong to a request that has ended.
	Start(ctx context.Context, activity observation.Activity) (context.Context, func(observation.ActivityEnd))

	// Observe is called for an event without a duration. The slices and maps in the observation belong to the caller. An
	// observer that keeps one of them copies it.
	Observe(ctx context.Context, observation observation.Observation)
}

// RunningActivity is an activity that StartActivity has started. Its method End ends it. The zero value does nothing.
type RunningActivity struct{ end func(observation.ActivityEnd) }

// StartActivity notifies an observer that an activity begins. It returns the context for the activity and a
// RunningActivity. If observer is nil, StartActivity returns ctx and a RunningActivity that does nothing.
func StartActivity(
	ctx context.Context, observer Observer, activity observation.Activity,
) (context.Context, RunningActivity) {
	if observer == nil {
		return ctx, RunningActivity{}
	}
	return begin(ctx, observer, activity)
}

func begin(
	ctx context.Context, observer Observer, activity observation.Activity,
) (within context.Context, running RunningActivity) {
	defer func() {
		if recover() != nil {
			within, running = ctx, RunningActivity{}
		}
	}()
	within, end := observer.Start(ctx, activity)
	if within == nil {
		within = ctx
	}
	return within, RunningActivity{end}
}

// End notifies the observer that the activity has ended. The caller calls End once.
func (e RunningActivity) End(ended observation.ActivityEnd) {
	if e.end == nil {
		return
	}
	defer func() { _ = recover() }()
	e.end(ended)
}

// Emit notifies an observer of an event without a duration. If observer is nil, Emit does nothing.
func Emit(ctx context.Context, observer Observer, observation observation.Observation) {
	if observer == nil {
		return
	}
	defer func() { _ = recover() }()
	observer.Observe(ctx, observation)
}
