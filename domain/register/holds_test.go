package register_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

// ada runs fn in a session of the operator ada.
func (w *world) ada(t *testing.T, fn func(ctx context.Context, s ports.Session) error) error {
	t.Helper()
	return w.store.Do(must(domain.WithOperator(t.Context(), "ada"))(t), fn)
}

// hold places a hold on zoe for a year.
func (w *world) hold(t *testing.T) (hold request.Hold) {
	t.Helper()
	check(t, w.ada(t, func(ctx context.Context, s ports.Session) (err error) {
		hold, err = w.PlaceHold(ctx, s, request.Hold{
			SubjectID: w.zoe.ID, Ground: request.LegalClaims, ReviewAt: noon.AddDate(1, 0, 0),
		})
		return err
	}))
	return hold
}

func (w *world) lift(t *testing.T, hold request.Hold) error {
	t.Helper()
	return w.ada(t, func(ctx context.Context, s ports.Session) error {
		_, err := w.LiftHold(ctx, s, hold.ID)
		return err
	})
}

func TestAScheduledErasureWaitsForTheLastHold(t *testing.T) {
	w := newWorld(t)
	erasure, _ := w.open(t, request.Erasure)
	must(w.apply(t, erasure.Number, request.Event{Name: request.Schedule}))(t)
	first, second := w.hold(t), w.hold(t)
	if of := w.find(t, erasure.Number); of.State != request.OnHold || of.DueOn != "2026-04-05" {
		t.Errorf("with a hold: %+v", of)
	}
	check(t, w.lift(t, first))
	if of := w.find(t, erasure.Number); of.State != request.OnHold {
		t.Errorf("with the second hold: %s", of.State)
	}
	check(t, w.lift(t, second))
	if of := w.find(t, erasure.Number); of.State != request.Scheduled || of.ExecuteAfter.Before(noon.Add(24*time.Hour)) {
		t.Errorf("without a hold: %+v", of)
	}
	want := []domain.EventType{
		domain.EventRequestReceived, domain.EventRequestScheduled, domain.EventRequestHeld, domain.EventRequestReleased,
	}
	if got := w.events(t, w.zoe.ID, erasure.Number); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

func TestAnErasureThatIsScheduledUnderAHoldIsHeld(t *testing.T) {
	w := newWorld(t)
	w.hold(t)
	erasure, _ := w.open(t, request.Erasure)
	if of := must(w.apply(t, erasure.Number, request.Event{Name: request.Schedule}))(t); of.State != request.OnHold {
		t.Errorf("the request is %s", of.State)
	}
}

func TestAHoldIsReviewedAndLiftedByAnOperator(t *testing.T) {
	w := newWorld(t)
	hold := w.hold(t)
	later := noon.AddDate(2, 0, 0)
	check(t, w.ada(t, func(ctx context.Context, s ports.Session) error {
		_, err := w.ReviewHold(ctx, s, hold.ID, noon)
		wants(t, err, domain.ErrInvalid)
		_, err = w.ReviewHold(ctx, s, hold.ID, later)
		check(t, err)
		found, err := w.Holds(ctx, s, later.Add(time.Second), 10)
		if len(found) != 1 || !found[0].ReviewAt.Equal(later) || found[0].PlacedBy != "ada" {
			t.Errorf("the holds are %+v", found)
		}
		return err
	}))
	w.do(t, func(ctx context.Context, s ports.Session) error {
		_, err := w.LiftHold(ctx, s, hold.ID)
		wants(t, err, domain.ErrInvalid)
		_, err = w.PlaceHold(ctx, s, request.Hold{SubjectID: w.zoe.ID, Ground: "curiosity"})
		wants(t, err, domain.ErrInvalid)
		_, err = w.LiftHold(ctx, s, "unknown")
		wants(t, err, domain.ErrNotFound)
		return nil
	})
	check(t, w.lift(t, hold))
	wants(t, w.lift(t, hold), domain.ErrConflict)
}
