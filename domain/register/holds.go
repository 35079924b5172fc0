package register

import (
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

// PlaceHold places a legal hold on a person, records hold_placed, and puts a scheduled erasure of the person on hold.
// SubjectID, Ground and ReviewAt are required; ReviewAt must lie in the future. PlaceHold sets ID, PlacedAt and
// PlacedBy, the operator of ctx (domain.WithOperator). It waits for an erasure of the person that has begun.
//
// It returns domain.ErrInvalid, with one error per invalid field.
func (r *Register) PlaceHold(ctx context.Context, s ports.Session, hold request.Hold) (request.Hold, error) {
	now := r.now()
	hold.ID, hold.PlacedAt, hold.PlacedBy = r.audit.IDs.NewID(), now, domain.OperatorOf(ctx)
	hold.ReviewAt, hold.LiftedAt, hold.LiftedBy = domain.Instant(hold.ReviewAt), time.Time{}, ""
	faults := text("reference", hold.Reference, maxReference)
	if grounds := request.Grounds(request.Erasure); !slices.Contains(grounds, hold.Ground) {
		faults = append(faults, fault("ground", domain.FieldUnknown, "must be one of "+joined(grounds)))
	}
	if err := domain.CheckCall("place hold", hold.SubjectID, append(faults, r.holdFaults(hold, now)...)); err != nil {
		return hold, err
	}
	if err := s.Register().Holds.Add(ctx, hold); err != nil {
		return hold, err
	}
	if err := r.recordHold(ctx, s, domain.EventHoldPlaced, hold); err != nil {
		return hold, err
	}
	return hold, r.onErasure(ctx, s, hold.SubjectID, request.Event{Name: request.HoldPlaced, At: now})
}

// ReviewHold sets the next review of a hold, and records hold_reviewed. It returns domain.ErrNotFound if there is no
// such hold, and domain.ErrConflict if it is lifted.
func (r *Register) ReviewHold(
	ctx context.Context, s ports.Session, id string, reviewAt time.Time,
) (request.Hold, error) {
	hold, err := r.findHold(ctx, s, id)
	if err != nil {
		return hold, err
	}
	hold.ReviewAt = domain.Instant(reviewAt)
	if err := domain.Invalid("review hold", r.holdFaults(hold, r.now())); err != nil {
		return hold, err
	}
	return hold, r.updateHold(ctx, s, domain.EventHoldReviewed, hold)
}

// LiftHold lifts a hold, and records hold_lifted. If it was the last one of the person, an erasure on hold is scheduled
// again, at least a day ahead. It returns the errors of ReviewHold.
func (r *Register) LiftHold(ctx context.Context, s ports.Session, id string) (request.Hold, error) {
	hold, err := r.findHold(ctx, s, id)
	if err != nil {
		return hold, err
	}
	now := r.now()
	hold.LiftedAt, hold.LiftedBy = now, domain.OperatorOf(ctx)
	if hold.LiftedBy == "" {
		return hold, domain.Invalid("lift hold", []domain.FieldError{noOperator})
	}
	if err := r.updateHold(ctx, s, domain.EventHoldLifted, hold); err != nil {
		return hold, err
	}
	standing, err := s.Register().Requests.Standing(ctx, hold.SubjectID, time.Time{})
	if err != nil || standing.Held {
		return hold, err
	}
	return hold, r.onErasure(ctx, s, hold.SubjectID, request.Event{
		Name: request.HoldLifted, At: now, Operator: hold.LiftedBy,
	})
}

// HoldsOf returns the holds of a person, also those that are lifted.
func (r *Register) HoldsOf(ctx context.Context, s ports.Session, id domain.SubjectID) ([]request.Hold, error) {
	return s.Register().Holds.Of(ctx, id)
}

// Holds returns the holds that stand and whose review is before an instant, the earliest first, at most limit.
func (r *Register) Holds(
	ctx context.Context, s ports.Session, reviewBefore time.Time, limit int,
) ([]request.Hold, error) {
	return s.Register().Holds.List(ctx, reviewBefore, limit)
}

func (r *Register) findHold(ctx context.Context, s ports.Session, id string) (request.Hold, error) {
	hold, err := s.Register().Holds.Find(ctx, id)
	switch {
	case err != nil:
		return request.Hold{}, err
	case hold == nil:
		return request.Hold{}, &domain.Error{Code: domain.ErrNotFound, Op: "hold", Message: "there is no such hold"}
	}
	return *hold, nil
}

func (r *Register) updateHold(
	ctx context.Context, s ports.Session, eventType domain.EventType, hold request.Hold,
) error {
	if err := s.Register().Holds.Update(ctx, hold); err != nil {
		return err
	}
	return r.recordHold(ctx, s, eventType, hold)
}

func (r *Register) recordHold(
	ctx context.Context, s ports.Session, eventType domain.EventType, hold request.Hold,
) error {
	return s.Audit().Append(ctx, r.audit.Event(ctx, eventType, hold.SubjectID, domain.Payload{
		"hold_id": hold.ID, "ground": string(hold.Ground), "review_at": hold.ReviewAt.Format(time.RFC3339Nano),
	}))
}

// onErasure applies an event of a hold to the open request for erasure of the person, if there is one.
func (r *Register) onErasure(ctx context.Context, s ports.Session, id domain.SubjectID, e request.Event) error {
	standing, err := s.Register().Requests.Standing(ctx, id, time.Time{})
	if err != nil {
		return err
	}
	if open := standing.OpenOf(request.Erasure); open != nil {
		_, err = r.change(ctx, s, *open, e, nil)
	}
	return err
}

var noOperator = fault("operator", domain.FieldRequired, "must not be empty")

// holdFaults returns the errors of what each change of a hold needs.
func (r *Register) holdFaults(hold request.Hold, now time.Time) (faults []domain.FieldError) {
	if !hold.ReviewAt.After(now) {
		faults = append(faults, fault("review_at", domain.FieldUnknown, "must be in the future"))
	}
	if hold.PlacedBy == "" {
		faults = append(faults, noOperator)
	}
	return faults
}
