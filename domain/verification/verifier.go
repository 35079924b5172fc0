// Package verification checks that no data of an erased subject is left (Art. 17 GDPR). It finds rows that a trigger, a
// job or a restored copy brought back, and cells that the application wrote again. See the example of
// [Verifier.Verify].
package verification

import (
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// Config holds the dependencies of a Verifier. All fields are required.
type Config struct {
	Sessions ports.SessionFactory // for RunOnce
	Clock    ports.Clock
	IDs      ports.IDSource
	DataMap  datamap.DataMap
	Plan     datamap.Plan // the plan of the erasures: erasure.Eraser.Plan
}

// Verifier verifies erasures. It is safe for concurrent use by several goroutines and processes.
type Verifier struct {
	sessions ports.SessionFactory
	audit    audit.Stamper
	dataMap  datamap.DataMap
	plan     datamap.Plan
	failures failures
}

// NewVerifier returns a verifier. It returns domain.ErrConfiguration if a field is missing. It returns
// domain.ErrManifest if the plan does not belong to the data map.
func NewVerifier(c Config) (*Verifier, error) {
	if c.Sessions == nil || c.Clock == nil || c.IDs == nil || c.DataMap.IsZero() || c.Plan.Steps == nil {
		return nil, domain.Misconfigured("verifier", "Sessions, Clock, IDs, DataMap and Plan are required")
	}
	if _, err := plan.CheckSteps(c.DataMap, c.Plan.Local()); err != nil {
		return nil, err
	}
	return &Verifier{
		sessions: c.Sessions, audit: audit.Stamper{Clock: c.Clock, IDs: c.IDs}, dataMap: c.DataMap, plan: c.Plan,
	}, nil
}

// Verify searches for left-over data: data that the last committed erasure of the subject should have deleted or
// overwritten. See ports.ErasedStore. Verify works in the session and changes no row of the application.
//
// If no data is left over, Verify records erasure_verified {local_steps}, the number of local steps of the plan.
// Otherwise it records one erasure_left_over for each table with rows that are left over, and for each column with
// cells that are left over. The payload is {target, column, rows}. For rows that are left over, it has no column. If
// the audit trail has the events of the erasure, the new events have the same operation id (domain.PayloadOperationID).
// Verify returns no error for data that is left over.
//
// Verify also keeps the number of erasures that have left data over (domain.Duty.LeftOver): it counts an erasure when
// it finds such data first, and no longer counts it when it finds none.
//
// Verify checks nothing and records no event if the life of the id has not ended (see domain.Life), because the rows
// may belong to a new person with the same id. The field Life of the result says so, and LeftOver has the data that
// verifications before have found, from the audit trail. Clear clears it.
//
// Verify returns domain.ErrConflict if the subject was never erased. It returns domain.ErrSubject if the id does not
// fit the data map. It returns the errors of the store. After an error, Verify records no event.
func (v *Verifier) Verify(ctx context.Context, s ports.Session, id domain.SubjectID) (domain.Verification, error) {
	if err := v.dataMap.CheckSubject(domain.Subject{ID: id}); err != nil {
		return domain.Verification{}, err
	}
	found, err := s.Erased().Find(ctx, []domain.SubjectID{id})
	if err != nil {
		return domain.Verification{}, err
	}
	if len(found) == 0 {
		return domain.Verification{}, &domain.Error{
			Code: domain.ErrConflict, Op: "verify", Message: "the subject was never erased",
		}
	}
	result, err := v.verify(ctx, s, found[0])
	if err != nil || result.Life == "" {
		return result, err
	}
	trail, err := s.Audit().Trail(ctx, id)
	result.LeftOver = leftOver(trail)
	return result, err
}

// Clear does the same as Verify if the life of the id has ended. Otherwise it clears the data that Verify returns: an
// operator has seen that nothing of the erased person is left. Clear records erasure_left_over {target, column, rows,
// cleared: true} for each table and column, and no longer counts the erasure among those that have left data over.
// Cleared of the result is true if there was such data. Clear returns the errors of Verify.
func (v *Verifier) Clear(ctx context.Context, s ports.Session, id domain.SubjectID) (domain.Verification, error) {
	result, err := v.Verify(ctx, s, id)
	if err != nil || result.Life == "" || len(result.LeftOver) == 0 {
		return result, err
	}
	result.Cleared = true
	_, err = v.record(ctx, s, id, result.LeftOver, true)
	return result, err
}

// verify verifies the erasure that the mark records.
func (v *Verifier) verify(
	ctx context.Context, s ports.Session, mark domain.ErasureMark,
) (domain.Verification, error) {
	state, err := s.Subjects().State(ctx, mark.SubjectID)
	if err != nil {
		return domain.Verification{}, err
	}
	if state.Life != domain.LifeEnded {
		return domain.Verification{
			SubjectID: mark.SubjectID, ErasedAt: mark.ErasedAt, VerifiedAt: domain.Instant(v.audit.Clock.Now()),
			LeftOver: domain.Leftovers{}, Life: state.Life,
		}, nil
	}
	left, err := s.Erased().LeftOver(ctx, mark.SubjectID, plan.LocalAt(v.plan, mark.ErasedAt), mark.ErasedAt)
	if err != nil {
		return domain.Verification{}, err
	}
	verifiedAt, err := v.record(ctx, s, mark.SubjectID, left, false)
	if err != nil {
		return domain.Verification{}, err
	}
	return domain.Verification{
		SubjectID: mark.SubjectID, ErasedAt: mark.ErasedAt, VerifiedAt: verifiedAt, LeftOver: left,
	}, nil
}

// record appends the events of the verification, or those of Clear. It returns the time of the last event.
func (v *Verifier) record(
	ctx context.Context, s ports.Session, id domain.SubjectID, found domain.Leftovers, cleared bool,
) (time.Time, error) {
	trail, err := s.Audit().Trail(ctx, id)
	if err != nil {
		return time.Time{}, err
	}
	if err := v.count(ctx, s, id, len(found) > 0 && !cleared, trail); err != nil {
		return time.Time{}, err
	}
	erasure := v.audit.Operation(ctx, lastErasure(trail))
	var events []domain.AuditEvent
	for _, left := range found {
		payload := domain.Payload{"target": left.Table, "rows": left.Rows}
		if left.Column != "" {
			payload["column"] = left.Column
		}
		if cleared {
			payload[payloadCleared] = true
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

// count changes the number of erasures with data that is left over (see domain.Duty), if the result of this
// verification differs from that of the last one. The change locks the number until the session ends. Another
// verification of the subject may have ended before, so count then reads the trail again.
func (v *Verifier) count(
	ctx context.Context, s ports.Session, id domain.SubjectID, leftOver bool, trail []domain.AuditEvent,
) error {
	if leftOver == wasLeftOver(trail) {
		return nil
	}
	step := int64(-1)
	if leftOver {
		step = 1
	}
	if err := s.Installation().Duties().AddLeftOver(ctx, domain.DutyVerification, step); err != nil {
		return err
	}
	trail, err := s.Audit().Trail(ctx, id)
	if err != nil || leftOver != wasLeftOver(trail) {
		return err
	}
	return s.Installation().Duties().AddLeftOver(ctx, domain.DutyVerification, -step)
}

// payloadCleared is the name under which the payload of an event says that Clear has recorded it.
const payloadCleared = "cleared"

// wasLeftOver reports whether the last verification in the trail has found data that is left over.
func wasLeftOver(trail []domain.AuditEvent) bool { return len(leftOver(trail)) > 0 }

// leftOver returns the data that verifications in the trail have found since the last one that has found none, and
// since the last call of Clear. Each number of rows is that of the last verification which has found any.
func leftOver(trail []domain.AuditEvent) domain.Leftovers {
	found := domain.Leftovers{}
	for _, event := range trail {
		cleared, _ := event.Payload[payloadCleared].(bool)
		switch {
		case event.EventType == domain.EventErasureVerified, event.EventType == domain.EventErasureLeftOver && cleared:
			found = domain.Leftovers{}
		case event.EventType == domain.EventErasureLeftOver:
			table, _ := event.Payload["target"].(string)
			column, _ := event.Payload["column"].(string)
			rows, _ := event.Payload["rows"].(int64)
			found = slices.DeleteFunc(found, func(l domain.Leftover) bool { return l.Table == table && l.Column == column })
			found = append(found, domain.Leftover{Table: table, Column: column, Rows: rows})
		}
	}
	return found
}

// lastErasure finds the last erasure in the audit trail that has changed rows of the application. It returns the
// operation id of this erasure, or an empty id if there is none.
func lastErasure(trail []domain.AuditEvent) (id string) {
	for _, event := range trail {
		if event.EventType == domain.EventErasureLocalCompleted {
			id, _ = event.Payload[domain.PayloadOperationID].(string)
		}
	}
	return id
}
