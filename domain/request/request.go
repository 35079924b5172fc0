package request

import (
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Kind is the right that a subject asks for.
type Kind string

// The kinds of requests, with their articles of the GDPR.
const (
	Access        Kind = "access"        // Art. 15
	Portability   Kind = "portability"   // Art. 20
	Rectification Kind = "rectification" // Art. 16
	Erasure       Kind = "erasure"       // Art. 17
	Restriction   Kind = "restriction"   // Art. 18
	Objection     Kind = "objection"     // Art. 21
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{Access, Portability, Rectification, Erasure, Restriction, Objection}
}

// State is the state of a request.
type State string

// The states of a request. The last four are closed: no event leaves them.
const (
	Received  State = "received"         // nothing is decided
	Awaiting  State = "awaiting_subject" // the subject has to answer a question; see Reason
	Scheduled State = "scheduled"        // it will be carried out at Request.ExecuteAfter
	OnHold    State = "on_hold"          // a Hold stops the erasure
	Executing State = "executing"        // it is committed here, and external systems still have to respond
	Fulfilled State = "fulfilled"
	Refused   State = "refused"
	Withdrawn State = "withdrawn"
	Lapsed    State = "lapsed" // the subject has not proven the identity
)

// IsClosed reports whether no event leaves the state.
func (s State) IsClosed() bool {
	return slices.Contains([]State{Fulfilled, Refused, Withdrawn, Lapsed}, s)
}

// IsOpen reports whether the request still waits for a decision, so that a second one of the same subject and kind is
// the same request. A request that is Executing is decided.
func (s State) IsOpen() bool {
	return slices.Contains([]State{Received, Awaiting, Scheduled, OnHold}, s)
}

// Reason is the reason of a question to the subject.
type Reason string

// The reasons of a question. Each may be asked once.
const (
	Identity      Reason = "identity"      // there are reasonable doubts about the identity (Art. 12(6) GDPR)
	Clarification Reason = "clarification" // the controller asks which of much data is meant (recital 63)
)

// Channel says how a request came in.
type Channel string

// The channels.
const (
	SelfService Channel = "self_service" // the signed-in subject
	Operator    Channel = "operator"     // a letter, a mail or a call
	Agent       Channel = "agent"        // somebody with a mandate of the subject
)

// Proof says how the identity of the subject was verified.
type Proof string

// The proofs.
const (
	Session          Proof = "session"
	Reauthentication Proof = "reauthentication"
	Link             Proof = "link"
	Mandate          Proof = "mandate"
	DocumentSeen     Proof = "document_seen" // no copy is kept
	OtherProof       Proof = "other"
)

// Proofs returns all proofs.
func Proofs() []Proof {
	return []Proof{Session, Reauthentication, Link, Mandate, DocumentSeen, OtherProof}
}

// Extension is the reason of an extension (Art. 12(3) GDPR).
type Extension string

// The reasons of an extension.
const (
	Complex      Extension = "complex"
	ManyRequests Extension = "many_requests"
)

// Request is one request of a data subject. The dates DueOn, DueAt, StrictDueOn, SuspendedAt, SuspendedDays, LapsesAt
// and ExecuteAfter are the results of the methods of Rules; nothing else writes them. Instants that are not set are
// zero.
type Request struct {
	Number    Number           `json:"number"`
	SubjectID domain.SubjectID `json:"subject_id,omitempty"` // empty until the person is known
	Kind      Kind             `json:"kind"`
	Purpose   string           `json:"purpose,omitempty"` // a declared one; for an objection and a restriction
	State     State            `json:"state"`
	// StateReason is the question of a request that is Awaiting, or why a request was withdrawn, such as "erased".
	StateReason string    `json:"state_reason,omitempty"`
	Channel     Channel   `json:"channel"`
	Language    string    `json:"language,omitempty"`
	Reference   string    `json:"reference,omitempty"` // the file number of an operator, at most 64 characters
	RefersTo    Number    `json:"refers_to,omitempty"` // the request that fulfilled this one
	ReceivedAt  time.Time `json:"received_at"`         // the clock starts here
	EnteredAt   time.Time `json:"entered_at"`          // when the register learned of it
	DueOn       Day       `json:"due_on"`              // the last day for the answer
	DueAt       time.Time `json:"due_at,omitzero"`     // the first instant after DueOn; not set while suspended
	// StrictDueOn is DueOn without the suspensions, for which Art. 12(3) has no words.
	StrictDueOn     Day       `json:"strict_due_on"`
	SuspendedAt     time.Time `json:"suspended_at,omitzero"`
	SuspendedDays   int       `json:"suspended_days,omitempty"`
	LapsesAt        time.Time `json:"lapses_at,omitzero"` // the first instant at which the question has no answer any more
	Asked           []Reason  `json:"asked,omitempty"`    // the questions so far
	ExtendedAt      time.Time `json:"extended_at,omitzero"`
	ExtensionReason Extension `json:"extension_reason,omitempty"`
	ExecuteAfter    time.Time `json:"execute_after,omitzero"`
	VerifiedBy      Proof     `json:"verified_by,omitempty"`
	DecidedBy       string    `json:"decided_by,omitempty"` // the operator, or empty for the subject and for a duty
	RefusalGround   Ground    `json:"refusal_ground,omitempty"`
	DoneByHand      HandCode  `json:"done_by_hand,omitempty"`
	Partly          bool      `json:"partly,omitempty"` // something was retained, withheld or discarded
	Attempts        int       `json:"attempts,omitempty"`
	NextAttemptAt   time.Time `json:"next_attempt_at,omitzero"`
	LastError       string    `json:"last_error,omitempty"` // a domain.Outcome
	ClosedAt        time.Time `json:"closed_at,omitzero"`
	Version         int64     `json:"version"` // increases with each change
}

// Hold is a legal hold: the data of a subject must not be erased, because it is evidence. It stops erasures and sweeps,
// and neither exports, corrections, restrictions nor withdrawals.
type Hold struct {
	ID        string           `json:"hold_id"`
	SubjectID domain.SubjectID `json:"subject_id"`
	Ground    Ground           `json:"ground"`
	Reference string           `json:"reference,omitempty"`
	PlacedBy  string           `json:"placed_by"`
	PlacedAt  time.Time        `json:"placed_at"`
	ReviewAt  time.Time        `json:"review_at"` // required: a hold without end is retention without reason
	LiftedBy  string           `json:"lifted_by,omitempty"`
	LiftedAt  time.Time        `json:"lifted_at,omitzero"`
}
