// Package sweep overwrites retained values of erased subjects after the duty to retain them has ended. An erasure keeps
// retained values while a duty lasts (Art. 17(3)(b) GDPR). A sweep ends the retention (Art. 5(1)(e) GDPR). See the
// example of [Sweeper.RunAll].
package sweep

import (
	"cmp"
	"context"
	"maps"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// defaultBatch is the default of Config.Batch.
const defaultBatch = 100

// Config holds the dependencies and the options of a Sweeper. Sessions, Clock, IDs and DataMap are required.
type Config struct {
	Sessions ports.SessionFactory
	Clock    ports.Clock
	IDs      ports.IDSource
	DataMap  datamap.DataMap
	Plan     datamap.Plan // the erasure plan for the data map

	// Batch is the number of erased subjects per batch. The default is 100.
	Batch int
}

// Sweeper sweeps erased subjects: it overwrites retained values after the end of their retention duty. It is safe for
// concurrent use by several goroutines and processes.
//
// The database records all erasures, and Sweeper reads these records in batches. One query finds the subjects of a
// batch that have values to overwrite. Sweeper sweeps each of these subjects in its own session, under the same lock as
// an erasure. A repeated sweep of a subject changes nothing. See ports.ErasedStore.
type Sweeper struct {
	sessions ports.SessionFactory
	audit    audit.Stamper
	dataMap  datamap.DataMap
	plan     datamap.Plan
	batch    int
	systems  []string // the external systems whose keys a sweep overwrites
}

// NewSweeper returns a sweeper. It returns domain.ErrConfiguration if a field is missing or negative. It returns
// domain.ErrManifest if the plan does not belong to the data map.
func NewSweeper(c Config) (*Sweeper, error) {
	if c.Sessions == nil || c.Clock == nil || c.IDs == nil || c.DataMap.IsZero() {
		return nil, domain.Misconfigured("sweep", "Sessions, Clock, IDs and DataMap are required")
	}
	if c.Batch < 0 {
		return nil, domain.Misconfigured("sweep", "Batch must not be negative")
	}
	c.Batch = cmp.Or(c.Batch, defaultBatch)
	s := &Sweeper{
		c.Sessions, audit.Stamper{Clock: c.Clock, IDs: c.IDs}, c.DataMap, c.Plan, c.Batch, systemsOf(c.DataMap),
	}
	if _, err := plan.CheckSteps(c.DataMap, s.steps()); err != nil {
		return nil, err
	}
	return s, nil
}

// steps returns the steps of a sweep at the current time.
func (s *Sweeper) steps() []datamap.Step {
	return plan.SweepAt(s.plan, domain.Instant(s.audit.Clock.Now()))
}

// stepsSince returns the steps of a sweep at the current time, with Step.DutiesSince.
func (s *Sweeper) stepsSince(ctx context.Context, session ports.Session) ([]datamap.Step, error) {
	steps := s.steps()
	if len(steps) == 0 {
		return nil, nil
	}
	since, err := s.dutiesSince(ctx, session)
	for i := range steps {
		steps[i].DutiesSince = since
	}
	return steps, err
}

// Sweep sweeps one subject in the session. For each step that overwrote values, it records retention_swept {target,
// via, rows}. All these events have the same operation_id. If a step fails, Sweep records retention_sweep_failed
// {target, via, external, error}, even if the session rolls back. Sweep does nothing if the subject was never erased.
// If due cells remain because they may belong to a new person with the same id, the report counts the subject as
// Unclear.
//
// If the overwritten cells hold keys of external systems (datamap.Annotation.Ref), Sweep first adds the erasure of
// these keys to the outbox, as an erasure does. It records retention_swept {target, external, keys} for each system.
func (s *Sweeper) Sweep(ctx context.Context, session ports.Session, id domain.SubjectID) (domain.SweepReport, error) {
	steps, err := s.stepsSince(ctx, session)
	if err != nil || len(steps) == 0 {
		return domain.SweepReport{Rows: map[string]int64{}}, err
	}
	operation, first := s.audit.Begin(ctx, domain.EventRetentionSwept, id, domain.Payload{})
	external, err := s.enqueueKeys(ctx, session, domain.OutboxEntry{
		SubjectID: id, Operation: domain.OperationErase, OperationID: operation.ID(),
	}, steps[0])
	if err != nil {
		return domain.SweepReport{}, s.fail(ctx, session, id, domain.Payload{"external": true}, err)
	}
	rows, err := session.Erased().Sweep(ctx, id, steps)
	if err == nil && len(rows) != len(steps) {
		err = &domain.Error{Op: "sweep", Message: "the store returned no row count for some steps; fix the store"}
	}
	if err != nil {
		payload := domain.Payload{}
		if len(rows) < len(steps) {
			payload = audit.Target(steps[len(rows)].Target, steps[len(rows)].Via)
		}
		return domain.SweepReport{}, s.fail(ctx, session, id, payload, err)
	}
	report := domain.SweepReport{Rows: map[string]int64{}}
	var payloads []domain.Payload
	for i, step := range steps {
		if rows[i] == 0 {
			continue
		}
		payload := audit.Target(step.Target, step.Via)
		payload["rows"] = rows[i]
		payloads = append(payloads, payload)
		report.Rows[step.Target] += rows[i]
		report.Subjects = 1
	}
	var events []domain.AuditEvent
	for i, payload := range append(payloads, external...) {
		if i == 0 {
			maps.Copy(first.Payload, payload)
			events = append(events, first)
			continue
		}
		events = append(events, operation.Event(domain.EventRetentionSwept, id, payload))
	}
	if len(events) > 0 {
		if err := session.Audit().Append(ctx, events...); err != nil {
			return domain.SweepReport{}, err
		}
	}
	report.Unclear, err = unclear(ctx, session, id, steps)
	return report, err
}

// unclear returns 1 if cells of the subject are still due after its sweep, because they may belong to a new person with
// the same id. Otherwise, it returns 0. See domain.Life.
func unclear(ctx context.Context, session ports.Session, id domain.SubjectID, steps []datamap.Step) (int64, error) {
	state, err := session.Subjects().State(ctx, id)
	if err != nil || state.Life == "" || state.Life == domain.LifeEnded {
		return 0, err
	}
	found, err := session.Erased().Find(ctx, []domain.SubjectID{id})
	if err != nil {
		return 0, err
	}
	due, err := session.Erased().Due(ctx, found, steps)
	return int64(len(due)), err
}

// fail records that a sweep failed, and returns the error.
func (s *Sweeper) fail(
	ctx context.Context, session ports.Session, id domain.SubjectID, payload domain.Payload, err error,
) error {
	payload["error"] = domain.ErrorClass(err)
	_, event := s.audit.Begin(ctx, domain.EventRetentionSweepFailed, id, payload)
	_ = session.Audit().AppendEvidence(ctx, event) // the caller returns err; SessionFactory.Do reports lost evidence
	return err
}
