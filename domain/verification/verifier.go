// Package verification looks whether anything is left of a subject that was erased (Art. 17 GDPR): rows that came back
// by a trigger, a job or a restored copy, and cells that the application has written again.
package verification

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/ports"
)

// Config is what a Verifier is made of. All fields are required.
type Config struct {
	Sessions ports.SessionFactory // for RunOnce
	Clock    ports.Clock
	IDs      ports.IDSource
	DataMap  domain.DataMap
	Plan     domain.Plan // the one that erasures follow: erasure.Eraser.Plan
}

// Verifier verifies erasures. It is safe for concurrent use, also by several processes.
type Verifier struct {
	sessions ports.SessionFactory
	audit    audit.Stamper
	dataMap  domain.DataMap
	plan     domain.Plan
	failures failures
}

// NewVerifier returns a verifier. Returns domain.ErrConfiguration if a field is missing, and domain.ErrManifest if the
// plan is not one for the data map.
func NewVerifier(c Config) (*Verifier, error) {
	if c.Sessions == nil || c.Clock == nil || c.IDs == nil || c.DataMap.IsZero() || c.Plan.Steps == nil {
		return nil, domain.Misconfigured("verifier", "Sessions, Clock, IDs, DataMap and Plan are required")
	}
	if _, err := c.DataMap.CheckSteps(c.Plan.Local()); err != nil {
		return nil, err
	}
	return &Verifier{
		sessions: c.Sessions, audit: audit.Stamper{Clock: c.Clock, IDs: c.IDs}, dataMap: c.DataMap, plan: c.Plan,
	}, nil
}

// Verify looks in the session for what the last erasure of the subject that has committed should have deleted or
// overwritten, and is there. See ports.ErasureVerifier for what it finds and what it passes over. It changes no row of
// the application.
//
// The audit trail gets erasure_verified with the number of local steps, or else one erasure_left_over for each table
// and column with what is left over: target, column (of cells), and rows. The events have the id of the erasure as
// domain.PayloadOperationID, if its events are there. What is left over is no error.
//
// Returns domain.ErrConflict if the subject was never erased, domain.ErrSubject if the id does not fit the data map,
// domain.ErrConfiguration if the store has no ports.ErasureMarks or no ports.ErasureVerifier, and the errors of those.
// They leave no event.
func (v *Verifier) Verify(ctx context.Context, s ports.Session, id domain.SubjectID) (domain.Verification, error) {
	if err := v.dataMap.CheckSubject(domain.Subject{ID: id}); err != nil {
		return domain.Verification{}, err
	}
	marks, err := ports.MarksOf(s)
	if err != nil {
		return domain.Verification{}, err
	}
	found, err := marks.Find(ctx, []domain.SubjectID{id})
	if err != nil {
		return domain.Verification{}, err
	}
	if len(found) == 0 {
		return domain.Verification{}, &domain.Error{
			Code: domain.ErrConflict, Op: "verify", Message: "the subject was never erased",
		}
	}
	return v.verify(ctx, s, found[0])
}

// verify verifies the erasure that has left a mark.
func (v *Verifier) verify(
	ctx context.Context, s ports.Session, mark domain.ErasureMark,
) (domain.Verification, error) {
	verifier, err := ports.VerifierOf(s.Subjects())
	if err != nil {
		return domain.Verification{}, err
	}
	left, err := verifier.LeftOver(ctx, mark.SubjectID, v.plan.LocalAt(mark.ErasedAt), mark.ErasedAt)
	if err != nil {
		return domain.Verification{}, err
	}
	verifiedAt, err := v.record(ctx, s, mark.SubjectID, left)
	if err != nil {
		return domain.Verification{}, err
	}
	return domain.Verification{
		SubjectID: mark.SubjectID, ErasedAt: mark.ErasedAt, VerifiedAt: verifiedAt, LeftOver: left,
	}, nil
}

// record appends the events, and returns the instant of the last one.
func (v *Verifier) record(
	ctx context.Context, s ports.Session, id domain.SubjectID, found domain.Leftovers,
) (time.Time, error) {
	trail, err := s.Audit().Trail(ctx, id)
	if err != nil {
		return time.Time{}, err
	}
	erasure := v.audit.Operation(ctx, lastErasure(trail))
	var events []domain.AuditEvent
	for _, left := range found {
		payload := domain.Payload{"target": left.Table, "rows": left.Rows}
		if left.Column != "" {
			payload["column"] = left.Column
		}
		events = append(events, erasure.Event(domain.EventErasureLeftOver, id, payload))
	}
	if len(events) == 0 {
		events = append(events, erasure.Event(domain.EventErasureVerified, id, domain.Payload{
			"local_steps": len(v.plan.Local()),
		}))
	}
	return events[len(events)-1].OccurredAt, s.Audit().Append(ctx, events...)
}

// lastErasure returns the id of the last erasure on a trail that was carried out here; empty if there is none.
func lastErasure(trail []domain.AuditEvent) (id string) {
	for _, event := range trail {
		if event.EventType == domain.EventErasureLocalCompleted {
			id, _ = event.Payload[domain.PayloadOperationID].(string)
		}
	}
	return id
}
