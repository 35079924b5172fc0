package memory

import (
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
)

// holdStore implements ports.HoldStore. The write lock of the session also locks the ledgers of the subject.
type holdStore struct{ *session }

func (h holdStore) Add(ctx context.Context, hold request.Hold) error {
	state, err := h.write(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(state.holds, func(other request.Hold) bool { return other.ID == hold.ID }) {
		return h.fail(conflict("hold", "a hold with that id already exists"))
	}
	hold.PlacedAt, hold.ReviewAt = domain.Instant(hold.PlacedAt), domain.Instant(hold.ReviewAt)
	hold.LiftedAt = domain.Instant(hold.LiftedAt)
	state.holds = append(state.holds, hold)
	return nil
}

func (h holdStore) Update(ctx context.Context, hold request.Hold) error {
	state, err := h.write(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(state.holds, func(other request.Hold) bool { return other.ID == hold.ID && stands(other) })
	if i < 0 {
		return h.fail(conflict("hold", "the hold is lifted, or does not exist"))
	}
	state.holds = slices.Clone(state.holds)
	changed := &state.holds[i]
	changed.LiftedBy = hold.LiftedBy
	changed.ReviewAt, changed.LiftedAt = domain.Instant(hold.ReviewAt), domain.Instant(hold.LiftedAt)
	return nil
}

func (h holdStore) Find(ctx context.Context, id string) (*request.Hold, error) {
	found, err := h.where(ctx, func(hold request.Hold) bool { return hold.ID == id })
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

func (h holdStore) Of(ctx context.Context, id domain.SubjectID) ([]request.Hold, error) {
	return h.where(ctx, func(hold request.Hold) bool { return hold.SubjectID == id })
}

func (h holdStore) List(ctx context.Context, reviewBefore time.Time, limit int) ([]request.Hold, error) {
	reviewBefore = domain.Instant(reviewBefore)
	found, err := h.where(ctx, func(hold request.Hold) bool { return stands(hold) && hold.ReviewAt.Before(reviewBefore) })
	slices.SortStableFunc(found, func(a, b request.Hold) int { return a.ReviewAt.Compare(b.ReviewAt) })
	return upTo(limit, found), err
}

// where returns the holds that are chosen, in the order of intake.
func (h holdStore) where(ctx context.Context, chosen func(request.Hold) bool) (found []request.Hold, err error) {
	state, err := h.read(ctx, false)
	if err != nil {
		return nil, err
	}
	for _, hold := range state.holds {
		if chosen(hold) {
			found = append(found, hold)
		}
	}
	return found, nil
}

func stands(hold request.Hold) bool { return hold.LiftedAt.IsZero() }

// isHeld reports whether a hold of the subject stands.
func (s *state) isHeld(id domain.SubjectID) bool {
	return slices.ContainsFunc(s.holds, func(hold request.Hold) bool { return hold.SubjectID == id && stands(hold) })
}
