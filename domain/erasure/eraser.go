package erasure

import (
	"context"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/audit"
	"github.com/habeas-data/habeas/domain/resolvers"
	"github.com/habeas-data/habeas/ports"
)

// Config is what an Eraser is made of. All fields are required but Purposes.
type Config struct {
	Clock     ports.Clock
	IDs       ports.IDSource
	DataMap   domain.DataMap
	Resolvers *resolvers.Set
	Purposes  domain.Purposes // those that audit events may name, as consent.Ledger's do; none by default
}

// Eraser carries out erasures. It is safe for concurrent use; each call works in the session it is given.
type Eraser struct {
	audit     audit.Stamper
	dataMap   domain.DataMap
	resolvers *resolvers.Set
	plan      domain.Plan
	purposes  domain.Purposes
}

// NewEraser makes the plan and returns an eraser that follows it. The error is domain.ErrConfiguration when a field is
// missing, else the Planner's.
func NewEraser(c Config) (*Eraser, error) {
	if c.Clock == nil || c.IDs == nil || c.DataMap.IsZero() || c.Resolvers == nil {
		return nil, domain.Misconfigured("eraser", "every field of its Config but Purposes is required")
	}
	plan, err := Planner{}.Plan(c.DataMap, c.Resolvers.Names())
	if err != nil {
		return nil, err
	}
	return &Eraser{audit.Stamper{Clock: c.Clock, IDs: c.IDs}, c.DataMap, c.Resolvers, plan, c.Purposes}, nil
}

// Plan returns the plan that every erasure follows. It must not be modified.
func (e *Eraser) Plan() domain.Plan { return e.plan }

// Erase erases the subject in the session: it locks the subject, so that erasures of one subject run one after the
// other, carries out the local steps of the plan, takes back corrections that were still to be sent, withdraws the
// consents in force, clears the reasons of restrictions, and enqueues one outbox entry for each external system that
// has a ref, all to be committed together. To erase again is no error and changes nothing but surrogates.
//
// The audit trail gets erasure_requested, one erasure_step_succeeded per local step, one consent_withdrawn for each
// consent that was in force, and erasure_local_completed. When the session rolls back, erasure_requested and the
// erasure_step_failed of the step that caused it outlive it. If no step did, but the commit for one, its
// erasure_step_failed has the error rolled_back.
//
// A subject that does not fit the data map, or has a ref of an unknown kind, is domain.ErrSubject and leaves no trace.
func (e *Eraser) Erase(ctx context.Context, s ports.Session, subject domain.Subject) (domain.ErasureResult, error) {
	calls, skipped, err := resolvers.Admit(e.dataMap, e.resolvers, subject)
	if err != nil {
		return domain.ErasureResult{}, err
	}
	run := &run{Eraser: e, session: s, id: subject.ID, result: domain.ErasureResult{
		SubjectID:  subject.ID,
		Deleted:    map[string]int64{},
		Anonymized: map[string]int64{},
		Retained:   map[string]int64{},
	}}
	if err := run.begin(ctx, len(subject.Refs), len(calls)); err != nil {
		return domain.ErasureResult{}, err
	}
	if err := run.apply(ctx, e.plan.LocalAt(run.at)); err != nil {
		return domain.ErasureResult{}, err
	}
	if err := run.withdraw(ctx); err != nil {
		return domain.ErasureResult{}, err
	}
	if err := run.endConsents(ctx); err != nil {
		return domain.ErasureResult{}, err
	}
	if err := run.enqueue(ctx, calls); err != nil {
		return domain.ErasureResult{}, err
	}
	if err := run.complete(ctx, skipped); err != nil {
		return domain.ErasureResult{}, err
	}
	return run.result, nil
}

// run is one erasure on its way.
type run struct {
	*Eraser
	session ports.Session
	id      domain.SubjectID
	at      time.Time // when the subject was locked
	result  domain.ErasureResult
}

