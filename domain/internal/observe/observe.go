// Package observe tells an observer what the services did.
package observe

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/hook"
	"github.com/habeas-data/habeas/ports"
)

// Right tells the observer how a call of a service for a right has ended: once its session has ended, or at once if the
// session is no ports.EndNotifier. err is the error of the service. If it is nil, the error of the session counts.
// Without an observer, Right does nothing.
func Right(ctx context.Context, observer ports.Observer, s ports.Session, right domain.RightObserved, err error) {
	if observer != nil {
		tell(ctx, observer, s, right, err)
	}
}

// tell is apart from Right, where its function would be allocated without an observer, too.
func tell(ctx context.Context, observer ports.Observer, s ports.Session, right domain.RightObserved, err error) {
	outcome := right.Outcome // of a success
	if err != nil {
		outcome = of(err)
	}
	atEnd := func(ctx context.Context, ended error) {
		right.Outcome = outcome
		if err == nil && ended != nil {
			right.Outcome = of(ended)
		}
		ports.Observe(ctx, observer, right)
	}
	if notifier, ok := s.(ports.EndNotifier); ok {
		notifier.AfterEnd(atEnd)
		return
	}
	atEnd(ctx, nil)
}

func of(err error) domain.Outcome {
	if _, panicked := err.(*hook.Panicked); panicked { //nolint:errorlint // as hook.Contain returns it
		return domain.OutcomePanic
	}
	return domain.OutcomeOf(err)
}
