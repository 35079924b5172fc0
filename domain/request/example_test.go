package request_test

import (
	"fmt"
	"time"

	"github.com/habeas-data/habeas/domain/request"
)

// A letter arrives, a question stops the clock for six days, and the answer is due six days later.
func Example() {
	rules := request.Rules{Zone: time.UTC}
	at := func(day int) time.Time { return time.Date(2026, time.March, day, 12, 0, 0, 0, time.UTC) }
	r, err := rules.Receive(request.Request{
		Kind: request.Access, Channel: request.Operator, ReceivedAt: at(5), EnteredAt: at(6),
	})
	fmt.Println(r.State, r.DueOn, err)
	r, err = rules.Apply(r, request.Event{Name: request.Ask, Reason: request.Clarification, At: at(10)})
	fmt.Println(r.State, r.StateReason, err)
	r, err = rules.Apply(r, request.Event{Name: request.Answered, At: at(16)})
	fmt.Println(r.State, r.DueOn, r.StrictDueOn, err)
	// Output:
	// received 2026-04-05 <nil>
	// awaiting_subject clarification <nil>
	// received 2026-04-11 2026-04-05 <nil>
}
