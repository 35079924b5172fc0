package erasure

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/hook"
	"github.com/habeas-data/habeas/domain/internal/observe"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/ports"
)

// Config is what an Eraser is made of. Clock, IDs and DataMap are required.
type Config struct {
	Clock     ports.Clock
	IDs       ports.IDSource
	DataMap   domain.DataMap
	Resolvers []ports.Resolver // the external systems, none by default
	Purposes  domain.Purposes  // those that audit events may name, as consent.Ledger's do; none by default
	Observer  ports.Observer   // is told how each erasure ended, none by default

	// Before is called in the session of each erasure, once the subject is locked and before anything is changed. Its
	// error, or its panic, fails the erasure. It is called again if the session is tried again. By default there is none.
	Before func(ctx context.Context, s ports.Session, subject domain.Subject) error
	// After is called once the session of an erasure has committed; see ports.CommitNotifier, which the session must be.
	// Its panics are contained. By default there is none.
	After func(ctx context.Context, subject domain.Subject, result domain.ErasureResult)
}

// Eraser carries out erasures. It is safe for concurrent use; each call works in the session it is given.
type Eraser struct {
	audit     audit.Stamper
	dataMap   domain.DataMap
	resolvers *resolvers.Set
	plan      domain.Plan
	purposes  domain.Purposes
	hooks     hook.Hooks[domain.ErasureResult]
	observer  ports.Observer
}

// NewEraser makes the plan and returns an eraser that follows it. Returns domain.ErrConfiguration if a field is missing
// or the resolvers' names are not valid or not unique, the errors of Planner.Plan, and domain.ErrManifest if a column
// holds keys (domain.Annotation.Ref) for which no resolver is a ports.KeyResolver of that name.
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
		err = c.DataMap.Refused("data map", slices.Concat(domain.Problems(err), unheld))
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

// Plan returns the plan that every erasure follows. It must not be modified.
func (e *Eraser) Plan() domain.Plan { return e.plan }

// Erase erases the subject in the session: it locks the subject, so that erasures of one subject run one after the
// other, carries out the local steps of the plan, takes back corrections that were still to be sent, withdraws the
// consents in force, clears the reasons of restrictions, and enqueues one outbox entry for each external system that
// has a ref, and entries with at most domain.MaxKeys keys each for all keys of external systems that the rows hold
// (domain.Annotation.Ref), all to be committed together. The keys are read before the rows go, and before the hook.
// Those of cells that are retained stay. To erase again is no error and changes nothing but surrogates.
//
// The audit trail gets erasure_requested, one erasure_step_succeeded per local step, one consent_withdrawn for each
// consent that was in force, and erasure_local_completed, then erasure_completed if no external system is concerned;
// otherwise saga.Runner records it once all of them have erased. When the session rolls back, erasure_requested and the
// erasure_step_failed of the step that caused it outlive it. If no step did, but the commit for one, its
// erasure_step_failed has the error rolled_back.
//
// An error of the hook Before is returned as it is; its erasure_step_failed has the target hook, and a panic of it the
// error panic.
//
// A subject that does not fit the data map, or has a ref of an unknown kind, is domain.ErrSubject and leaves no trace.
func (e *Eraser) Erase(ctx context.Context, s ports.Session, subject domain.Subject) (domain.ErasureResult, error) {
	return e.erase(ctx, s, subject, "")
}

