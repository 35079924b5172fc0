package erasure

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// run is one erasure in progress.
type run struct {
	*Eraser
	operation audit.Operation // set when the request is recorded
	session   ports.Session
	id        domain.SubjectID
	subject   domain.Subject
	calls     []resolvers.Call // for the subject's refs
	skipped   []string         // the systems for which the subject has no ref
	rehearsed string           // the fingerprint of the rehearsal; empty if there was no rehearsal
	at        time.Time        // the instant in the mark, the row that records the erasure
	// requestedAt is the field RequestedAt of the outbox entries. It is before at if the erasure repeats an earlier one.
	requestedAt time.Time
	result      domain.ErasureResult
	steps       []datamap.RehearsedStep     // the completed steps
	external    []datamap.RehearsedExternal // all external systems
	refused     datamap.Step                // the local step that failed
	ofHook      bool                        // the hook failed
	enqueued    int                         // number of outbox entries
	keys        int                         // number of keys in these entries
	ofKeys      []string                    // the systems of these keys
	limit       int                         // the number of rows of a step in a preview; 0 without a preview
	samples     []datamap.StepSample        // of the local steps, for a preview
	endRequest  endRequest                  // may be nil
}

// parts lists the parts of an erasure in their order.
var parts = []func(*run, context.Context) error{
	(*run).begin, (*run).enqueueKeys, (*run).beforehand, (*run).apply, (*run).compare, (*run).withdraw,
	(*run).endConsents, (*run).enqueue, (*run).complete,
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

// beforehand calls the hook Before.
func (r *run) beforehand(ctx context.Context) error {
	err := r.hooks.CallBefore(ctx, r.session, r.subject, func(payload domain.Payload) domain.AuditEvent {
		return r.operation.Event(domain.EventErasureStepFailed, r.id, payload)
	})
	r.ofHook = err != nil
	return err
}

// fail records the failure of a part of the erasure, and returns err.
func (r *run) fail(ctx context.Context, part domain.Payload, err error) error {
	return r.operation.Fail(ctx, r.session, domain.EventErasureStepFailed, r.id, part, err)
}

// begin locks the subject and records the request. It reads the time of the event after the lock, so that the events of
// concurrent erasures do not interleave. It records the event even if the lock failed.
func (r *run) begin(ctx context.Context) error {
	r.at = domain.Instant(r.audit.Clock.Now())
	erasedAt, lockErr := r.session.Subjects().Lock(ctx, r.id, r.at)
	if lockErr == nil {
		r.at = erasedAt
	}
	if r.requestedAt.IsZero() {
		r.requestedAt = r.at
	}
	if lockErr == nil && r.register != nil {
		var number string
		if number, r.endRequest, lockErr = r.register(ctx, r.session, r.id); number != "" {
			ctx, r.result.Request = domain.WithRequest(ctx, number), number
		}
	}
	operation, requested := r.audit.Begin(ctx, domain.EventErasureRequested, r.id, domain.Payload{
		"local_steps": len(r.plan.Local()), "external_steps": len(r.calls), "refs": len(r.subject.Refs),
	})
	r.operation = operation
	if err := r.session.Audit().AppendEvidence(ctx, requested); err != nil && lockErr == nil {
		return err
	}
	return lockErr
}

func (r *run) apply(ctx context.Context) error {
	steps := plan.LocalAt(r.plan, r.at)
	if err := r.sampleBefore(ctx, steps); err != nil {
		return err
	}
	applied, err := r.session.Subjects().Apply(ctx, r.id, steps)
	rows := applied.Rows
	if err == nil && len(rows) != len(steps) {
		err = &domain.Error{Op: "erase", Message: "the store returned no row count for some steps; fix the store"}
	}
	if err != nil {
		part := domain.Payload{}
		if len(rows) < len(steps) {
			r.refused = steps[len(rows)]
			part = payloadOf(r.refused)
		}
		return r.fail(ctx, part, err)
	}
	if len(applied.Cascaded) > 0 {
		r.result.Cascaded = applied.Cascaded
	}
	var events []domain.AuditEvent
	for i, step := range steps {
		r.steps = append(r.steps, datamap.RehearsedStep{Step: step, Rows: rows[i]})
		if plan.OnlyExpired(step) && rows[i] == 0 {
			continue // no retention duty of the step has ended
		}
		if !clearsAgain(steps[:i], step) {
			r.counts(step.Strategy)[step.Target] += rows[i]
		}
		if step.Strategy == domain.StrategyRetain && rows[i] > 0 {
			r.retain(step, applied.Latest[i])
		}
		payload := payloadOf(step)
		payload["rows"] = rows[i]
		events = append(events, r.operation.Event(domain.EventErasureStepSucceeded, r.id, payload))
	}
	if err := r.sampleAfter(ctx, steps); err != nil {
		return err
	}
	return r.session.Audit().Append(ctx, events...)
}

// retain adds the columns of a retain step to the result, each of them once. The parameter latest is that of the step
// in domain.Applied. A column whose values were all overwritten after the end of their duties is not retained.
func (r *run) retain(step datamap.Step, latest map[string]time.Time) {
	for _, kept := range plan.Kept(r.dataMap, step, latest) {
		if kept.Until.Ended(r.at) {
			continue
		}
		known := slices.IndexFunc(r.result.RetainedFields, func(f domain.RetainedField) bool {
			return f.Source == kept.Source && f.Field == kept.Field
		})
		if known < 0 {
			r.result.RetainedFields = append(r.result.RetainedFields, kept)
			continue
		}
		until := &r.result.RetainedFields[known].Until
		if kept.Until.Latest.IsZero() || !until.Latest.IsZero() && kept.Until.Latest.After(until.Latest) {
			until.Latest = kept.Until.Latest
		}
	}
	r.result.Remedies = r.controller.Remedies()
}

// clearsAgain reports whether the step only sets references to NULL, in rows that an earlier step has already counted.
func clearsAgain(before []datamap.Step, step datamap.Step) bool {
	return plan.OnlyClearsColumns(step) && !step.Self && slices.ContainsFunc(before, func(other datamap.Step) bool {
		return other.Target == step.Target && other.Via == step.Via && !other.Self
	})
}

// payloadOf returns the event payload that names a step.
func payloadOf(step datamap.Step) domain.Payload {
	payload := audit.Target(step.Target, step.Via)
	payload["strategy"] = string(step.Strategy)
	return payload
}

func (r *run) counts(strategy domain.Strategy) map[string]int64 {
	switch strategy { //nolint:exhaustive // a step has no other strategy
	case domain.StrategyDelete:
		return r.result.Deleted
	case domain.StrategyAnonymize:
		return r.result.Anonymized
	case domain.StrategyRetain:
		return r.result.Retained
	case domain.StrategyNull: // a strategy of cells and references only
	}
	return map[string]int64{}
}

// complete records the number of rows that the erasure has changed in the application's tables. If no external system
// has to erase, it also records the completion.
func (r *run) complete(ctx context.Context) error {
	completed := r.operation.Event(domain.EventErasureLocalCompleted, r.id, domain.Payload{
		"deleted":           total(r.result.Deleted),
		"anonymized":        total(r.result.Anonymized),
		"retained":          total(r.result.Retained),
		"enqueued":          r.enqueued,
		"skipped_resolvers": strings.Join(resolvers.Without(r.skipped, r.ofKeys), ","),
	})
	if r.keys > 0 {
		completed.Payload["keys"] = r.keys
	}
	if len(r.result.Cascaded) > 0 {
		completed.Payload["cascaded"] = total(r.result.Cascaded)
		completed.Payload["cascaded_tables"] = strings.Join(slices.Sorted(maps.Keys(r.result.Cascaded)), ",")
	}
	r.result.CompletedAt = completed.OccurredAt
	events := []domain.AuditEvent{completed}
	if r.enqueued == 0 {
		events = append(events, r.operation.Event(domain.EventErasureCompleted, r.id, nil))
	}
	if err := r.session.Audit().Append(ctx, events...); err != nil {
		return err
	}
	if r.endRequest != nil {
		if err := r.endRequest(ctx, r.result, r.enqueued > 0); err != nil {
			return err
		}
	}
	return r.operation.FailOnRollback(ctx, r.session, domain.EventErasureStepFailed, r.id)
}

func total(counts map[string]int64) int64 {
	var sum int64
	for _, n := range counts {
		sum += n
	}
	return sum
}
