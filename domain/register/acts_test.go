package register_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/register"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

func TestAnErasureIsARequestThatCommitsWithIt(t *testing.T) {
	w := newWorld(t)
	check(t, w.store.Insert("invoices", memory.Row{"id": 1, "user_id": 42, "total": "9"}))
	result := must(w.erase(t))(t)
	number := request.Number(result.Request)
	of := w.find(t, number)
	if of.State != request.Fulfilled || !of.Partly || of.Kind != request.Erasure || of.Channel != request.SelfService {
		t.Errorf("the request is %+v", of)
	}
	events := w.events(t, w.zoe.ID, number)
	for _, want := range []domain.EventType{
		domain.EventErasureRequested, domain.EventErasureCompleted, domain.EventRequestReceived, domain.EventRequestFulfilled,
	} {
		if !slices.Contains(events, want) {
			t.Errorf("no event %s with the number: %v", want, events)
		}
	}

	failed := errors.New("failed")
	err := w.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		result, err := w.eraser.Erase(w.Begin(ctx), s, w.zoe)
		number = request.Number(result.Request)
		return errors.Join(err, failed)
	})
	if !errors.Is(err, failed) {
		t.Error(err)
	}
	w.do(t, func(ctx context.Context, s ports.Session) error {
		_, err := w.Find(ctx, s, number)
		wants(t, err, domain.ErrNotFound)
		return nil
	})
}

func TestAnErasureClosesTheOpenRequests(t *testing.T) {
	w := newWorld(t)
	access, _ := w.open(t, request.Access)
	open, _ := w.open(t, request.Erasure)
	result := must(w.erase(t))(t)
	if result.Request != string(open.Number) {
		t.Error("the erasure has made a second request")
	}
	if of := w.find(t, open.Number); of.State != request.Fulfilled || of.Partly {
		t.Errorf("the request is %+v", of)
	}
	if of := w.find(t, access.Number); of.State != request.Withdrawn || of.StateReason != "erased" {
		t.Errorf("the request for access is %+v", of)
	}
	w.do(t, func(ctx context.Context, s ports.Session) error {
		left, err := w.Of(ctx, s, w.zoe.ID)
		if len(left) > 0 {
			t.Errorf("the next person with the id sees %d requests", len(left))
		}
		return err
	})
}

// A call without a number, such as that of a command, is no request, but the data is gone all the same.
func TestAnErasureWithoutANumberIsNoRequest(t *testing.T) {
	w := newWorld(t)
	open, _ := w.open(t, request.Erasure)
	w.do(t, func(ctx context.Context, s ports.Session) error {
		result, err := w.eraser.Erase(ctx, s, w.zoe)
		if result.Request != "" {
			t.Error("it has a number")
		}
		return err
	})
	if of := w.find(t, open.Number); of.State != request.Withdrawn || of.StateReason != "erased" {
		t.Errorf("the open request is %+v", of)
	}
}

func TestAHoldStopsAnErasure(t *testing.T) {
	w := newWorld(t)
	hold := w.hold(t)
	_, err := w.erase(t)
	wants(t, err, domain.ErrHeld)
	err = w.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := w.eraser.Erase(ctx, s, w.zoe)
		return err
	})
	wants(t, err, domain.ErrHeld)
	w.export(t) // no hold stops it
	check(t, w.lift(t, hold))
	must(w.erase(t))(t)
}

func TestARequestIsFulfilledWhenTheLastSystemHasErased(t *testing.T) {
	for discards, partly := range map[bool]bool{false: false, true: true} {
		w := newWorld(t)
		w.zoe = fixture.MustSubject(t, "42", domain.SubjectRef{Kind: "desk", Value: "c-1"})
		w.desk.down = discards
		result := must(w.erase(t))(t)
		number := request.Number(result.Request)
		if of := w.find(t, number); of.State != request.Executing || !of.ClosedAt.IsZero() {
			t.Errorf("the request is %+v", of)
		}
		if again, isNew := w.open(t, request.Erasure); !isNew {
			t.Errorf("the next life cannot ask: %s", again.State)
		}
		must(w.runner.RunOnce(t.Context()))(t)
		if discards {
			w.do(t, func(ctx context.Context, s ports.Session) error {
				given, err := s.OutboxAdmin().Abandoned(ctx, nil, 1)
				check(t, err)
				_, err = w.runner.Discard(ctx, s, "done by hand", given[0].EntryID)
				return err
			})
		}
		if of := w.find(t, number); of.State != request.Fulfilled || of.Partly != partly {
			t.Errorf("discarded %v: the request is %+v", discards, of)
		}
	}
}

