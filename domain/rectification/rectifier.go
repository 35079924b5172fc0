// Package rectification corrects what is held about a subject (Art. 16 GDPR), in the application's own tables and at
// external systems.
package rectification

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/audit"
	"github.com/habeas-data/habeas/domain/resolvers"
	"github.com/habeas-data/habeas/ports"
)

// Config is what a Rectifier is made of. All fields are required.
type Config struct {
	Clock     ports.Clock
	IDs       ports.IDSource
	DataMap   domain.DataMap
	Resolvers *resolvers.Set
}

// Rectifier carries out rectifications. It is safe for concurrent use; each call works in the session it is given.
//
// It decides what can be corrected, never who may: which categories a subject may change by itself, and after which
// proof, is for the application to say before it calls.
type Rectifier struct {
	audit     audit.Stamper
	dataMap   domain.DataMap
	resolvers *resolvers.Set
}

// NewRectifier returns a rectifier. A field that is missing is domain.ErrConfiguration.
func NewRectifier(c Config) (*Rectifier, error) {
	if c.Clock == nil || c.IDs == nil || c.DataMap.IsZero() || c.Resolvers == nil {
		return nil, domain.Misconfigured("rectifier", "every field of its Config is required")
	}
	return &Rectifier{audit.Stamper{Clock: c.Clock, IDs: c.IDs}, c.DataMap, c.Resolvers}, nil
}

// RectifySubject writes each correction to every annotated column of its category, in all of the subject's rows and
// whatever an erasure would do with them: what a duty retains has to be right as well. It enqueues one outbox entry for
// each ref of an external system that can rectify, with all corrections, to be committed together. To rectify again is
// no error.
//
// Rectifications and erasures of one subject run one after the other. A rectification that runs after an erasure calls
// no external system, and writes retained columns only: erased data does not come back. The result then lists all
// systems as skipped. A subject whose rows were deleted and that has a row again counts as a new one.
//
// The audit trail gets rectification_requested, one rectification_step_succeeded per table, in the order of the data
// map, and rectification_local_completed. When the session rolls back, rectification_requested and the
// rectification_step_failed of the step that caused it outlive it; if no step did, the commit say, its
// rectification_step_failed has the error rolled_back. No event holds a value.
//
// A subject that does not fit the data map, or has a ref of an unknown kind, is domain.ErrSubject, and what
// Planner.Plan refuses is domain.ErrInvalid; neither leaves a trace. A value that only the store
// can tell to be wrong (see ports.SubjectStore) is domain.ErrInvalid too, and leaves the evidence of a failed step.
func (r *Rectifier) RectifySubject(
	ctx context.Context, s ports.Session, subject domain.Subject, corrections domain.Corrections,
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
	run := &run{Rectifier: r, session: s, id: subject.ID, plan: plan, calls: calls, result: domain.RectificationResult{
		SubjectID:        subject.ID,
		Rectified:        map[string]int64{},
		SkippedResolvers: skipped,
	}}
	if err := run.begin(ctx, len(subject.Refs)); err != nil {
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
