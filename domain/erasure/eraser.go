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

	// Before is called in the session of each erasure, after the subject is locked and before any row is deleted or
	// overwritten. If Before returns an error or panics, the erasure fails. If the session is retried, Before is called
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
}

// NewEraser makes the plan and returns an eraser that follows it. It returns domain.ErrConfiguration if a required
// field is missing, or if the names of the resolvers are invalid or not unique. It returns the errors of Planner.Plan.
// It returns domain.ErrManifest if the data map names a resolver for the keys in a column (datamap.Annotation.Ref), and
// this resolver is not registered or does not implement ports.KeyResolver.
func NewEraser(c Config) (*Eraser, error) {
	if c.Clock == nil || c.IDs == nil || c.DataMap.IsZero() {
		return nil, domain.Misconfigured("eraser", "Clock, IDs and DataMap are required")
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
		c.Observer,
	}, nil
}

// Plan returns the plan that every erasure follows. The caller must not modify it.
func (e *Eraser) Plan() datamap.Plan { return e.plan }

// RunsHooks reports whether Config.Before or Config.After is set.
func (e *Eraser) RunsHooks() bool { return e.hooks.Before != nil || e.hooks.After != nil }

// Erase erases the subject in the session. All changes are committed in one transaction, with the session. Erase takes
// these steps:
//
//  1. It locks the subject, so that erasures of the same subject run one after the other.
//  2. It adds outbox entries with the keys of external systems that the rows hold (datamap.Annotation.Ref). An outbox
//     entry has at most datamap.MaxKeys keys. Keys in retained cells are not included.
//  3. It calls the hook Before.
//  4. It carries out the local steps of the plan, which change the application's own tables.
//  5. It withdraws the corrections (outbox entries of rectifications) that external systems have not received yet.
//  6. It withdraws the consents in force and clears the reasons of restrictions.
//  7. It adds one outbox entry for each ref of the subject.
//
// Erase records erasure_requested, one erasure_step_succeeded per local step, one consent_withdrawn for each consent
// that was in force, and erasure_local_completed. If no external system has to erase, Erase also records
// erasure_completed. Otherwise saga.Runner records erasure_completed after all external systems have erased.
//
// If the session rolls back, erasure_requested is still recorded, together with an erasure_step_failed that names the
// failed step. If no step failed, for example because the commit failed, the error in this event is "rolled_back". If
// the hook Before fails, Erase returns the error of the hook, and the target of erasure_step_failed is "hook". After a
// panic of the hook, the error in the event is "panic".
//
// Erase fails with domain.ErrConflict if the database would delete rows of the data map that no step deletes, because
// of a foreign key or a trigger. Such rows of other tables are in ErasureResult.Cascaded.
//
// Erase returns domain.ErrSubject, and records nothing, if the subject does not fit the data map or has a ref of an
// unknown kind. A repeated erasure of a subject is not an error. It only replaces surrogates by new ones.
func (e *Eraser) Erase(ctx context.Context, s ports.Session, subject domain.Subject) (domain.ErasureResult, error) {
	return e.erase(ctx, s, subject, "")
}

// erase erases the subject and reports the outcome to the observer. If fingerprint is not empty, erase also compares
// the erasure with a rehearsal, and fails if they differ.
func (e *Eraser) erase(
	ctx context.Context, s ports.Session, subject domain.Subject, fingerprint string,
) (domain.ErasureResult, error) {
	result, err := e.carryOut(ctx, s, subject, fingerprint)
	observe.Right(e.observer, s, observation.RightObserved{Right: observation.RightErasure, Outcome: hook.OutcomeOf(err)})
	if err == nil {
		e.hooks.CallAfter(s, subject, result) // after the observer, which must not wait for the hook
	}
	return result, err
}

func (e *Eraser) carryOut(
	ctx context.Context, s ports.Session, subject domain.Subject, fingerprint string,
) (domain.ErasureResult, error) {
	run, err := e.admit(subject)
	if err != nil {
		return domain.ErasureResult{}, err
	}
	run.session, run.rehearsed = s, fingerprint
	if err := run.carryOut(ctx); err != nil {
		return domain.ErasureResult{}, err
	}
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
	result    domain.ErasureResult
	steps     []datamap.RehearsedStep     // the completed steps
	external  []datamap.RehearsedExternal // all external systems
	refused   datamap.Step                // the local step that failed
	ofHook    bool                        // the hook failed
	enqueued  int                         // number of outbox entries
	keys      int                         // number of keys in these entries
	ofKeys    []string                    // the systems of these keys
	limit     int                         // the number of rows of a step in a preview; 0 without a preview
	samples   []datamap.StepSample        // of the local steps, for a preview
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
	if r.hooks.Before == nil {
		return nil
	}
	err := r.hooks.CallBefore(ctx, r.session, r.subject, func(payload domain.Payload) domain.AuditEvent {
		return r.operation.Event(domain.EventErasureStepFailed, r.id, payload)
	})
	r.ofHook = err != nil
	return err
}