func TestACompleteExportFulfilsWhatTheSubjectHasAskedForBefore(t *testing.T) {
	w := newWorld(t)
	w.zoe = fixture.MustSubject(t, "42", domain.SubjectRef{Kind: "desk", Value: "c-1"})
	access, _ := w.open(t, request.Access)
	portability, _ := w.open(t, request.Portability)
	erasure, _ := w.open(t, request.Erasure)
	w.clock.Advance(time.Hour)

	w.desk.down = true
	incomplete := w.export(t)
	if of := w.find(t, request.Number(incomplete.Request)); of.State != request.Fulfilled || !of.Partly {
		t.Errorf("the incomplete export is %+v", of)
	}
	if of := w.find(t, access.Number); of.State != request.Received {
		t.Errorf("an incomplete export has closed the request: %s", of.State)
	}
	w.desk.down = false
	complete := w.export(t)
	for _, number := range []request.Number{access.Number, portability.Number} {
		if of := w.find(t, number); of.State != request.Fulfilled || string(of.RefersTo) != complete.Request {
			t.Errorf("the request is %+v", of)
		}
	}
	if of := w.find(t, erasure.Number); of.State != request.Received {
		t.Errorf("the request for erasure is %s", of.State)
	}
}

func TestAnIncompleteExportWaitsForAnOperator(t *testing.T) {
	w := newWorld(t)
	w.zoe = fixture.MustSubject(t, "42", domain.SubjectRef{Kind: "desk", Value: "c-1"})
	w.desk.down = true
	bundle := w.export(t)
	of := w.find(t, request.Number(bundle.Request))
	if of.State != request.Received || of.Kind != request.Access || of.DueOn != "2026-04-05" {
		t.Errorf("the request is %+v", of)
	}
}

// A letter is answered by letter.
func TestAnExportLeavesTheRequestsOfOperators(t *testing.T) {
	w := newWorld(t)
	var letter request.Request
	w.do(t, func(ctx context.Context, s ports.Session) (err error) {
		letter, _, err = w.Open(ctx, s, register.Opening{
			SubjectID: w.zoe.ID, Kind: request.Access, Channel: request.Operator,
		})
		return err
	})
	w.export(t)
	if of := w.find(t, letter.Number); of.State != request.Received {
		t.Errorf("the letter is %s", of.State)
	}
}

func TestARestrictionIsARequestAndItsEndIsNone(t *testing.T) {
	w := newWorld(t)
	place := func(restricted bool, purpose *string) {
		w.do(t, func(ctx context.Context, s ports.Session) error {
			_, err := w.restriction.Record(w.Begin(ctx), s, w.zoe.ID, domain.RestrictionDecision{
				Restricted: restricted, Purpose: purpose, Source: "test",
			})
			return err
		})
	}
	declared, other := "news", "zoe's own words"
	place(true, &declared)
	place(true, &other)
	place(false, nil)
	w.do(t, func(ctx context.Context, s ports.Session) error {
		all, err := w.Of(ctx, s, w.zoe.ID)
		if len(all) != 2 || all[1].Purpose != "news" || all[0].Purpose != "" || all[0].State != request.Fulfilled {
			t.Errorf("the requests are %+v", all)
		}
		return err
	})
}

// A purpose that nobody has declared may be a text of the subject.
func TestWithoutDeclaredPurposesNoPurposeIsStored(t *testing.T) {
	w := newWorld(t)
	plain := must(register.New(register.Config{
		Clock: w.clock, IDs: &fixture.IDs{}, Secrets: system.Secrets{}, Rules: request.Rules{Zone: time.UTC},
	}))(t)
	words := "zoe's own words"
	w.do(t, func(ctx context.Context, s ports.Session) error {
		return plain.Restricted(plain.Begin(ctx), s, domain.RestrictionRecord{
			SubjectID: w.zoe.ID, Purpose: &words, Restricted: true,
		})
	})
	w.do(t, func(ctx context.Context, s ports.Session) error {
		all, err := w.Of(ctx, s, w.zoe.ID)
		if len(all) != 1 || all[0].Purpose != "" {
			t.Errorf("%d requests, purpose %q", len(all), all[0].Purpose)
		}
		return err
	})
}

func TestASubjectErasesAtOnceWhatIsScheduled(t *testing.T) {
	w := newWorld(t)
	scheduled, _ := w.open(t, request.Erasure)
	must(w.apply(t, scheduled.Number, request.Event{Name: request.Schedule, After: noon.AddDate(0, 0, 7)}))(t)
	if result := must(w.erase(t))(t); result.Request != string(scheduled.Number) {
		t.Error("the erasure has made a second request")
	}
	if of := w.find(t, scheduled.Number); of.State != request.Fulfilled {
		t.Errorf("the request is %s", of.State)
	}
}

func TestAnErasureByAnOperatorSaysSo(t *testing.T) {
	w := newWorld(t)
	var result domain.ErasureResult
	check(t, w.ada(t, func(ctx context.Context, s ports.Session) (err error) {
		result, err = w.eraser.Erase(w.Begin(ctx), s, w.zoe)
		return err
	}))
	if of := w.find(t, request.Number(result.Request)); of.Channel != request.Operator || of.DecidedBy != "ada" {
		t.Errorf("the request is %+v", of)
	}
}