// erase erases the subject; if there is a fingerprint, only as it was rehearsed. It tells the observer.
func (e *Eraser) erase(
	ctx context.Context, s ports.Session, subject domain.Subject, fingerprint string,
) (domain.ErasureResult, error) {
	result, err := e.carryOut(ctx, s, subject, fingerprint)
	observe.Right(ctx, e.observer, s, domain.RightObserved{Right: domain.RightErasure, Outcome: hook.OutcomeOf(err)})
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

// admit checks a subject and returns its erasure, which has no session yet.
func (e *Eraser) admit(subject domain.Subject) (*run, error) {
	calls, skipped, err := resolvers.Admit(e.dataMap, e.resolvers, subject)
	if err != nil {
		return nil, err
	}
	return &run{
		Eraser: e, id: subject.ID, subject: subject, calls: calls, skipped: skipped,
		steps: []domain.RehearsedStep{}, external: e.systems(calls),
		result: domain.ErasureResult{
			SubjectID:  subject.ID,
			Deleted:    map[string]int64{},
			Anonymized: map[string]int64{},
			Retained:   map[string]int64{},
		},
	}, nil
}

// run is one erasure on its way.
type run struct {
	*Eraser
	operation audit.Operation // from the request on
	session   ports.Session
	id        domain.SubjectID
	subject   domain.Subject
	calls     []resolvers.Call // for the subject's refs
	skipped   []string         // the systems without a ref
	rehearsed string           // the fingerprint of the rehearsal, if there was one
	at        time.Time        // when the subject was locked
	result    domain.ErasureResult
	steps     []domain.RehearsedStep     // those carried out
	external  []domain.RehearsedExternal // all external systems
	refused   domain.Step                // the step that failed, if one did
	ofHook    bool                       // the hook failed
	enqueued  int                        // outbox entries
	keys      int                        // of external systems, in these entries
	ofKeys    []string                   // the systems of these keys
}

// parts are those of an erasure, in their order.
var parts = []func(*run, context.Context) error{
	(*run).begin, (*run).enqueueKeys, (*run).beforehand, (*run).apply, (*run).compare, (*run).withdraw,
	(*run).endConsents, (*run).enqueue, (*run).complete, (*run).afterwards,
}

// carryOut does all of the erasure in the session.
func (r *run) carryOut(ctx context.Context) error {
	for _, part := range parts {
		if err := part(r, ctx); err != nil {
			return err
		}
	}
	return nil
}

// beforehand calls the hook that comes before the local steps.
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

// afterwards has the hook called that comes after the commit.
func (r *run) afterwards(context.Context) error {
	return r.hooks.CallAfter(r.session, r.subject, r.result)
}

// fail keeps the evidence of a failure at a target. The failure is what went wrong; Do reports lost evidence.
func (r *run) fail(ctx context.Context, target, class string) {
	event := r.operation.Event(domain.EventErasureStepFailed, r.id, domain.Payload{"target": target, "error": class})
	_ = r.session.Audit().AppendEvidence(ctx, event)
}

// begin locks the subject, then records the request: its event is stamped under the lock, so that the trails of
// concurrent erasures do not interleave, and recorded even where the lock could not be had.
func (r *run) begin(ctx context.Context) error {
	r.at = domain.Instant(r.audit.Clock.Now())
	lockErr := r.session.Subjects().Lock(ctx, r.id, r.at)
	operation, requested := r.audit.Begin(ctx, domain.EventErasureRequested, r.id, domain.Payload{
		"local_steps": len(r.plan.Local()), "external_steps": len(r.calls), "refs": len(r.subject.Refs),
	})
	r.operation = operation
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
	rows, err := r.session.Subjects().Apply(ctx, r.id, steps)
	if err == nil && len(rows) != len(steps) {
		err = &domain.Error{Op: "erase", Message: "the store has not answered for each step"}
	}
	if err != nil {
		payload := domain.Payload{"error": domain.ErrorClass(err)}
		if len(rows) < len(steps) {
			r.refused = steps[len(rows)]
			maps.Copy(payload, payloadOf(r.refused))
		}
		event := r.operation.Event(domain.EventErasureStepFailed, r.id, payload)
		_ = r.session.Audit().AppendEvidence(ctx, event) // err is what went wrong; Do reports lost evidence
		return err
	}
	var events []domain.AuditEvent
	for i, step := range steps {
		r.steps = append(r.steps, domain.RehearsedStep{Step: step, Rows: rows[i]})
		if step.OnlyExpired() && rows[i] == 0 {
			continue // which is what the plan says
		}
		if !clearsAgain(steps[:i], step) {
			r.counts(step.Strategy)[step.Target] += rows[i]
		}
		payload := payloadOf(step)
		payload["rows"] = rows[i]
		events = append(events, r.operation.Event(domain.EventErasureStepSucceeded, r.id, payload))
	}
	return r.session.Audit().Append(ctx, events...)
}

// clearsAgain reports whether a step clears the references of rows that an earlier one has anonymized and counted.
func clearsAgain(before []domain.Step, step domain.Step) bool {
	return step.OnlyClears() && slices.ContainsFunc(before, func(other domain.Step) bool {
		return other.Target == step.Target && other.Via == step.Via
	})
}

// payloadOf names a step in an event.
func payloadOf(step domain.Step) domain.Payload {
	payload := domain.Payload{"target": step.Target, "strategy": string(step.Strategy)}
	if step.Via != "" {
		payload["via"] = step.Via
	}
	return payload
}

func (r *run) counts(strategy domain.Strategy) map[string]int64 {
	switch strategy { //nolint:exhaustive // a step has no other
	case domain.StrategyDelete:
		return r.result.Deleted
	case domain.StrategyAnonymize:
		return r.result.Anonymized
	case domain.StrategyRetain:
		return r.result.Retained
	case domain.StrategyNull: // of cells and references, never of a step
	}
	return map[string]int64{}
}

// complete records what the erasure did here, and that it is complete, unless external systems are to erase, too.
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
