package register_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/register"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

func TestARequestIsOpenedOnceAndWithdrawn(t *testing.T) {
	w := newWorld(t)
	opened, isNew := w.open(t, request.Access)
	if !isNew || opened.State != request.Received || opened.DueOn != "2026-04-05" || opened.VerifiedBy != request.Session {
		t.Errorf("opened %+v", opened)
	}
	if again, isNew := w.open(t, request.Access); isNew || again.Number != opened.Number {
		t.Errorf("a second request was opened: %v", isNew)
	}
	w.do(t, func(ctx context.Context, s ports.Session) error {
		_, err := w.Withdraw(ctx, s, fixture.MustID(t, "43"), opened.Number)
		wants(t, err, domain.ErrNotFound)
		withdrawn, err := w.Withdraw(ctx, s, w.zoe.ID, opened.Number)
		if withdrawn.State != request.Withdrawn || withdrawn.ClosedAt.IsZero() {
			t.Errorf("withdrawn: %+v", withdrawn)
		}
		return err
	})
	want := []domain.EventType{domain.EventRequestReceived, domain.EventRequestWithdrawn}
	if got := w.events(t, w.zoe.ID, opened.Number); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

func TestADayHasALimitOfRequests(t *testing.T) {
	w := newWorld(t)
	w.export(t)
	for range register.DailyLimit {
		opened, isNew := w.open(t, request.Restriction)
		if !isNew {
			t.Fatal("not opened")
		}
		w.do(t, func(ctx context.Context, s ports.Session) error {
			_, err := w.Withdraw(ctx, s, w.zoe.ID, opened.Number)
			return err
		})
	}
	for range register.DailyLimit {
		w.export(t) // does not count, and is not refused
	}
	tryOpen := func() error {
		return w.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, _, err := w.Open(ctx, s, register.Opening{
				SubjectID: w.zoe.ID, Kind: request.Access, Channel: request.SelfService,
			})
			return err
		})
	}
	wants(t, tryOpen(), domain.ErrLimited)
	_, err := w.erase(t)
	wants(t, err, domain.ErrLimited)
	w.clock.Advance(11 * time.Hour) // midnight in Berlin
	check(t, tryOpen())
}

func TestEachWrongFieldOfARequestIsNamed(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		opening register.Opening
		fields  string
	}{
		{register.Opening{}, "channel kind"},
		{register.Opening{Kind: request.Access, Channel: request.SelfService}, "subject_id"},
		{register.Opening{Kind: request.Objection, Channel: request.SelfService, SubjectID: w.zoe.ID}, "kind"},
		{register.Opening{Kind: request.Access, Channel: request.Agent, Purpose: "news"}, "purpose"},
		{register.Opening{Kind: request.Objection, Channel: request.Agent, Purpose: "ads"}, "purpose"},
		{register.Opening{Kind: request.Access, Channel: request.Agent, VerifiedBy: "guess"}, "verified_by"},
		{register.Opening{Kind: request.Access, Channel: request.Agent, Reference: strings.Repeat("ä", 65)}, "reference"},
		{register.Opening{Kind: request.Access, Channel: request.Agent, Reference: "a\n"}, "reference"},
		{register.Opening{Kind: request.Access, Channel: request.Agent, Language: strings.Repeat("x", 36)}, "language"},
		{register.Opening{Kind: request.Access, Channel: request.Agent, ReceivedAt: noon.Add(time.Hour)}, "received_at"},
	} {
		err := w.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, _, err := w.Open(ctx, s, c.opening)
			return err
		})
		wants(t, err, domain.ErrInvalid)
		var coded *domain.Error
		errors.As(err, &coded)
		var fields []string
		for _, field := range coded.Fields {
			fields = append(fields, field.Field)
		}
		if got := strings.Join(fields, " "); got != c.fields {
			t.Errorf("%+v: fields %s, want %s", c.opening, got, c.fields)
		}
	}
}