// fail records the failed target (a step, an external system or the hook) as evidence: the event remains even after a
// rollback. fail ignores an error of this record, because the caller returns the original failure, and
// SessionFactory.Do reports lost evidence.
func (r *run) fail(ctx context.Context, target, class string) {
	event := r.operation.Event(domain.EventErasureStepFailed, r.id, domain.Payload{"target": target, "error": class})
	_ = r.session.Audit().AppendEvidence(ctx, event)
}

// begin locks the subject and records the request. It reads the time of the event after the lock, so that the events of
// concurrent erasures do not interleave. It records the event even if the lock failed.
func (r *run) begin(ctx context.Context) error {
	r.at = domain.Instant(r.audit.Clock.Now())
	erasedAt, lockErr := r.session.Subjects().Lock(ctx, r.id, r.at)
	if lockErr == nil {
		r.at = erasedAt
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

// withdraw withdraws the corrections that external systems have not received yet. The corrections are personal data, so
// the erasure must remove them, and no system may receive them after the erasure. withdraw runs after the local steps,
// because these steps wait for a rectification that runs concurrently. It also runs if no resolver of this process
// rectifies, because another process may have such a resolver.
func (r *run) withdraw(ctx context.Context) error {
	withdrawn, err := r.session.Outbox().Withdraw(ctx, r.id)
	if err != nil {
		return err
	}
	for _, entry := range withdrawn {
		rectification := r.audit.Operation(ctx, entry.OperationID)
		event := rectification.Event(domain.EventRectificationStepFailed, r.id, domain.Payload{
			"target": entry.Resolver, "external": true, "abandoned": true, "error": "erased", "attempts": entry.Attempts,
		})
		if err := r.session.Audit().Append(ctx, event); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) apply(ctx context.Context) error {
	steps := r.plan.LocalAt(r.at)
	if err := r.sampleBefore(ctx, steps); err != nil {
		return err
	}
	applied, err := r.session.Subjects().Apply(ctx, r.id, steps)
	rows := applied.Rows
	if err == nil && len(rows) != len(steps) {
		err = &domain.Error{Op: "erase", Message: "the store returned no row count for some steps; fix the store"}
	}
	if err != nil {
		payload := domain.Payload{"error": domain.ErrorClass(err)}
		if len(rows) < len(steps) {
			r.refused = steps[len(rows)]
			maps.Copy(payload, payloadOf(r.refused))
		}
		event := r.operation.Event(domain.EventErasureStepFailed, r.id, payload)
		_ = r.session.Audit().AppendEvidence(ctx, event) // the caller returns err; SessionFactory.Do reports lost evidence
		return err
	}
	if len(applied.Cascaded) > 0 {
		r.result.Cascaded = applied.Cascaded
	}
	var events []domain.AuditEvent
	for i, step := range steps {
		r.steps = append(r.steps, datamap.RehearsedStep{Step: step, Rows: rows[i]})
		if step.OnlyExpired() && rows[i] == 0 {
			continue // no retention duty of the step has ended
		}
		if !clearsAgain(steps[:i], step) {
			r.counts(step.Strategy)[step.Target] += rows[i]
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

// clearsAgain reports whether the step only sets references to NULL, in rows that an earlier step has already counted.
func clearsAgain(before []datamap.Step, step datamap.Step) bool {
	return step.OnlyClearsColumns() && !step.Self && slices.ContainsFunc(before, func(other datamap.Step) bool {
		return other.Target == step.Target && other.Via == step.Via && !other.Self
	})
}

// payloadOf returns the event payload that names a step.
func payloadOf(step datamap.Step) domain.Payload {
	payload := domain.Payload{"target": step.Target, "strategy": string(step.Strategy)}
	if step.Via != "" {
		payload["via"] = step.Via
	}
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
	}
	r.result.CompletedAt = completed.OccurredAt
	events := []domain.AuditEvent{completed}
	if r.enqueued == 0 {
		events = append(events, r.operation.Event(domain.EventErasureCompleted, r.id, nil))
	}
	if err := r.session.Audit().Append(ctx, events...); err != nil {
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
