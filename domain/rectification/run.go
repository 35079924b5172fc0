package rectification

import (
	"context"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/resolvers"
	"github.com/habeas-data/habeas/ports"
)

// run is one rectification on its way. It takes the lock of an erasure, without its mark.
type run struct {
	*Rectifier
	session ports.Session
	id      domain.SubjectID
	plan    Plan
	calls   []resolvers.Call
	result  domain.RectificationResult
}

// begin locks the subject, then records the request: under the lock, so that it is certain which steps there are, and
// also if the lock could not be had.
func (r *run) begin(ctx context.Context, refs int) error {
	state, lockErr := r.session.Subjects().LockToRectify(ctx, r.id)
	createdAgain := state.Present && r.dataMap.SubjectTable().RowsGo() // an erasure had deleted its row
	if lockErr == nil && state.Erased && !createdAgain {
		r.spareErased()
	}
	requested := r.audit.Event(domain.EventRectificationRequested, r.id, domain.Payload{
		"categories":     joined(r.plan.Categories()),
		"local_steps":    len(r.plan.Steps),
		"external_steps": len(r.calls),
		"refs":           refs,
	})
	if err := r.session.Audit().AppendEvidence(ctx, requested); err != nil && lockErr == nil {
		return err
	}
	return lockErr
}

// spareErased leaves of the plan what is about retained columns. An erasure has overwritten the others, and external
// systems have erased the subject or will.
func (r *run) spareErased() {
	var kept []domain.RectificationStep
	for _, step := range r.plan.Steps {
		table, _ := r.dataMap.Table(step.Table)
		values := slices.DeleteFunc(slices.Clone(step.Values), func(value domain.ColumnValue) bool {
			column, _ := table.Column(value.Column)
			return column.Personal == nil || column.Personal.Strategy != domain.StrategyRetain
		})
		if len(values) > 0 {
			kept = append(kept, domain.RectificationStep{Table: step.Table, Values: values})
		}
	}
	r.plan.Steps, r.calls, r.result.SkippedResolvers = kept, nil, r.resolvers.Names()
}

func (r *run) apply(ctx context.Context, step domain.RectificationStep) error {
	payload := domain.Payload{"target": step.Table}
	rows, err := r.session.Subjects().Rectify(ctx, r.id, step)
	if err != nil {
		payload["error"] = domain.ErrorClass(err)
		failed := r.audit.Event(domain.EventRectificationStepFailed, r.id, payload)
		_ = r.session.Audit().AppendEvidence(ctx, failed) // err is what went wrong; Do reports lost evidence
		return err
	}
	payload["rows"] = rows
	r.result.Rectified[step.Table] = rows
	return r.session.Audit().Append(ctx, r.audit.Event(domain.EventRectificationStepSucceeded, r.id, payload))
}

func (r *run) enqueue(ctx context.Context) (err error) {
	r.result.EnqueuedExternal, err = resolvers.Enqueuer(r.audit).Enqueue(ctx, r.session, r.calls, domain.OutboxEntry{
		SubjectID: r.id, Operation: domain.OperationRectify, Corrections: r.plan.Corrections,
	})
	return err
}

func (r *run) complete(ctx context.Context) error {
	var rectified int64
	for _, rows := range r.result.Rectified {
		rectified += rows
	}
	completed := r.audit.Event(domain.EventRectificationLocalCompleted, r.id, domain.Payload{
		"rectified":         rectified,
		"enqueued":          len(r.result.EnqueuedExternal),
		"skipped_resolvers": strings.Join(r.result.SkippedResolvers, ","),
	})
	r.result.CompletedAt = completed.OccurredAt
	if err := r.session.Audit().Append(ctx, completed); err != nil {
		return err
	}
	failed := r.audit.Event(domain.EventRectificationStepFailed, r.id, domain.Payload{"error": "rolled_back"})
	return r.session.Audit().AppendOnRollback(ctx, failed) // as where a deferred constraint fails at the commit
}

// joined lists categories in an event.
func joined(categories []domain.Category) string {
	names := make([]string, len(categories))
	for i, category := range categories {
		names[i] = string(category)
	}
	return strings.Join(names, ",")
}
