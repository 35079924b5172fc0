package erasure

import (
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/hook"
	"github.com/habeas-data/habeas/domain/internal/observe"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

// Config holds the dependencies of an Eraser. Clock, IDs and DataMap are required.
type Config struct {
	Clock     ports.Clock
	IDs       ports.IDSource
	DataMap   datamap.DataMap
	Resolvers []ports.Resolver // the external systems; default none
	Purposes  domain.Purposes  // purposes that audit events may name, as in consent.Ledger; default none
	Observer  ports.Observer   // receives the outcome of each erasure; default none
	// Controller is named in the answer to an erasure that had to keep something; see domain.ErasureResult.Remedies.
	Controller domain.Controller

	// Register is called in the session of each erasure, directly after the subject is locked. It returns the number of
	// the request that the erasure carries out, or "", and a function that is called when the erasure is complete here:
	// pending says that external systems still have to erase. If Register or the function returns an error, the erasure
	// fails. register.Register.Erasing is such a function. The default is nil: no function is called.
	Register func(context.Context, ports.Session, domain.SubjectID) (
		request string, end func(ctx context.Context, result domain.ErasureResult, pending bool) error, err error)

	// Before is called in the session of each erasure, after the subject is locked and before any row is deleted or
	// overwritten. If Before returns an error or panics, the erasure fails. With a *domain.RefusalError, it refuses the
	// erasure. If the session is retried, Before is called
	// again. The default is nil: no function is called.
	Before func(ctx context.Context, s ports.Session, subject domain.Subject) error
	// After is called after the session of an erasure has committed. Panics of After are recovered and ignored. The
	// default is nil: no function is called.
	After func(ctx context.Context, subject domain.Subject, result domain.ErasureResult)
}

// Eraser carries out erasures. It is safe for concurrent use. Each call works in the session that it receives.
type Eraser struct {
	audit     audit.Stamper
	dataMap   datamap.DataMap
	resolvers *resolvers.Set
	plan      datamap.Plan
	purposes  domain.Purposes
	hooks     hook.Hooks[domain.ErasureResult]
	observer  ports.Observer

	controller domain.Controller
	register   func(context.Context, ports.Session, domain.SubjectID) (string, endRequest, error) // may be nil
}

type endRequest = func(context.Context, domain.ErasureResult, bool) error

// NewEraser makes the plan and returns an eraser that follows it. It returns domain.ErrConfiguration if a required
// field is missing, or if the names of the resolvers are invalid or not unique. It returns the errors of Planner.Plan.
// It returns domain.ErrManifest if the data map names a resolver for the keys in a column (datamap.Annotation.Ref), and
// this resolver is not registered or does not implement ports.KeyResolver.
func NewEraser(c Config) (*Eraser, error) {
	if c.Clock == nil || c.IDs == nil || c.DataMap.IsZero() {
		return nil, domain.Misconfigured("eraser", "Clock, IDs and DataMap are required")
	}
	if err := c.Controller.Check(); err != nil {
		return nil, err
	}
	set, err := resolvers.NewSet(c.Resolvers...)
	if err != nil {
		return nil, err
	}
	plan, err := Planner{}.Plan(c.DataMap, set.Names())
	if unheld := resolvers.CheckRefs(c.DataMap, set); len(unheld) > 0 {
		err = c.DataMap.ManifestError("data map", slices.Concat(domain.Problems(err), unheld))
	}
	if err != nil {
		return nil, err
	}
	return &Eraser{
		audit.Stamper{Clock: c.Clock, IDs: c.IDs},
		c.DataMap, set, plan, c.Purposes,
		hook.Hooks[domain.ErasureResult]{Before: c.Before, After: c.After},
		c.Observer, c.Controller, c.Register,
	}, nil
}

// Plan returns the plan that every erasure follows. The caller must not modify it.
func (e *Eraser) Plan() datamap.Plan { return e.plan }

// RunsHooks reports whether Config.Before or Config.After is set.
func (e *Eraser) RunsHooks() bool { return e.hooks.Before != nil || e.hooks.After != nil }

// Erase erases the subject in the session. All changes are committed in one transaction, with the session. Erase takes
// these steps:
//
//  1. It locks the subject, so that erasures of the same subject run one after the other, and calls Register.
//  2. It adds outbox entries with the keys of external systems that the rows hold (datamap.Annotation.Ref). An outbox
//     entry has at most datamap.MaxKeys keys. Keys in retained cells are not included.
//  3. It calls the hook Before.
//  4. It carries out the local steps of the plan, which change the application's own tables.
//  5. It withdraws the corrections: the outbox entries of rectifications that are pending, failed or in flight.
//  6. It withdraws the consents in force and clears the reasons of restrictions.
//  7. It adds one outbox entry for each ref of the subject.
//
// Erase records erasure_requested, one erasure_step_succeeded per local step, one rectification_step_failed for each
// withdrawn correction, one consent_withdrawn for each consent that was in force, and erasure_local_completed. A step
// that only overwrites retained cells after the end of their duty leaves no event if there are no such cells. If no
// external system has to erase, Erase also records erasure_completed. Otherwise saga.Runner records erasure_completed
// after all external systems have erased.
//
// If the session rolls back, erasure_requested is still recorded. If a local step has failed, Erase also records
// erasure_step_failed, which names the step if the store knows it. If the session rolls back after Erase has succeeded,
// for example because the commit failed, the error in this event is "rolled_back". If the hook Before fails, Erase
// returns the error of the hook, and the target of erasure_step_failed is "hook". After a panic of the hook, the error
// in the event is "panic".
//
// Erase fails with domain.ErrConflict if the database would delete rows of the data map that no step deletes, because
// of a foreign key or a trigger. Such rows of other tables are in ErasureResult.Cascaded.
//
// Erase returns domain.ErrSubject, and records nothing, if the subject does not fit the data map or has a ref of an
// unknown kind. A repeated erasure of a subject is not an error: Erase takes all steps again, and replaces surrogates
// by new ones.
func (e *Eraser) Erase(ctx context.Context, s ports.Session, subject domain.Subject) (domain.ErasureResult, error) {
	return e.erase(ctx, s, subject, "", time.Time{})
}

// Repeat does the same as Erase for an erasure that was carried out earlier, at the instant erasedAt, and that a
// restore of the database has undone. The external systems get this instant as domain.ErasureCall.RequestedAt.
func (e *Eraser) Repeat(
	ctx context.Context, s ports.Session, subject domain.Subject, erasedAt time.Time,
) (domain.ErasureResult, error) {
	return e.erase(ctx, s, subject, "", domain.Instant(erasedAt))
}

// erase erases the subject and reports the outcome to the observer. If fingerprint is not empty, erase also compares
// the erasure with a rehearsal, and fails if they differ. If requestedAt is not zero, it is the RequestedAt of the
// outbox entries.
func (e *Eraser) erase(
	ctx context.Context, s ports.Session, subject domain.Subject, fingerprint string, requestedAt time.Time,
) (domain.ErasureResult, error) {
	run, err := e.admit(subject)
	if err == nil {
		run.session, run.rehearsed, run.requestedAt = s, fingerprint, requestedAt
		err = run.carryOut(ctx)
	}
	observe.Right(e.observer, s, observation.RightObserved{Right: observation.RightErasure, Outcome: hook.OutcomeOf(err)})
	if err != nil {
		return domain.ErasureResult{}, err
	}
	e.hooks.CallAfter(s, subject, run.result) // after the observer, which must not wait for the hook
	return run.result, nil
}

// admit checks the subject and returns the state of its erasure. The caller must set the field session of this state.
func (e *Eraser) admit(subject domain.Subject) (*run, error) {
	calls, skipped, err := resolvers.Admit(e.dataMap, e.resolvers, subject)
	if err != nil {
		return nil, err
	}
	return &run{
		Eraser: e, id: subject.ID, subject: subject, calls: calls, skipped: skipped,
		steps: []datamap.RehearsedStep{}, external: e.systems(calls),
		result: domain.ErasureResult{
			SubjectID:  subject.ID,
			Deleted:    map[string]int64{},
			Anonymized: map[string]int64{},
			Retained:   map[string]int64{},
		},
	}, nil
}
