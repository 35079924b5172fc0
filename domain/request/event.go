package request

import (
	"time"
)

// EventName names an event of a request.
type EventName string

// The events.
const (
	Ask       EventName = "ask"       // a question to the subject, see Event.Reason
	Delivered EventName = "delivered" // the question has reached the subject; LapsesAt counts from now
	// Undelivered: the question cannot reach the subject, so it suspends nothing.
	Undelivered EventName = "undelivered"
	Answered    EventName = "answered"
	Lapse       EventName = "lapse"         // LapsesAt has passed
	Schedule    EventName = "schedule"      // an erasure will be carried out at Event.After
	CarryOut    EventName = "carry_out"     // an operator carries it out
	OwnAct      EventName = "own_act"       // the signed-in subject does it herself
	Due         EventName = "execute_after" // ExecuteAfter has passed
	HoldPlaced  EventName = "hold_placed"
	HoldLifted  EventName = "hold_lifted" // the last hold of the subject
	Extend      EventName = "extend"
	Refuse      EventName = "refuse"
	Withdraw    EventName = "withdraw"
	DoneByHand  EventName = "done_by_hand"
	Erased      EventName = "erased"       // the data was erased under another request
	EarlierLife EventName = "earlier_life" // somebody else has the id of the subject now
	Settled     EventName = "settled"      // the last entry of an external system succeeded or was discarded
)

// Event is something that happens to a request.
type Event struct {
	Name EventName
	At   time.Time // required

	Reason    Reason    // of Ask
	Extension Extension // of Extend
	Ground    Ground    // of Refuse
	Hand      HandCode  // of DoneByHand
	Operator  string    // who decides; empty for the subject and for a duty

	After    time.Time // when a scheduled erasure runs; not after the day that it is due
	CoolsOff bool      // OwnAct only schedules the erasure
	Held     bool      // the subject has a Hold
	Pending  bool      // external systems still have to respond
	Partly   bool      // something was retained, withheld or discarded
}

// The cells of the table that are no states.
const (
	no   State = ""     // ErrConflict
	same State = "same" // the state stays
	held State = "held" // ErrHeld
)

// table has the state after each event, for the states Received, Awaiting, Scheduled, OnHold and Executing. See
// Transition for those states that depend on more than the event.
var table = map[EventName][5]State{
	Ask:         {Awaiting, no, no, no, no},
	Delivered:   {no, same, no, no, no},
	Undelivered: {no, same, no, no, no},
	Answered:    {no, Received, no, no, no},
	Lapse:       {no, Lapsed, no, no, no},
	Schedule:    {Scheduled, no, no, no, no},
	CarryOut:    {Executing, no, Executing, held, no},
	OwnAct:      {Executing, Executing, same, held, no},
	Due:         {no, no, Executing, no, no},
	HoldPlaced:  {same, same, OnHold, same, same},
	HoldLifted:  {same, same, same, Scheduled, same},
	Extend:      {same, same, same, same, no},
	Refuse:      {Refused, Refused, Refused, Refused, no},
	Withdraw:    {Withdrawn, Withdrawn, Withdrawn, Withdrawn, no},
	DoneByHand:  {Fulfilled, Fulfilled, no, no, no},
	Erased:      {Withdrawn, Withdrawn, Withdrawn, Withdrawn, same},
	EarlierLife: {Withdrawn, Withdrawn, Withdrawn, Withdrawn, same},
	Settled:     {no, no, no, no, Fulfilled},
}

var columns = []State{Received, Awaiting, Scheduled, OnHold, Executing}
