package request

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Transition returns the state after an event. It returns domain.ErrHeld if a Hold stops the event, and
// domain.ErrConflict, with the state that stands, if the event is not possible in the state. An event that leads to the
// state that the request has already changes nothing.
func Transition(r Request, e Event) (State, error) {
	row, known := table[e.Name]
	if !known {
		return r.State, invalid("event", "is unknown")
	}
	if r.isAfter(e) {
		return r.State, nil
	}
	to := no
	if column := slices.Index(columns, r.State); column >= 0 {
		to = row[column]
	}
	switch {
	case to == no:
		return r.State, conflict(r.State)
	case to == same:
		return r.State, nil
	case to == held:
		return r.State, &domain.Error{Code: domain.ErrHeld, Op: opRequest, Message: "a legal hold stops the erasure"}
	case to == Lapsed && r.question() == Clarification:
		return Received, nil // it is answered in full
	case e.Name == Schedule && r.Kind != Erasure:
		return r.State, invalid("kind", "cannot be scheduled: only an erasure can")
	case e.Held && r.Kind == Erasure && (to == Executing || e.Name == Schedule):
		return OnHold, nil
	case e.Name == OwnAct && e.CoolsOff && r.Kind == Erasure:
		return Scheduled, nil
	case to == Executing && !e.Pending:
		return Fulfilled, nil
	default:
		return to, nil
	}
}

// isAfter reports whether the request already has the state to which the event leads. A subject who acts while her
// request is Executing is another life, whose request is another one.
func (r Request) isAfter(e Event) bool {
	row := table[e.Name]
	column := slices.Index(columns, r.State)
	switch {
	case column >= 0 && row[column] != no, e.Name == OwnAct && r.State == Executing:
		return false
	case e.Name == Ask:
		return r.State == Awaiting && r.question() == e.Reason
	default:
		return slices.Contains(row[:], r.State) || r.State == Fulfilled && slices.Contains(row[:], Executing)
	}
}

// question returns the reason of the question that the subject has to answer.
func (r Request) question() Reason { return Reason(r.StateReason) }

// check returns domain.ErrInvalid if the event lacks what it needs, or has what does not fit the request.
func (r Request) check(e Event) error {
	switch {
	case e.At.IsZero():
		return invalid("at", "is missing")
	case e.Name == Ask && e.Reason != Identity && e.Reason != Clarification:
		return invalid("reason", "must be identity or clarification")
	case e.Name == Extend && e.Extension != Complex && e.Extension != ManyRequests:
		return invalid("reason", "must be complex or many_requests")
	case e.Name == Refuse && !slices.Contains(Grounds(r.Kind), e.Ground):
		return invalid("ground", "must be one of "+joined(Grounds(r.Kind)))
	case e.Name == DoneByHand && !slices.Contains(HandCodes(), e.Hand):
		return invalid("code", "must be one of "+joined(HandCodes()))
	case e.Name == DoneByHand && e.Operator == "":
		return invalid("operator", "is missing")
	default:
		return nil
	}
}

func joined[T ~string](all []T) string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = string(one)
	}
	return strings.Join(texts, ", ")
}

const opRequest = "request"

func invalid(field, message string) error {
	return &domain.Error{
		Code: domain.ErrInvalid, Op: opRequest,
		Fields: []domain.FieldError{{Field: field, Code: domain.FieldUnknown, Message: message}},
	}
}

func conflict(state State) error {
	return &domain.Error{Code: domain.ErrConflict, Op: opRequest, Message: "the request is " + string(state)}
}
