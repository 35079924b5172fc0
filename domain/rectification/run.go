package rectification

import (
	"context"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/ports"
)

// run is one rectification in progress. It waits for an erasure of the subject, and an erasure waits for it. It leaves
// no new mark (the row that an erasure leaves for a subject).
type run struct {
	*Rectifier
	operation audit.Operation // set when the request is recorded
	session   ports.Session
	id        domain.SubjectID
	subject   domain.Subject
	plan      Plan
	calls     []resolvers.Call
	result    domain.RectificationResult
	confirmed map[cell]bool // cells of single rows that a step found among the subject's rows

	keys       keyChange
	entries    int // the number of outbox entries that rectify
	keyEntries int // the number of outbox entries that erase overwritten keys
}

// parts lists the parts of a rectification in their order.
var parts = []func(*run, context.Context) error{
	(*run).begin, (*run).beforehand, (*run).readKeys, (*run).apply, (*run).enqueue, (*run).enqueueKeys, (*run).complete,
}

// carryOut runs all parts in the session.
func (r *run) carryOut(ctx context.Context) error {
	for _, part := range parts {
		if err := part(r, ctx); err != nil {
			return err
		}
	}
	return nil
}

// begin locks the subject and records the request. It records the request even if the lock failed. It returns
// domain.ErrConflict if the life of the id has ended: an erasure has removed the data, and external systems have erased
// it or will do so. See domain.Life.
func (r *run) begin(ctx context.Context) error {
	state, refused := r.session.Subjects().LockToRectify(ctx, r.id)
	if refused == nil && state.Life == domain.LifeEnded {
		refused = &domain.Error{
			Code: domain.ErrConflict, Op: "rectify",
			Message: "the subject was erased. If this is a new person, call Registered after the row was inserted",
		}
	}
	operation, requested := r.audit.Begin(ctx, domain.EventRectificationRequested, r.id, domain.Payload{
		"categories":     joined(r.plan.Categories()),
		"local_steps":    len(r.plan.Steps),
		"external_steps": len(r.calls),
		"refs":           len(r.subject.Refs),
	})
	r.operation = operation
	if err := r.session.Audit().AppendEvidence(ctx, requested); err != nil && refused == nil {
		return err
	}
	return refused
}

// beforehand calls the hook Before.
func (r *run) beforehand(ctx context.Context) error {
	return r.hooks.CallBefore(ctx, r.session, r.subject, func(payload domain.Payload) domain.AuditEvent {
		return r.operation.Event(domain.EventRectificationStepFailed, r.id, payload)
	})
}

// apply runs the local steps.
func (r *run) apply(ctx context.Context) error {
	for _, step := range r.plan.Steps {
		if err := r.applyStep(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) applyStep(ctx context.Context, step domain.RectificationStep) error {
	payload := audit.Target(step.Table, step.Via)
	rows, err := r.session.Subjects().Rectify(ctx, r.id, step)
	if err == nil {
		err = r.checkRow(step, rows)
	}
	if err != nil {
		return r.operation.Fail(ctx, r.session, domain.EventRectificationStepFailed, r.id, payload, err)
	}
	payload["rows"] = rows
	r.count(step, rows)
	return r.session.Audit().Append(ctx, r.operation.Event(domain.EventRectificationStepSucceeded, r.id, payload))
}

// count adds the number of rows of a step to the result. If the plan has a step for all rows of a table, count ignores
// the steps for single rows of this table, because these rows are already counted.
func (r *run) count(step domain.RectificationStep, rows int64) {
	all := slices.ContainsFunc(r.plan.Steps, func(s domain.RectificationStep) bool {
		return s.Table == step.Table && s.Row == ""
	})
	if step.Row == "" || !all {
		r.result.Rectified[step.Table] += rows
	}
}

// checkRow returns an error if a step is for a single row that does not belong to the subject. A table may have several
// paths, with one step each. The row belongs to the subject if one of these steps finds it. Therefore checkRow returns
// the error only at the last of these steps.
func (r *run) checkRow(step domain.RectificationStep, rows int64) error {
	if step.Row == "" {
		return nil
	}
	var faults []domain.FieldError
	for _, value := range step.Values {
		at := cell{place{step.Table, step.Row}, value.Column}
		if rows > 0 {
			if r.confirmed == nil {
				r.confirmed = map[cell]bool{}
			}
			r.confirmed[at] = true
		}
		if r.confirmed[at] || r.isWrittenLater(step, at) {
			continue
		}
		faults = append(faults, domain.FieldError{
			Field: step.Table + "." + value.Column, Code: domain.FieldUnknown, Message: "is in a row that is not the subject's",
		})
	}
	return domain.Invalid("rectify", faults)
}

// isWrittenLater reports whether a step of the plan after the given step writes the cell.
func (r *run) isWrittenLater(step domain.RectificationStep, at cell) bool {
	done := false
	for _, other := range r.plan.Steps {
		if other.Table != step.Table || other.Row != step.Row {
			continue
		}
		if done && slices.ContainsFunc(other.Values, func(v domain.ColumnValue) bool { return v.Column == at.column }) {
			return true
		}
		done = done || other.Via == step.Via
	}
	return false
}

func (r *run) enqueue(ctx context.Context) error {
	names, err := resolvers.Enqueuer(r.audit).Enqueue(ctx, r.session, r.calls, 0, domain.OutboxEntry{
		SubjectID: r.id, Operation: domain.OperationRectify, OperationID: r.operation.ID(), Corrections: r.plan.Corrections,
	})
	r.entries, r.result.EnqueuedExternal = len(names), names
	return err
}

func (r *run) complete(ctx context.Context) error {
	var rectified int64
	for _, rows := range r.result.Rectified {
		rectified += rows
	}
	completed := r.operation.Event(domain.EventRectificationLocalCompleted, r.id, domain.Payload{
		"rectified":         rectified,
		"enqueued":          r.entries + r.keyEntries,
		"skipped_resolvers": strings.Join(r.result.SkippedResolvers, ","),
	})
	r.result.CompletedAt = completed.OccurredAt
	events := []domain.AuditEvent{completed}
	if r.entries == 0 { // entries that erase keys record erasure_completed
		events = append(events, r.operation.Event(domain.EventRectificationCompleted, r.id, nil))
	}
	if err := r.session.Audit().Append(ctx, events...); err != nil {
		return err
	}
	return r.operation.FailOnRollback(ctx, r.session, domain.EventRectificationStepFailed, r.id)
}

func joined(categories []domain.Category) string {
	names := make([]string, len(categories))
	for i, category := range categories {
		names[i] = string(category)
	}
	return strings.Join(names, ",")
}
