// Package observe reports the outcomes of the services to the observer of the application.
package observe

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Right reports the outcome of a service call, such as an export or an erasure, to the observer. It reports after the
// end of the session, or immediately if the session does not implement ports.EndNotifier. If the call succeeded but the
// session failed, for example at the commit, Right reports the outcome of the session. If observer is nil, Right does
// nothing.
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
