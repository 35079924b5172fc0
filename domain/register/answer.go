package register

import (
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
)

// Answer is what a subject is told about a request. It names no operator and no file number.
type Answer struct {
	Number      request.Number  `json:"number"`
	Kind        request.Kind    `json:"kind"`
	Purpose     string          `json:"purpose,omitempty"`
	State       request.State   `json:"state"`
	StateReason string          `json:"state_reason,omitempty"` // see request.Request
	Channel     request.Channel `json:"channel"`
	RefersTo    request.Number  `json:"refers_to,omitempty"` // the request that fulfilled this one
	ReceivedAt  time.Time       `json:"received_at"`
	DueOn       request.Day     `json:"due_on"` // the last day for the answer, without suspensions that still go on
	// SuspendedAt is set while the controller waits for the subject, until LapsesAt.
	SuspendedAt     time.Time         `json:"suspended_at,omitzero"`
	LapsesAt        time.Time         `json:"lapses_at,omitzero"`
	ExtendedAt      time.Time         `json:"extended_at,omitzero"`
	ExtensionReason request.Extension `json:"extension_reason,omitempty"`
	ExecuteAfter    time.Time         `json:"execute_after,omitzero"`
	RefusalGround   request.Ground    `json:"refusal_ground,omitempty"`
	DoneByHand      request.HandCode  `json:"done_by_hand,omitempty"`
	Partly          bool              `json:"partly,omitempty"` // something was retained, withheld or discarded
	ClosedAt        time.Time         `json:"closed_at,omitzero"`
	// Remedies are set if the request was refused, has lapsed or was fulfilled partly (Art. 12(4) GDPR).
	Remedies domain.Remedies `json:"remedies,omitzero"`
}

// Answer returns what the subject is told about the request.
func (r *Register) Answer(of request.Request) Answer {
	answer := Answer{
		Number: of.Number, Kind: of.Kind, Purpose: of.Purpose, State: of.State, StateReason: of.StateReason,
		Channel: of.Channel, RefersTo: of.RefersTo, ReceivedAt: of.ReceivedAt, DueOn: of.DueOn,
		SuspendedAt: of.SuspendedAt, LapsesAt: of.LapsesAt, ExtendedAt: of.ExtendedAt,
		ExtensionReason: of.ExtensionReason, ExecuteAfter: of.ExecuteAfter, RefusalGround: of.RefusalGround,
		DoneByHand: of.DoneByHand, Partly: of.Partly, ClosedAt: of.ClosedAt,
	}
	if of.Partly || of.State == request.Refused || of.State == request.Lapsed {
		answer.Remedies = r.controller.Remedies()
	}
	return answer
}
