// Package observe reports the outcomes of the services to the observer of the application.
package observe

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

// Right reports the outcome of a service call, such as an export or an erasure, to the observer. It reports after the
// end of the session. If the call succeeded but the session failed, for example at the commit, Right reports the
// outcome of the session. If observer is nil, Right does nothing.
func Right(observer ports.Observer, s ports.Session, right observation.RightObserved) {
	if observer != nil {
		report(observer, s, right)
	}
}

// report is separate from Right, so that a call without an observer allocates no closure.
func report(observer ports.Observer, s ports.Session, right observation.RightObserved) {
	succeeded := right.Outcome == domain.OutcomeOK || right.Outcome == domain.OutcomeIncomplete
	s.AfterEnd(func(ctx context.Context, err error) {
		if succeeded && err != nil {
			right.Outcome = domain.OutcomeOf(err)
		}
		ports.Emit(ctx, observer, right)
	})
}
