// Package sweep overwrites what an erasure had to leave, once the duty to retain it is over. An erasure keeps retained
// values for as long as a duty lasts (Art. 17(3)(b) GDPR), and a sweep ends that (Art. 5(1)(e) GDPR).
package sweep

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/ports"
)

// defaultBatch is Config.Batch by default.
const defaultBatch = 100

// Config is what a Sweeper is made of. Sessions, Clock, IDs and DataMap are required.
type Config struct {
	Sessions ports.SessionFactory
	Clock    ports.Clock
	IDs      ports.IDSource
	DataMap  domain.DataMap
	Plan     domain.Plan // of an erasure, for the data map

	// Batch is how many erased subjects a batch looks at. The default is 100.
	Batch int
}

// Sweeper sweeps the subjects that were erased. It is safe for concurrent use, also by several processes.
//
// It looks at the marks of erasures batch by batch, finds the subjects with something to overwrite by a read, and
// sweeps each in a session of its own, under the lock of an erasure. Nothing is done twice: see ports.RetentionSweeper.
type Sweeper struct {
	sessions ports.SessionFactory
	audit    audit.Stamper
	plan     domain.Plan
	batch    int
}

// NewSweeper returns a sweeper. Returns domain.ErrConfiguration if a field is missing or negative, and
// domain.ErrManifest if the plan is not one for the data map.
func NewSweeper(c Config) (*Sweeper, error) {
	if c.Sessions == nil || c.Clock == nil || c.IDs == nil || c.DataMap.IsZero() {
		return nil, domain.Misconfigured("sweep", "Sessions, Clock, IDs and DataMap are required")
	}
	if c.Batch < 0 {
		return nil, domain.Misconfigured("sweep", "Batch must not be negative")
	}
	if c.Batch == 0 {
		c.Batch = defaultBatch
	}
	s := &Sweeper{c.Sessions, audit.Stamper{Clock: c.Clock, IDs: c.IDs}, c.Plan, c.Batch}
	if _, err := c.DataMap.CheckSteps(s.steps()); err != nil {
		return nil, err
	}
	return s, nil
}

// steps are those of a sweep now.
func (s *Sweeper) steps() []domain.Step {
	return s.plan.SweepAt(domain.Instant(s.audit.Clock.Now()))
}

// Sweep sweeps one subject in the session. The audit trail gets a retention_swept {target, via, rows} for each step
// that overwrote something, all with one operation_id, to be committed with it. If a step fails, retention_sweep_failed
// {target, via, error} outlives the session. A subject that was never erased is left alone.
func (s *Sweeper) Sweep(ctx context.Context, session ports.Session, id domain.SubjectID) (domain.SweepReport, error) {
	sweeper, err := ports.SweeperOf(session.Subjects())
	if err != nil {
		return domain.SweepReport{}, err
	}
	steps := s.steps()
	rows, err := sweeper.Sweep(ctx, id, steps)
	if err == nil && len(rows) != len(steps) {
		err = &domain.Error{Op: "sweep", Message: "the store has not answered for each step"}
	}
	if err != nil {
		payload := domain.Payload{"error": domain.ErrorClass(err)}
		if len(rows) < len(steps) {
			payload["target"] = steps[len(rows)].Target
		}
		_, event := s.audit.Begin(ctx, domain.EventRetentionSweepFailed, id, payload)
		_ = session.Audit().AppendEvidence(ctx, event) // err is what went wrong; Do reports lost evidence
		return domain.SweepReport{}, err
	}
	report := domain.SweepReport{Rows: map[string]int64{}}
	var operation audit.Operation
	var events []domain.AuditEvent
	for i, step := range steps {
		if rows[i] == 0 {
			continue
		}
		payload := domain.Payload{"target": step.Target, "rows": rows[i]}
		if step.Via != "" {
			payload["via"] = step.Via
		}
		var event domain.AuditEvent
		if len(events) == 0 {
			operation, event = s.audit.Begin(ctx, domain.EventRetentionSwept, id, payload)
		} else {
			event = operation.Event(domain.EventRetentionSwept, id, payload)
		}
		events = append(events, event)
		report.Rows[step.Target] += rows[i]
		report.Subjects = 1
	}
	if len(events) == 0 {
		return report, nil
	}
	return report, session.Audit().Append(ctx, events...)
}
