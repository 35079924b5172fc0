// Package observe reports the outcomes of the services to an observer.
package observe

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Right reports the outcome of a call of a service for a right to the observer. It does so when the session has ended,
// or immediately if the session does not implement ports.EndNotifier. If the service succeeded and the session failed,
// the reported outcome is the outcome of the session. Without an observer, Right does nothing.
func Right(ctx context.Context, observer ports.Observer, s ports.Session, right domain.RightObserved) {
	if observer != nil {
		report(ctx, observer, s, right)
	}
}

// report is separate from Right, so that a call without an observer allocates no closure.
func report(ctx context.Context, observer ports.Observer, s ports.Session, right domain.RightObserved) {
	succeeded := right.Outcome == domain.OutcomeOK || right.Outcome == domain.OutcomeIncomplete
	atEnd := func(ctx context.Context, err error) {
		if succeeded && err != nil {
			right.Outcome = domain.OutcomeOf(err)
		}
		ports.Observe(ctx, observer, right)
	}
	if notifier, ok := s.(ports.EndNotifier); ok {
		notifier.AfterEnd(atEnd)
		return
	}
	atEnd(ctx, nil)
}
