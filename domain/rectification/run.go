package rectification

import (
	"context"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/resolvers"
	"github.com/habeas-data/habeas/ports"
)

// run is one rectification on its way. It does not lock the subject as an erasure does, because that lock leaves the mark
// of an erasure. The database lets writes to one row come one after the other, whoever makes them, and each table is
// written by one statement, so that the later of two rectifications wins. What has no local column is not ordered so:
// a correction for external systems alone that commits just after an erasure took such corrections back is still sent.
type run struct {
	*Rectifier
	session ports.Session
	id      domain.SubjectID
	result  domain.RectificationResult
}

func (r *run) begin(ctx context.Context, plan domain.RectificationPlan, refs, external int) error {
	requested := r.audit.Event(domain.EventRectificationRequested, r.id, domain.Payload{
		"categories":     joined(plan.Categories()),
		"local_steps":    len(plan.Steps),
		"external_steps": external,
		"refs":           refs,
	})
	return r.session.Audit().AppendEvidence(ctx, requested)
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

func (r *run) enqueue(ctx context.Context, calls []resolvers.Call, corrections domain.Corrections) error {
	entries := make([]domain.OutboxEntry, len(calls))
	for i, call := range calls {
		entries[i] = domain.OutboxEntry{
			EntryID:     r.audit.IDs.NewID(),
			SubjectID:   r.id,
			Resolver:    call.Resolver.Name(),
			Ref:         call.Ref,
			Operation:   domain.OperationRectify,
			Corrections: corrections,
			Status:      domain.OutboxPending,
			EnqueuedAt:  domain.Instant(r.audit.Clock.Now()),
		}
		r.result.EnqueuedExternal = append(r.result.EnqueuedExternal, call.Resolver.Name())
	}
	if len(entries) == 0 {
		return nil
	}
	return r.session.Outbox().Enqueue(ctx, entries...)
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
