package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// Observer receives events for metrics and traces. The events carry names and outcomes of closed sets, counts and
// durations. They never carry an id, a value, a ref or any other text. An Observer is safe for concurrent use.
//
// The callers invoke the methods on the path of requests, so the methods must return immediately and must not block.
// The methods return no error. Begin and Observe recover a panic of a method. An observer ignores kinds of activities
// and observations that it does not know, because a later version may add kinds.
type Observer interface {
	// Start is called when an activity begins. It returns a context for the activity, derived from ctx, and a function.
	// The caller calls the function once, in any goroutine, when the activity has ended. The context may be ctx itself,
	// and the function may be nil. The time between the two calls is the duration of the activity.
	//
	// An activity that begins with the returned context is a part of this activity. The lifetime of ctx is at most that of
	// a request. Its values may be gone after the activity.
	Start(ctx context.Context, activity domain.Activity) (context.Context, func(domain.Ended))

	// Observe is called for an event without a duration. Slices and maps of the observation belong to the caller, so the
	// observer copies those that it keeps.
	Observe(ctx context.Context, observation domain.Observation)
}

// RunningActivity ends an activity that Begin began. The zero value does nothing.
type RunningActivity struct{ end func(domain.Ended) }

// Begin notifies an observer that an activity begins. It returns the context for the activity, and the RunningActivity
// for the activity. If observer is nil, Begin returns ctx and a RunningActivity that does nothing.
func Begin(ctx context.Context, observer Observer, activity domain.Activity) (context.Context, RunningActivity) {
	if observer == nil {
		return ctx, RunningActivity{}
	}
	return begin(ctx, observer, activity)
}

func begin(
	ctx context.Context, observer Observer, activity domain.Activity,
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
func (e RunningActivity) End(ended domain.Ended) {
	if e.end == nil {
		return
	}
	defer func() { _ = recover() }()
	e.end(ended)
}

// Observe notifies an observer of an event without a duration. If observer is nil, Observe does nothing.
func Observe(ctx context.Context, observer Observer, observation domain.Observation) {
	if observer == nil {
		return
	}
	defer func() { _ = recover() }()
	observer.Observe(ctx, observation)
}
