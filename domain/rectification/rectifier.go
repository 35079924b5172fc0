// Package rectification corrects data about a subject (Art. 16 GDPR), in the application's own tables and at external
// systems. Rectifier carries out the corrections. Planner checks them and plans the steps. See the example of
// [Rectifier.Rectify].
package rectification

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/hook"
	"github.com/habeas-data/habeas/domain/internal/observe"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

// Config holds the dependencies of a Rectifier. Clock, IDs and DataMap are required.
type Config struct {
	Clock     ports.Clock
	IDs       ports.IDSource
	DataMap   datamap.DataMap
	Resolvers []ports.Resolver // the external systems; default none
	Observer  ports.Observer   // receives the outcome of each rectification; default none

	// Before is called in the session of each rectification, after the subject is locked and before any row is changed. If
	// Before returns an error or panics, the rectification fails. If the session is retried, Before is called again. The
	// default is nil: no function is called.
	Before func(ctx context.Context, s ports.Session, subject domain.Subject) error
	// After is called after the session of a rectification has committed. Panics of After are recovered and ignored. The
	// default is nil: no function is called.
	After func(ctx context.Context, subject domain.Subject, result domain.RectificationResult)
}

// Rectifier carries out rectifications. It is safe for concurrent use. Each call works in the session that it receives.
//
// Rectifier decides which data can be corrected. Before the call, the application must decide whether the person may
// correct the category, and check the proof if the category requires one.
type Rectifier struct {
	audit     audit.Stamper
	dataMap   datamap.DataMap
	resolvers *resolvers.Set
	hooks     hook.Hooks[domain.RectificationResult]
	observer  ports.Observer
}

// NewRectifier returns a rectifier. It returns domain.ErrConfiguration if a field is missing or invalid.
func NewRectifier(c Config) (*Rectifier, error) {
	if c.Clock == nil || c.IDs == nil || c.DataMap.IsZero() {
		return nil, domain.Misconfigured("rectifier", "Clock, IDs and DataMap are required")
	}
	set, err := resolvers.NewSet(c.Resolvers...)
	if err != nil {
		return nil, err
	}
	hooks := hook.Hooks[domain.RectificationResult]{Before: c.Before, After: c.After}
	return &Rectifier{audit.Stamper{Clock: c.Clock, IDs: c.IDs}, c.DataMap, set, hooks, c.Observer}, nil
}

// Option changes a default of RectifySubject.
type Option func(*options)

type options struct{ allColumns bool }

// AllColumns applies each correction to all columns of its category, as domain.Correction.AllColumns does. Without this
// option, RectifySubject rejects a category with several columns as ambiguous.
func AllColumns() Option { return func(o *options) { o.allColumns = true } }

// RectifySubject does the same as Rectify for corrections that name categories instead of columns.
func (r *Rectifier) RectifySubject(
	ctx context.Context, s ports.Session, subject domain.Subject, corrections domain.Corrections, opts ...Option,
) (domain.RectificationResult, error) {
	var o options
	for _, set := range opts {
		set(&o)
	}
	return r.Rectify(ctx, s, subject, corrections.List(o.allColumns)...)
}

// Rectify writes each correction into its column, in all of the subject's rows or in one row. It also corrects retained
// columns. If an external system can rectify, Rectify enqueues one outbox entry for each ref (id) of the subject in
// that system. The entry has the corrections that name a category. If no correction names one, there is no such entry.
// All changes are committed in one transaction, with the session. A repeated rectification is not an error.
//
// If a correction overwrites keys of an external system (datamap.Annotation.Ref), Rectify also enqueues entries that
// erase the objects with the old keys, except keys that the subject's rows still hold. Only a correction that names the
// column does so, because a correction of a category never writes such a column.
//
// Rectifications and erasures of one subject run one after the other. If an erasure has ended the life of the id (see
// domain.Life), Rectify returns domain.ErrConflict and changes no row, so that erased data does not come back.
//
// Rectify records rectification_requested, one rectification_step_succeeded per step in the order of the plan, and
// rectification_local_completed. If no external system has to rectify, Rectify also records rectification_completed.
// Otherwise saga.Runner records rectification_completed after all external systems have rectified.
//
// If the session rolls back, rectification_requested is still recorded. If a step has failed, Rectify also records
// rectification_step_failed, which names the step. If the session rolls back after Rectify has succeeded, for example
// because the commit failed, the error in this event is "rolled_back". No event holds a value or names a row. If the
// hook Before fails, Rectify returns the error of the hook, and the target of rectification_step_failed is "hook".
// After a panic of the hook, the error in the event is "panic".
//
// Rectify returns domain.ErrSubject if the subject does not fit the data map or has a ref of an unknown kind. It
// returns domain.ErrInvalid if Planner.Plan rejects the corrections. In these cases it records nothing. It also returns
// domain.ErrInvalid, and records a failed step, if the store rejects a value (see ports.SubjectStore) or if a row does
// not belong to the subject. The error does not reveal whether the row belongs to another subject or does not exist.
func (r *Rectifier) Rectify(
	ctx context.Context, s ports.Session, subject domain.Subject, corrections ...domain.Correction,
) (domain.RectificationResult, error) {
	result, err := r.rectify(ctx, s, subject, corrections)
	observe.Right(r.observer, s, observation.RightObserved{
		Right:   observation.RightRectification,
		Outcome: hook.OutcomeOf(err),
	})
	if err == nil {
		r.hooks.CallAfter(s, subject, result) // after the observer, which must not wait for the hook
	}
	return result, err
}

func (r *Rectifier) rectify(
	ctx context.Context, s ports.Session, subject domain.Subject, corrections []domain.Correction,
) (domain.RectificationResult, error) {
	calls, _, err := resolvers.Admit(r.dataMap, r.resolvers, subject)
	if err != nil {
		return domain.RectificationResult{}, err
	}
	calls, skipped := r.rectifiable(calls)
	plan, err := Planner{}.Plan(r.dataMap, corrections, len(calls) > 0)
	if err != nil {
		return domain.RectificationResult{}, err
	}
	if len(plan.Corrections) == 0 {
		calls, skipped = nil, r.resolvers.Names()
	}
	run := &run{Rectifier: r, session: s, id: subject.ID, subject: subject, plan: plan, calls: calls}
	run.result = domain.RectificationResult{
		SubjectID:        subject.ID,
		Rectified:        map[string]int64{},
		SkippedResolvers: skipped,
	}
	if err := run.carryOut(ctx); err != nil {
		return domain.RectificationResult{}, err
	}
	return run.result, nil
}

// rectifiable returns the calls to systems that can rectify, and the names of all other registered systems in the order
// of registration.
func (r *Rectifier) rectifiable(calls []resolvers.Call) (kept []resolvers.Call, skipped []string) {
	skipped = r.resolvers.Names()
	for _, call := range calls {
		if _, can := call.Resolver.(ports.RectifyingResolver); can {
			kept = append(kept, call)
			skipped = slices.DeleteFunc(skipped, func(name string) bool { return name == call.Resolver.Name() })
		}
	}
	return kept, skipped
}
