package request_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
)

// transitions has a line for each event, with the states after it from received, awaiting (a question of identity),
// scheduled, on_hold and executing. "-" is a conflict, "=" the same state, and "held" a hold that stops it.
const transitions = `
ask           | awaiting_subject | =         | -         | -         | -
delivered     | -                | =         | -         | -         | -
undelivered   | -                | =         | -         | -         | -
answered      | =                | received  | -         | -         | -
lapse         | -                | lapsed    | -         | -         | -
schedule      | scheduled        | -         | =         | -         | -
carry_out     | fulfilled        | -         | fulfilled | held      | =
own_act       | fulfilled        | fulfilled | =         | held      | -
execute_after | -                | -         | fulfilled | -         | =
hold_placed   | =                | =         | on_hold   | =         | =
hold_lifted   | =                | =         | =         | scheduled | =
extend        | =                | =         | =         | =         | -
refuse        | refused          | refused   | refused   | refused   | -
withdraw      | withdrawn        | withdrawn | withdrawn | withdrawn | -
done_by_hand  | fulfilled        | fulfilled | -         | -         | -
erased        | withdrawn        | withdrawn | withdrawn | withdrawn | =
earlier_life  | withdrawn        | withdrawn | withdrawn | withdrawn | =
settled       | -                | -         | -         | -         | fulfilled
`

var states = []request.State{
	request.Received, request.Awaiting, request.Scheduled, request.OnHold, request.Executing,
}

func in(state request.State) request.Request {
	r := request.Request{Kind: request.Erasure, State: state}
	if state == request.Awaiting {
		r.StateReason = string(request.Identity)
	}
	return r
}

func TestEachEventLeadsToItsStateOrIsRefused(t *testing.T) {
	for line := range strings.Lines(strings.TrimSpace(transitions)) {
		cells := strings.Split(line, "|")
		event := request.Event{Name: request.EventName(strings.TrimSpace(cells[0])), Reason: request.Identity}
		for i, state := range states {
			want := strings.TrimSpace(cells[i+1])
			got, err := request.Transition(in(state), event)
			switch {
			case want == "-" && (!errors.Is(err, domain.ErrConflict) || got != state ||
				!strings.Contains(err.Error(), string(state))),
				want == "held" && (!errors.Is(err, domain.ErrHeld) || got != state),
				want == "=" && (err != nil || got != state),
				strings.Trim(want, "-=") != "" && want != "held" && (err != nil || string(got) != want):
				t.Errorf("%s in %s: %s, %v; want %s", event.Name, state, got, err, want)
			}
		}
	}
}

func TestAStateMayDependOnMoreThanTheEvent(t *testing.T) {
	clarified := in(request.Awaiting)
	clarified.StateReason = string(request.Clarification)
	fresh := in(request.Received)
	access := fresh
	access.Kind = request.Access
	for _, c := range []struct {
		name string
		from request.Request
		e    request.Event
		want request.State
	}{
		{"an unanswered clarification", clarified, request.Event{Name: request.Lapse}, request.Received},
		{"systems to respond", in(request.Scheduled), request.Event{Name: request.Due, Pending: true}, request.Executing},
		{"held, scheduled", fresh, request.Event{Name: request.Schedule, Held: true}, request.OnHold},
		{"held, carried out", fresh, request.Event{Name: request.CarryOut, Held: true}, request.OnHold},
		{"held, due", in(request.Scheduled), request.Event{Name: request.Due, Held: true}, request.OnHold},
		{"her act, held", fresh, request.Event{Name: request.OwnAct, Held: true, CoolsOff: true}, request.OnHold},
		{"her act cools off", in(request.Received), request.Event{Name: request.OwnAct, CoolsOff: true}, request.Scheduled},
		{"a hold stops no export", access, request.Event{Name: request.CarryOut, Held: true}, request.Fulfilled},
		{"an export does not cool off", access, request.Event{Name: request.OwnAct, CoolsOff: true}, request.Fulfilled},
	} {
		if got, err := request.Transition(c.from, c.e); got != c.want || err != nil {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
	}
	if _, err := request.Transition(access, request.Event{Name: request.Schedule}); !errors.Is(err, domain.ErrInvalid) {
		t.Errorf("an export is scheduled: %v", err)
	}
	if _, err := request.Transition(access, request.Event{Name: "burn"}); !errors.Is(err, domain.ErrInvalid) {
		t.Errorf("an unknown event: %v", err)
	}
}

func TestAClosedRequestStaysAsItIs(t *testing.T) {
	for _, state := range []request.State{request.Fulfilled, request.Refused, request.Withdrawn, request.Lapsed} {
		if !state.IsClosed() || state.IsOpen() {
			t.Errorf("%s is not closed", state)
		}
		for line := range strings.Lines(strings.TrimSpace(transitions)) {
			event := request.EventName(strings.Fields(line)[0])
			got, err := request.Transition(in(state), request.Event{Name: event, Reason: request.Identity})
			if got != state || err != nil && !errors.Is(err, domain.ErrConflict) {
				t.Errorf("%s in %s: %s, %v", event, state, got, err)
			}
		}
	}
	if _, err := request.Transition(in(request.Refused), request.Event{Name: request.Withdraw}); err == nil {
		t.Error("a refused request is withdrawn")
	}
	if _, err := request.Transition(in(request.Withdrawn), request.Event{Name: request.Withdraw}); err != nil {
		t.Errorf("a second withdrawal: %v", err)
	}
}

func TestANumberIsReadAsPeopleWriteIt(t *testing.T) {
	random := [request.NumberBytes]byte{0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	number := request.NewNumber(random)
	if len(number) != 20 || strings.Trim(string(number), "0123456789ABCDEFGHJKMNPQRSTVWXYZ") != "" {
		t.Fatalf("the number is %s", number)
	}
	grouped := number.Grouped()
	if len(grouped) != 23 || strings.Count(grouped, "-") != 3 {
		t.Errorf("grouped: %s", grouped)
	}
	spaced := " " + strings.ReplaceAll(grouped, "-", " ")
	for _, text := range []string{string(number), grouped, strings.ToLower(grouped), spaced} {
		if got, err := request.ParseNumber(text); got != number || err != nil {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	alike, err := request.ParseNumber("oOiIl-LOOOO-00000-11111")
	if alike != "00111"+"10000"+"00000"+"11111" || err != nil {
		t.Errorf("letters like digits: %s, %v", alike, err)
	}
	for _, text := range []string{
		"", "4", strings.Repeat("4", 19), strings.Repeat("4", 21), strings.Repeat("U", 20), strings.Repeat("é", 10),
	} {
		_, err := request.ParseNumber(text)
		if !errors.Is(err, domain.ErrInvalid) || len(text) > 1 && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	random[12] = 13
	if request.NewNumber(random) == number {
		t.Error("the last byte has no effect")
	}
}

func TestAGroundFitsItsKinds(t *testing.T) {
	for kind, want := range map[request.Kind]int{
		request.Access: 7, request.Portability: 7, request.Rectification: 6, request.Erasure: 11, request.Restriction: 6,
		request.Objection: 8,
	} {
		if got := request.Grounds(kind); len(got) != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
}
