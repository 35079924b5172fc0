package erasure

import (
	"context"
	"errors"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/ports"
)

// Rehearse carries out an erasure of the subject in a session that is then rolled back, and returns what it did. It
// leaves nothing, not even evidence. The rows of the subject are locked for as long as it takes, and on SQLite no other
// session can write meanwhile.
//
// The hook Before is called in the session, with a context for which ports.Rehearsing is true. The hook After and the
// resolvers are not called.
//
// An erasure that the store refuses is a Rehearsal with Refused. Returns domain.ErrSubject as Erase does, the error of
// the hook, domain.ErrUnavailable if the store cannot be reached or is too busy, and the errors of a context.
func (e *Eraser) Rehearse(
	ctx context.Context, sessions ports.Rehearser, subject domain.Subject,
) (domain.Rehearsal, error) {
	run, err := e.admit(subject)
	if err != nil {
		return domain.Rehearsal{}, err
	}
	err = sessions.Rehearse(ctx, func(ctx context.Context, s ports.Session) error {
		run.session = s
		return run.carryOut(ctx)
	})
	refused := run.refusalOf(err)
	if err != nil && refused == nil {
		return domain.Rehearsal{}, err
	}
	rehearsal := domain.Rehearsal{
		SubjectID: subject.ID, RehearsedAt: run.at, Steps: run.steps, External: run.external, Refused: refused,
	}
	if refused == nil {
		rehearsal.Fingerprint = e.plan.Fingerprint(run.steps, run.external)
	}
	return rehearsal, nil
}

// EraseAsRehearsed is Erase for an erasure that was rehearsed. If its plan or its counts are not those of the
// fingerprint, it returns domain.ErrConflict and must be rolled back; its erasure_step_failed has the target rehearsal.
// Returns domain.ErrInvalid if the fingerprint cannot be one.
func (e *Eraser) EraseAsRehearsed(
	ctx context.Context, s ports.Session, subject domain.Subject, fingerprint string,
) (domain.ErasureResult, error) {
	if err := domain.CheckFingerprint(fingerprint); err != nil {
		return domain.ErasureResult{}, err
	}
	return e.erase(ctx, s, subject, fingerprint)
}

// compare fails the run if it is not the one that was rehearsed. It comes before anything but rows is changed.
func (r *run) compare(ctx context.Context) error {
	if r.rehearsed == "" || r.plan.Fingerprint(r.steps, r.external) == r.rehearsed {
		return nil
	}
	err := &domain.Error{
		Code: domain.ErrConflict, Op: "erase", Message: "the erasure is not the one that was rehearsed: the data map, or " +
			"the number of rows or keys, has changed since; rehearse it again",
	}
	r.fail(ctx, "rehearsal", domain.ErrorClass(err))
	return err
}

// systems are the external systems of the plan with the entries for the subject's refs.
func (e *Eraser) systems(calls []resolvers.Call) []domain.RehearsedExternal {
	systems := []domain.RehearsedExternal{}
	for _, step := range e.plan.Steps[len(e.plan.Local()):] {
		system := domain.RehearsedExternal{Resolver: step.Target}
		for _, call := range calls {
			if call.Resolver.Name() == step.Target {
				system.Entries++
			}
		}
		systems = append(systems, system)
	}
	return systems
}

// refusalOf returns the refusal that an error stands for. It returns nil for other errors: the next attempt may
// succeed, or the application is at fault.
func (r *run) refusalOf(err error) *domain.Refusal {
	var known *domain.Error
	switch {
	case r.session == nil, r.ofHook, !errors.As(err, &known):
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil
	}
	switch known.Code { //nolint:exhaustive // the others are refusals
	case domain.ErrUnavailable, domain.ErrSession, domain.ErrSubject, domain.ErrInvalid:
		return nil
	}
	return &domain.Refusal{
		Class: domain.ErrorClass(err), Message: known.Error(),
		Target: r.refused.Target, Via: r.refused.Via, Strategy: r.refused.Strategy,
	}
}
