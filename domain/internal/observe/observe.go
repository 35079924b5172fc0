// Package observe tells an observer what the services did.
package observe

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Right tells the observer how a call of a service for a right has ended: once its session has ended, or at once if the
// session is no ports.EndNotifier. If the service has succeeded, the outcome of a failure is that of the session.
// Without an observer, Right does nothing.
func Right(ctx context.Context, observer ports.Observer, s ports.Session, right domain.RightObserved) {
	if observer != nil {
		tell(ctx, observer, s, right)
	}
}

// tell is apart from Right, where its function would be allocated without an observer, too.
func tell(ctx context.Context, observer ports.Observer, s ports.Session, right domain.RightObserved) {
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
