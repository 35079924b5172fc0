// Package rectification corrects what is held about a subject (Art. 16 GDPR), in the application's own tables and at
// external systems.
package rectification

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/hook"
	"github.com/habeas-data/habeas/domain/internal/observe"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/ports"
)

// Config is what a Rectifier is made of. Clock, IDs and DataMap are required.
type Config struct {
	Clock     ports.Clock
	IDs       ports.IDSource
	DataMap   domain.DataMap
	Resolvers []ports.Resolver // the external systems, none by default
	Observer  ports.Observer   // is told how each rectification ended, none by default

	// Before is called in the session of each rectification, once the subject is locked and before anything is changed.
	// Its error, or its panic, fails the rectification. It is called again if the session is tried again. By default there
	// is none.
	Before func(ctx context.Context, s ports.Session, subject domain.Subject) error
	// After is called once the session of a rectification has committed; see ports.CommitNotifier, which the session must
	// be. Its panics are contained. By default there is none.
	After func(ctx context.Context, subject domain.Subject, result domain.RectificationResult)
}

// Rectifier carries out rectifications. It is safe for concurrent use; each call works in the session it is given.
//
// It decides what can be corrected, never who may: which categories a subject may change by itself, and after which
// proof, is for the application to say before it calls.
type Rectifier struct {
	audit     audit.Stamper
	dataMap   domain.DataMap
	resolvers *resolvers.Set
	before    hook.Before
	after     func(context.Context, domain.Subject, domain.RectificationResult)
	observer  ports.Observer
}

// NewRectifier returns a rectifier. Returns domain.ErrConfiguration if a field is missing or wrong.
func NewRectifier(c Config) (*Rectifier, error) {
	if c.Clock == nil || c.IDs == nil || c.DataMap.IsZero() {
		return nil, domain.Misconfigured("rectifier", "Clock, IDs and DataMap are required")
	}
	set, err := resolvers.NewSet(c.Resolvers...)
	if err != nil {
		return nil, err
	}
	return &Rectifier{audit.Stamper{Clock: c.Clock, IDs: c.IDs}, c.DataMap, set, c.Before, c.After, c.Observer}, nil
}

// Option changes what RectifySubject does by default.
type Option func(*options)

type options struct{ allColumns bool }

// AllColumns says that each correction is for all columns of its category. By default, a category that has several
// columns is refused as ambiguous.
func AllColumns() Option { return func(o *options) { o.allColumns = true } }

// RectifySubject is Rectify for corrections by category.
func (r *Rectifier) RectifySubject(
	ctx context.Context, s ports.Session, subject domain.Subject, corrections domain.Corrections, opts ...Option,
) (domain.RectificationResult, error) {
	var o options
	for _, set := range opts {
		set(&o)
	}
	return r.Rectify(ctx, s, subject, corrections.List(o.allColumns)...)
}

// Rectify writes each correction where it belongs: into one column, in all of the subject's rows or in one of them, and
// whatever an erasure would do with them: what a duty retains has to be right as well. It enqueues one outbox entry for
// each ref of an external system that can rectify, with the corrections that name a category, to be committed together.
// To rectify again is no error.
//
// Rectifications and erasures of one subject run one after the other. A rectification that runs after an erasure calls
// no external system, and writes retained columns only: erased data does not come back. The result then lists all
// systems as skipped. A subject whose rows were deleted and that has a row again counts as a new one.
//
// The audit trail gets rectification_requested, one rectification_step_succeeded per step of the plan, in its order,
// and rectification_local_completed, then rectification_completed if no external system is concerned; otherwise
// saga.Runner records it once all of them have rectified. When the session rolls back, rectification_requested and the
// rectification_step_failed of the step that caused it outlive it; if no step did, the commit say, its
// rectification_step_failed has the error rolled_back. No event holds a value, or names a row.
//
// An error of the hook Before is returned as it is; its rectification_step_failed has the target hook, and a panic of
// it the error panic.
//
// A subject that does not fit the data map, or has a ref of an unknown kind, is domain.ErrSubject, and what
// Planner.Plan refuses is domain.ErrInvalid; neither leaves a trace. A value that only the store can tell to be wrong
// (see ports.SubjectStore), and a row that is not the subject's, is domain.ErrInvalid too, and leaves the evidence of a
// failed step. A row of another subject is not told from one that does not exist.
func (r *Rectifier) Rectify(
	ctx context.Context, s ports.Session, subject domain.Subject, corrections ...domain.Correction,
) (domain.RectificationResult, error) {
	result, err := r.rectify(ctx, s, subject, corrections)
	observe.Right(ctx, r.observer, s, domain.RightObserved{
		Right: domain.RightRectification, Outcome: domain.OutcomeOK,
	}, err)
	return result, err
}

func (r *Rectifier) rectify(
	ctx context.Context, s ports.Session, subject domain.Subject, corrections []domain.Correction,
) (domain.RectificationResult, error) {
	calls, _, err := resolvers.Admit(r.dataMap, r.resolvers, subject)
	if err != nil {
		return domain.RectificationResult{}, err
	}
	calls, skipped := r.rectifying(calls)
	plan, err := Planner{}.Plan(r.dataMap, corrections, len(calls) > 0)
	if err != nil {
		return domain.RectificationResult{}, err
	}
	if len(plan.Corrections) == 0 {
		calls, skipped = nil, r.resolvers.Names()
	}
	run := &run{Rectifier: r, session: s, id: subject.ID, plan: plan, calls: calls, result: domain.RectificationResult{
		SubjectID:        subject.ID,
		Rectified:        map[string]int64{},
		SkippedResolvers: skipped,
	}}
	if err := run.begin(ctx, len(subject.Refs)); err != nil {
		return domain.RectificationResult{}, err
	}
	if err := run.beforehand(ctx, subject); err != nil {
		return domain.RectificationResult{}, err
	}
	for _, step := range run.plan.Steps {
		if err := run.apply(ctx, step); err != nil {
			return domain.RectificationResult{}, err
		}
	}
	if err := run.enqueue(ctx); err != nil {
		return domain.RectificationResult{}, err
	}
	if err := run.complete(ctx); err != nil {
		return domain.RectificationResult{}, err
	}
	if err := run.afterwards(subject); err != nil {
		return domain.RectificationResult{}, err
	}
	return run.result, nil
}

// rectifying keeps the calls of systems that can rectify, and names all other systems, in the order of registration.
func (r *Rectifier) rectifying(calls []resolvers.Call) (kept []resolvers.Call, skipped []string) {
	skipped = r.resolvers.Names()
	for _, call := range calls {
		if _, can := call.Resolver.(ports.RectifyingResolver); can {
			kept = append(kept, call)
			skipped = slices.DeleteFunc(skipped, func(name string) bool { return name == call.Resolver.Name() })
		}
	}
	return kept, skipped
}
