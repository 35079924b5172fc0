package request_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
)

// step is an event at noon of a day, in UTC.
type step struct {
	day   request.Day
	event request.Event
}

func noon(d request.Day) time.Time { return instant(string(d) + "T12:00:00Z") }

func received(t interface{ Fatal(...any) }, s request.Rules, d request.Day) request.Request {
	r, err := s.Receive(request.Request{
		Kind: request.Erasure, Channel: request.SelfService, ReceivedAt: noon(d), EnteredAt: noon(d),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ask(reason request.Reason) request.Event {
	return request.Event{Name: request.Ask, Reason: reason}
}

var (
	answered  = request.Event{Name: request.Answered}
	delivered = request.Event{Name: request.Delivered}
	extended  = request.Event{Name: request.Extend, Extension: request.Complex}
)

// easter has the holidays around Easter 2026.
func easter(d request.Day) bool { return slices.Contains([]request.Day{"2026-04-03", "2026-04-06"}, d) }

func TestAnAnswerIsDueInAMonth(t *testing.T) {
	utc := request.Rules{Zone: time.UTC}
	for _, c := range []struct {
		name        string
		rules       request.Rules
		day         request.Day
		steps       []step
		due, strict request.Day
	}{
		{"without an event", utc, "2026-03-05", nil, "2026-04-05", "2026-04-05"},
		{"at the end of a month", utc, "2026-08-31", nil, "2026-09-30", "2026-09-30"},
		{"with a holiday", request.Rules{Zone: time.UTC, IsHoliday: easter}, "2026-03-03", nil, "2026-04-07", "2026-04-07"},
		{"on a working day", request.Rules{Zone: time.UTC, IsHoliday: easter}, "2026-03-07", nil, "2026-04-07", "2026-04-07"},
		{
			"suspended", utc, "2026-03-05",
			[]step{{"2026-03-10", ask(request.Identity)}, {"2026-03-17", answered}},
			"2026-04-12", "2026-04-05",
		},
		{
			"answered on the day of the question", utc, "2026-03-05",
			[]step{{"2026-03-10", ask(request.Identity)}, {"2026-03-10", answered}},
			"2026-04-05", "2026-04-05",
		},
		{
			"suspended for both reasons", utc, "2026-03-05",
			[]step{
				{"2026-03-10", ask(request.Identity)},
				{"2026-03-17", answered},
				{"2026-03-20", ask(request.Clarification)},
				{"2026-03-23", answered},
			},
			"2026-04-15", "2026-04-05",
		},
		{
			"asked on the due day", utc, "2026-03-05",
			[]step{{"2026-04-05", ask(request.Identity)}, {"2026-04-07", answered}},
			"2026-04-07", "2026-04-05",
		},
		{
			"asked after the due day", utc, "2026-03-05",
			[]step{{"2026-04-06", ask(request.Identity)}, {"2026-04-17", answered}},
			"2026-04-05", "2026-04-05",
		},
		{
			"a question that cannot be delivered", utc, "2026-03-05",
			[]step{
				{"2026-03-10", ask(request.Identity)},
				{"2026-03-12", request.Event{Name: request.Undelivered}},
				{"2026-03-17", answered},
			},
			"2026-04-05", "2026-04-05",
		},
		{"extended", utc, "2026-11-30", []step{{"2026-12-30", extended}}, "2027-02-28", "2027-02-28"},
		{
			"extended and suspended", utc, "2026-11-30",
			[]step{{"2026-12-01", ask(request.Identity)}, {"2026-12-02", extended}, {"2026-12-04", answered}},
			"2027-03-03", "2027-02-28",
		},
		{
			"by another law",
			request.Rules{Zone: time.UTC, Law: request.Law{Days: 45, ExtensionDays: 45}},
			"2026-01-01",
			[]step{{"2026-01-02", extended}},
			"2026-04-01", "2026-04-01",
		},
		{"east of UTC", request.Rules{Zone: zone(t, "Pacific/Kiritimati")}, "2026-03-05", nil, "2026-04-06", "2026-04-06"},
		{"west of UTC", request.Rules{Zone: zone(t, "Pacific/Pago_Pago")}, "2026-03-05", nil, "2026-04-05", "2026-04-05"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := received(t, c.rules, c.day)
			for _, s := range c.steps {
				s.event.At = noon(s.day)
				var err error
				if r, err = c.rules.Apply(r, s.event); err != nil {
					t.Fatalf("%s: %v", s.event.Name, err)
				}
			}
			if r.DueOn != c.due || r.StrictDueOn != c.strict {
				t.Errorf("due on %s, strictly on %s; want %s and %s", r.DueOn, r.StrictDueOn, c.due, c.strict)
			}
			if !r.DueAt.Equal(r.DueOn.End(c.rules.Zone)) || r.Version != int64(1+len(c.steps)) {
				t.Errorf("due at %v, version %d", r.DueAt, r.Version)
			}
		})
	}
}

func TestAQuestionSuspendsAndLapses(t *testing.T) {
	s := request.Rules{Zone: time.UTC}
	apply := func(r request.Request, e request.Event, d request.Day) request.Request {
		t.Helper()
		e.At = noon(d)
		after, err := s.Apply(r, e)
		if err != nil {
			t.Fatal(err)
		}
		return after
	}
	asked := apply(received(t, s, "2026-03-05"), ask(request.Identity), "2026-03-10")
	if !asked.DueAt.IsZero() || asked.StateReason != "identity" || !asked.LapsesAt.IsZero() {
		t.Errorf("asked: %+v", asked)
	}
	lapse := func(d request.Day) request.Event { return request.Event{Name: request.Lapse, At: noon(d)} }
	if _, err := s.Apply(asked, lapse("2027-01-01")); !errors.Is(err, domain.ErrConflict) {
		t.Errorf("a question that was not delivered lapses: %v", err)
	}
	reached := apply(asked, delivered, "2026-03-11")
	if want := instant("2026-04-09T00:00:00Z"); !reached.LapsesAt.Equal(want) {
		t.Errorf("lapses at %v, want %v", reached.LapsesAt, want)
	}
	if _, err := s.Apply(reached, lapse("2026-04-08")); !errors.Is(err, domain.ErrConflict) {
		t.Errorf("lapses too early: %v", err)
	}
	lapsed := apply(reached, lapse("2026-04-09"), "2026-04-09")
	if lapsed.State != request.Lapsed || lapsed.RefusalGround != request.NotIdentifiable || lapsed.ClosedAt.IsZero() {
		t.Errorf("lapsed: %+v", lapsed)
	}
	back := apply(reached, answered, "2026-03-20")
	for _, e := range []request.Event{ask(request.Identity), extendedAt("2026-04-06"), lapse("2026-05-09")} {
		if e.At.IsZero() {
			e.At = noon("2026-03-21")
		}
		if after, err := s.Apply(back, e); !errors.Is(err, domain.ErrConflict) || after.Version != back.Version {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	once := apply(back, extended, "2026-04-05")
	if _, err := s.Apply(once, extendedAt("2026-04-05")); !errors.Is(err, domain.ErrConflict) {
		t.Errorf("extended twice: %v", err)
	}
	if s.RefusableUntil(once) != back.DueOn {
		t.Errorf("a refusal is in time until %s", s.RefusableUntil(once))
	}
}

func extendedAt(d request.Day) request.Event {
	e := extended
	e.At = noon(d)
	return e
}

func TestAScheduledErasureRunsBeforeItsAnswerIsDue(t *testing.T) {
	s := request.Rules{Zone: time.UTC}
	r := received(t, s, "2026-03-05")
	for day, want := range map[request.Day]time.Time{
		"2026-03-12": noon("2026-03-12"),
		"2026-05-01": instant("2026-04-05T23:59:59.999999Z"),
		"2026-03-01": noon("2026-03-06"),
	} {
		got, err := s.Apply(r, request.Event{Name: request.OwnAct, CoolsOff: true, At: noon("2026-03-06"), After: noon(day)})
		if err != nil || got.State != request.Scheduled || !got.ExecuteAfter.Equal(want) {
			t.Errorf("%s: %s at %v, %v", day, got.State, got.ExecuteAfter, err)
		}
	}
	scheduled, _ := s.Apply(r, request.Event{Name: request.Schedule, At: noon("2026-03-06"), After: noon("2026-03-12")})
	early := request.Event{Name: request.Due, At: noon("2026-03-11")}
	if _, err := s.Apply(scheduled, early); !errors.Is(err, domain.ErrConflict) {
		t.Errorf("too early: %v", err)
	}
	onHold, _ := s.Apply(scheduled, request.Event{Name: request.HoldPlaced, At: noon("2026-03-07")})
	lifted, err := s.Apply(onHold, request.Event{Name: request.HoldLifted, At: noon("2026-03-12")})
	if err != nil || lifted.State != request.Scheduled || !lifted.ExecuteAfter.Equal(noon("2026-03-13")) {
		t.Errorf("lifted: %s at %v, %v", lifted.State, lifted.ExecuteAfter, err)
	}
	stays, err := s.Apply(r, request.Event{Name: request.HoldPlaced, At: noon("2026-03-07")})
	if err != nil || stays.Version != r.Version {
		t.Errorf("a hold changes a received request: version %d, %v", stays.Version, err)
	}
}

func TestADecisionIsRecorded(t *testing.T) {
	s := request.Rules{Zone: time.UTC}
	r := received(t, s, "2026-03-05")
	at := noon("2026-03-06")
	refused, err := s.Apply(r, request.Event{Name: request.Refuse, At: at, Ground: request.LegalClaims, Operator: "dpo"})
	if err != nil || refused.RefusalGround != request.LegalClaims || refused.DecidedBy != "dpo" ||
		!refused.ClosedAt.Equal(at) {
		t.Errorf("refused: %+v, %v", refused, err)
	}
	byHand, err := s.Apply(r, request.Event{Name: request.DoneByHand, At: at, Hand: request.NothingHeld, Operator: "dpo"})
	if err != nil || byHand.DoneByHand != request.NothingHeld {
		t.Errorf("done by hand: %+v, %v", byHand, err)
	}
	gone, err := s.Apply(r, request.Event{Name: request.Erased, At: at})
	if err != nil || gone.State != request.Withdrawn || gone.StateReason != "erased" {
		t.Errorf("erased: %+v, %v", gone, err)
	}
	partly, err := s.Apply(r, request.Event{Name: request.CarryOut, At: at, Partly: true})
	if err != nil || !partly.Partly {
		t.Errorf("partly: %+v, %v", partly, err)
	}
	for field, e := range map[string]request.Event{
		"ground":   {Name: request.Refuse, At: at, Ground: request.OthersRights},
		"code":     {Name: request.DoneByHand, At: at, Operator: "dpo"},
		"operator": {Name: request.DoneByHand, At: at, Hand: request.Corrected},
		"reason":   {Name: request.Ask, At: at},
		"at":       {Name: request.Withdraw},
	} {
		_, err := s.Apply(r, e)
		var invalid *domain.Error
		if !errors.As(err, &invalid) || invalid.Code != domain.ErrInvalid || invalid.Fields[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestAReceiptLiesNotInTheFuture(t *testing.T) {
	s := request.Rules{Zone: time.UTC}
	for field, r := range map[string]request.Request{
		"kind":        {ReceivedAt: noon("2026-03-05"), EnteredAt: noon("2026-03-05")},
		"received_at": {Kind: request.Access, ReceivedAt: noon("2026-03-06"), EnteredAt: noon("2026-03-05")},
	} {
		_, err := s.Receive(r)
		var invalid *domain.Error
		if !errors.As(err, &invalid) || invalid.Fields[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestNoOrderOfEventsMovesADateBeyondTheLaw computes the bounds in another way: the strict date is one month, or three,
// after the receipt, and the other date is at most as many days later as questions were open.
func TestNoOrderOfEventsMovesADateBeyondTheLaw(t *testing.T) {
	names := []request.EventName{
		request.Ask, request.Delivered, request.Undelivered, request.Answered, request.Lapse, request.Schedule,
		request.HoldPlaced, request.HoldLifted, request.Extend, request.Withdraw, request.OwnAct, request.Due,
	}
	rapid.Check(t, func(t *rapid.T) {
		s := request.Rules{Zone: zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))}
		first := request.Day("2026-01-01").AddDays(rapid.IntRange(0, 800).Draw(t, "first"))
		r := received(t, s, first)
		start, now, open := request.DayOf(r.ReceivedAt, s.Zone), first, 0
		for range rapid.IntRange(0, 12).Draw(t, "events") {
			days := rapid.IntRange(0, 20).Draw(t, "days")
			now = now.AddDays(days)
			if !r.SuspendedAt.IsZero() {
				open += days
			}
			before := r
			r, _ = s.Apply(r, request.Event{
				Name: rapid.SampledFrom(names).Draw(t, "name"), At: noon(now), Extension: request.Complex,
				Reason:   rapid.SampledFrom([]request.Reason{request.Identity, request.Clarification}).Draw(t, "reason"),
				CoolsOff: true, After: noon(now.AddDays(7)),
			})
			months := 1
			if !r.ExtendedAt.IsZero() {
				months = 3
			}
			if want := start.AddMonths(months); r.StrictDueOn != want {
				t.Fatalf("strictly due on %s, want %s", r.StrictDueOn, want)
			}
			if r.DueOn < r.StrictDueOn || r.DueOn > r.StrictDueOn.AddDays(open) {
				t.Fatalf("due on %s, %d days suspended, strictly on %s", r.DueOn, open, r.StrictDueOn)
			}
			if r.DueAt.IsZero() == r.SuspendedAt.IsZero() {
				t.Fatalf("due at %v, suspended at %v", r.DueAt, r.SuspendedAt)
			}
			if before.State.IsClosed() && r.Version != before.Version {
				t.Fatalf("%s changed", before.State)
			}
		}
	})
}
