package erasure

import (
	"context"
	"errors"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/ports"
)

// Rehearse carries out an erasure of the subject in a session, rolls the session back, and returns the effects. It
// changes nothing and records no audit event. The rows of the subject are locked during the rehearsal. On SQLite, no
// other session can write during the rehearsal.
//
// The hook Before is called in the session. For its context, ports.Rehearsing returns true. The hook After and the
// resolvers are not called.
//
// If the store refuses the erasure, Rehearse returns a Rehearsal with Refused set, and no error. It returns
// domain.ErrSubject under the same conditions as Erase. It returns domain.ErrUnavailable if the store cannot be reached
// or is too busy. It returns the errors of the hook and of the context.
func (e *Eraser) Rehearse(
	ctx context.Context, sessions ports.SessionFactory, subject domain.Subject,
) (datamap.Rehearsal, error) {
	_, rehearsal, err := e.rehearse(ctx, sessions, subject, 0)
	return rehearsal, err
}

// rehearse rehearses an erasure. If limit is not 0, the returned run has samples of up to limit rows of each step.
func (e *Eraser) rehearse(
	ctx context.Context, sessions ports.SessionFactory, subject domain.Subject, limit int,
) (*run, datamap.Rehearsal, error) {
	run, err := e.admit(subject)
	if err != nil {
		return nil, datamap.Rehearsal{}, err
	}
	run.limit = limit
	err = sessions.Rehearse(ctx, func(ctx context.Context, s ports.Session) error {
		run.session = s
		return run.carryOut(ctx)
	})
	refused := run.refusalOf(err)
	if err != nil && refused == nil {
		return nil, datamap.Rehearsal{}, err
	}
	rehearsal := datamap.Rehearsal{
		SubjectID: subject.ID, RehearsedAt: run.at, Steps: run.steps, External: run.external, Refused: refused,
	}
	if refused == nil {
		rehearsal.Cascaded = run.result.Cascaded
		rehearsal.Fingerprint = run.fingerprint()
	}
	return run, rehearsal, nil
}

// EraseAsRehearsed does the same as Erase for an erasure that was rehearsed. If the subject, the effects or the row
// counts differ from the rehearsal (see datamap.Plan.Fingerprint), it returns domain.ErrConflict. The caller must then
// roll back, and the event erasure_step_failed has the target "rehearsal". EraseAsRehearsed returns domain.ErrInvalid
// if the fingerprint is malformed.
func (e *Eraser) EraseAsRehearsed(
	ctx context.Context, s ports.Session, subject domain.Subject, fingerprint string,
) (domain.ErasureResult, error) {
	if err := datamap.CheckFingerprint(fingerprint); err != nil {
		return domain.ErasureResult{}, err
	}
	return e.erase(ctx, s, subject, fingerprint, time.Time{})
}

func (r *run) fingerprint() string {
	return r.plan.Fingerprint(r.dataMap, r.subject, r.steps, r.external, r.result.Cascaded)
}

// compare returns an error if the erasure was rehearsed, and it differs from the rehearsal. It runs directly after the
// local steps, because the counts are then complete.
func (r *run) compare(ctx context.Context) error {
	if r.rehearsed == "" || r.fingerprint() == r.rehearsed {
		return nil
	}
	return r.fail(ctx, audit.Target("rehearsal", ""), &domain.Error{
		Code: domain.ErrConflict, Op: "erase", Message: "the erasure differs from its rehearsal, because it is for" +
			" another subject, or the data map or the number of rows or keys has changed; rehearse it again",
	})
}

// systems returns the external systems of the plan, each with the number of outbox entries for the subject's refs.
func (e *Eraser) systems(calls []resolvers.Call) []datamap.RehearsedExternal {
	systems := []datamap.RehearsedExternal{}
	for _, step := range e.plan.Steps[len(e.plan.Local()):] {
		system := datamap.RehearsedExternal{Resolver: step.Target}
		for _, call := range calls {
			if call.Resolver.Name() == step.Target {
				system.Entries++
			}
		}
		systems = append(systems, system)
	}
	return systems
}

// refusalOf returns the refusal for an error of the store, if a further attempt would fail too. It returns nil if the
// next attempt may succeed, or if the error comes from the application.
func (r *run) refusalOf(err error) *datamap.Refusal {
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
	return &datamap.Refusal{
		Class: domain.ErrorClass(err), Message: known.Error(),
		Target: r.refused.Target, Via: r.refused.Via, Strategy: r.refused.Strategy,
	}
}