// begin locks the subject, then records the request: its event is stamped under the lock, so that the trails of
// concurrent erasures do not interleave, and recorded even where the lock could not be had.
func (r *run) begin(ctx context.Context, refs, external int) error {
	r.at = domain.Instant(r.audit.Clock.Now())
	lockErr := r.session.Subjects().Lock(ctx, r.id, r.at)
	requested := r.audit.Event(domain.EventErasureRequested, r.id, domain.Payload{
		"local_steps": len(r.plan.Local()), "external_steps": external, "refs": refs,
	})
	if err := r.session.Audit().AppendEvidence(ctx, requested); err != nil && lockErr == nil {
		return err
	}
	return lockErr
}

// withdraw takes back the corrections that external systems were still to be sent: personal data that must not
// outlive the erasure, nor arrive after it. It comes after the local steps, which wait for a rectification under way.
// It does so also where no resolver of this process rectifies: another process may have one that does.
func (r *run) withdraw(ctx context.Context) error {
	withdrawn, err := r.session.Outbox().Withdraw(ctx, r.id)
	if err != nil {
		return err
	}
	for _, entry := range withdrawn {
		event := r.audit.Event(domain.EventRectificationStepFailed, r.id, domain.Payload{
			"target": entry.Resolver, "external": true, "abandoned": true, "error": "erased", "attempts": entry.Attempts,
		})
		if err := r.session.Audit().Append(ctx, event); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) apply(ctx context.Context, steps []domain.Step) error {
	rows, err := r.session.Subjects().Apply(ctx, r.id, steps)
	if err == nil && len(rows) != len(steps) {
		err = &domain.Error{Op: "erase", Message: "the store has not answered for each step"}
	}
	if err != nil {
		payload := domain.Payload{"error": domain.ErrorClass(err)}
		if len(rows) < len(steps) {
			failed := steps[len(rows)]
			payload["target"], payload["strategy"] = failed.Target, string(failed.Strategy)
		}
		event := r.audit.Event(domain.EventErasureStepFailed, r.id, payload)
		_ = r.session.Audit().AppendEvidence(ctx, event) // err is what went wrong; Do reports lost evidence
		return err
	}
	var events []domain.AuditEvent
	for i, step := range steps {
		if step.OnlyExpired() && rows[i] == 0 {
			continue // which is what the plan says
		}
		r.counts(step.Strategy)[step.Target] = rows[i]
		events = append(events, r.audit.Event(domain.EventErasureStepSucceeded, r.id, domain.Payload{
			"target": step.Target, "strategy": string(step.Strategy), "rows": rows[i],
		}))
	}
	return r.session.Audit().Append(ctx, events...)
}

func (r *run) counts(strategy domain.Strategy) map[string]int64 {
	switch strategy {
	case domain.StrategyDelete:
		return r.result.Deleted
	case domain.StrategyAnonymize:
		return r.result.Anonymized
	case domain.StrategyRetain:
		return r.result.Retained
	}
	return map[string]int64{} // the planner knows no other
}

func (r *run) enqueue(ctx context.Context, calls []resolvers.Call) (err error) {
	r.result.EnqueuedExternal, err = resolvers.Enqueuer(r.audit).Enqueue(ctx, r.session, calls, domain.OutboxEntry{
		SubjectID: r.id, Operation: domain.OperationErase,
	})
	return err
}

func (r *run) complete(ctx context.Context, skipped []string) error {
	completed := r.audit.Event(domain.EventErasureLocalCompleted, r.id, domain.Payload{
		"deleted":           total(r.result.Deleted),
		"anonymized":        total(r.result.Anonymized),
		"retained":          total(r.result.Retained),
		"enqueued":          len(r.result.EnqueuedExternal),
		"skipped_resolvers": strings.Join(skipped, ","),
	})
	r.result.CompletedAt = completed.OccurredAt
	if err := r.session.Audit().Append(ctx, completed); err != nil {
		return err
	}
	return r.failOnRollback(ctx)
}

func total(counts map[string]int64) int64 {
	var sum int64
	for _, n := range counts {
		sum += n
	}
	return sum
}