// A letter arrives; nobody knows yet from whom it is. Its events have the number as their subject.
func TestALetterIsAssignedOnce(t *testing.T) {
	w := newWorld(t)
	var letter request.Request
	w.do(t, func(ctx context.Context, s ports.Session) (err error) {
		letter, _, err = w.Open(ctx, s, register.Opening{
			Kind: request.Access, Channel: request.Operator, Reference: "A-17", ReceivedAt: noon.AddDate(0, 0, -3),
		})
		return err
	})
	if letter.DueOn != "2026-04-02" {
		t.Errorf("due on %s: the clock starts at the receipt", letter.DueOn)
	}
	assign := func(id string) error {
		return w.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := w.Assign(ctx, s, letter.Number, fixture.MustID(t, id), request.DocumentSeen)
			return err
		})
	}
	check(t, assign("42"))
	check(t, assign("42"))
	wants(t, assign("43"), domain.ErrConflict)
	other, _ := w.open(t, request.Portability)
	w.do(t, func(ctx context.Context, s ports.Session) error {
		_, err := w.Assign(ctx, s, other.Number, fixture.MustID(t, "43"), "")
		wants(t, err, domain.ErrConflict)
		closed, _, err := w.Open(ctx, s, register.Opening{Kind: request.Access, Channel: request.Agent})
		check(t, err)
		_, err = w.Apply(ctx, s, closed.Number, request.Event{Name: request.Withdraw})
		check(t, err)
		_, err = w.Assign(ctx, s, closed.Number, w.zoe.ID, "")
		wants(t, err, domain.ErrConflict)
		return nil
	})
	if got := w.events(t, fixture.MustID(t, string(letter.Number)), letter.Number); len(got) != 1 {
		t.Errorf("events of nobody: %v", got)
	}
	if got := w.events(t, w.zoe.ID, letter.Number); !slices.Equal(got, []domain.EventType{domain.EventRequestAssigned}) {
		t.Errorf("events %v", got)
	}
}

func TestAnOperatorDecidesByTheTable(t *testing.T) {
	w := newWorld(t)
	opened, _ := w.open(t, request.Access)
	w.clock.Advance(time.Hour)
	asked := must(w.apply(t, opened.Number, request.Event{Name: request.Ask, Reason: request.Identity}))(t)
	if asked.State != request.Awaiting || !asked.DueAt.IsZero() {
		t.Errorf("asked: %+v", asked)
	}
	must(w.apply(t, opened.Number, request.Event{Name: request.Delivered}))(t)
	w.clock.Advance(5 * 24 * time.Hour)
	for _, wrong := range []time.Time{noon.Add(time.Minute), noon.AddDate(0, 0, 6)} {
		_, err := w.apply(t, opened.Number, request.Event{Name: request.Answered, At: wrong})
		wants(t, err, domain.ErrInvalid)
	}
	monday := noon.AddDate(0, 0, 3)
	answered := must(w.apply(t, opened.Number, request.Event{Name: request.Answered, At: monday}))(t)
	if answered.State != request.Received || answered.DueOn != "2026-04-08" || answered.StrictDueOn != "2026-04-05" {
		t.Errorf("answered: %+v", answered)
	}
	must(w.apply(t, opened.Number, request.Event{Name: request.Extend, Extension: request.Complex}))(t)
	_, err := w.apply(t, opened.Number, request.Event{Name: request.Extend, Extension: request.Complex})
	wants(t, err, domain.ErrConflict)
	_, err = w.apply(t, opened.Number, request.Event{Name: request.Refuse, Ground: request.PublicHealth})
	wants(t, err, domain.ErrInvalid)
	for _, act := range []request.EventName{
		request.CarryOut, request.OwnAct, request.Due, request.Erased, request.EarlierLife, request.Settled,
		request.HoldPlaced, request.HoldLifted,
	} {
		_, err = w.apply(t, opened.Number, request.Event{Name: act})
		wants(t, err, domain.ErrInvalid)
	}
	refused := must(w.apply(t, opened.Number, request.Event{Name: request.Refuse, Ground: request.Excessive}))(t)
	answer := w.Answer(refused)
	if refused.DecidedBy != "ada" || answer.RefusalGround != request.Excessive ||
		answer.Remedies.Authority != "Authority" {
		t.Errorf("refused by %s: %+v", refused.DecidedBy, answer)
	}
	want := []domain.EventType{
		domain.EventRequestReceived, domain.EventRequestAsked, domain.EventNoticeSent, domain.EventRequestAnswered,
		domain.EventRequestExtended, domain.EventRequestRefused,
	}
	if got := w.events(t, w.zoe.ID, opened.Number); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	_, err = w.apply(t, "00000000000000000000", request.Event{Name: request.Withdraw})
	wants(t, err, domain.ErrNotFound)
}

func TestAnAnswerThatRefusesNamesTheRemedies(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		of      request.Request
		refuses bool
	}{
		{request.Request{State: request.Received}, false},
		{request.Request{State: request.Fulfilled}, false},
		{request.Request{State: request.Fulfilled, Partly: true}, true},
		{request.Request{State: request.Refused}, true},
		{request.Request{State: request.Lapsed}, true},
		{request.Request{State: request.Withdrawn}, false},
	} {
		if named := w.Answer(c.of).Remedies.Judicial; named != c.refuses {
			t.Errorf("%+v: remedies %v", c.of, named)
		}
	}
}
