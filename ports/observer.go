package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// Observer is told what happens, for metrics and traces: names, outcomes, counts and durations of a closed set, and
// never an id, a value, a ref or any other text. It is safe for concurrent use.
//
// Its methods are called on the path of requests: they return at once, and wait for nothing. They have no error; Begin
// and Observe contain a panic. An observer that does not know a kind of activity or observation ignores it: a later
// version may add some.
type Observer interface {
	// Start is called when an activity begins. It returns the context of the activity, made from ctx, and the function
	// that is called once when the activity has ended, in any goroutine. The context may be ctx itself, and the function
	// nil. The time between the two calls is the duration of the activity.
	//
	// An activity that begins with the returned context is a part of this one. The context is that of a request at most,
	// and may have no values after the activity.
	Start(ctx context.Context, activity domain.Activity) (context.Context, func(domain.Ended))

	// Observe is called for what takes no time. What the observation refers to belongs to the caller.
	Observe(ctx context.Context, observation domain.Observation)
}

// Ending ends an activity that Begin began. The zero value ends none.
type Ending struct{ end func(domain.Ended) }

// Begin tells an observer that an activity begins. It returns the context for the activity, and its end. Without an
// observer it returns ctx and does nothing.
func Begin(ctx context.Context, observer Observer, activity domain.Activity) (context.Context, Ending) {
	if observer == nil {
		return ctx, Ending{}
	}
	return begin(ctx, observer, activity)
}

func begin(ctx context.Context, observer Observer, activity domain.Activity) (within context.Context, ending Ending) {
	defer func() {
		if recover() != nil {
			within, ending = ctx, Ending{}
		}
	}()
	within, end := observer.Start(ctx, activity)
	if within == nil {
		within = ctx
	}
	return within, Ending{end}
}

// End tells the observer that the activity has ended. It is called once.
func (e Ending) End(ended domain.Ended) {
	if e.end == nil {
		return
	}
	defer func() { _ = recover() }()
	e.end(ended)
}

// Observe tells an observer of something that takes no time. Without an observer it does nothing.
func Observe(ctx context.Context, observer Observer, observation domain.Observation) {
	if observer == nil {
		return
	}
	defer func() { _ = recover() }()
	observer.Observe(ctx, observation)
}
