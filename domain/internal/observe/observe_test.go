package observe_test

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/observe"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/tests/observed"
	"github.com/habeas-data/habeas/ports"
)

// session is a session whose end a test controls.
type session struct {
	ports.Session
	end func(context.Context, error)
}

func (s *session) AfterEnd(fn func(context.Context, error)) { s.end = fn }

func TestWithoutAnObserverNothingIsAllocated(t *testing.T) {
	s := &session{}
	right := observation.RightObserved{Right: observation.RightErasure, Outcome: domain.OutcomeOK}
	if n := testing.AllocsPerRun(100, func() { observe.Right(nil, s, right) }); n != 0 || s.end != nil {
		t.Errorf("%v allocations", n)
	}
}

func TestTheSessionDecidesTheOutcomeOfASuccess(t *testing.T) {
	for _, c := range []struct {
		outcome domain.Outcome
		ended   error
		want    string
	}{
		{domain.OutcomeOK, nil, "export: ok"},
		{domain.OutcomeIncomplete, nil, "export: incomplete"},
		{domain.OutcomeOK, domain.ErrConflict, "export: conflict"},
		{domain.OutcomeIncomplete, domain.ErrConflict, "export: conflict"},
		{domain.OutcomeTimeout, domain.ErrConflict, "export: timeout"},
		{domain.OutcomeTimeout, nil, "export: timeout"}, // the application ignored the error and committed
	} {
		recorder, s := &observed.Recorder{}, &session{}
		observe.Right(recorder, s, observation.RightObserved{Right: observation.RightExport, Outcome: c.outcome})
		recorder.Want(t)
		s.end(t.Context(), c.ended)
		recorder.Want(t, c.want)
	}
}
