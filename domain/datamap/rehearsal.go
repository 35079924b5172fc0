package datamap

import (
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Rehearsal is the preview of an erasure. It is the result of an erasure that was carried out and rolled back.
type Rehearsal struct {
	SubjectID   domain.SubjectID    `json:"subject_id"`
	RehearsedAt time.Time           `json:"rehearsed_at"`
	Steps       []RehearsedStep     `json:"steps"`    // in the order of the plan; empty if the database refuses a step
	External    []RehearsedExternal `json:"external"` // in the order of the plan; empty if the subject cannot be locked
	// Cascaded is domain.ErasureResult.Cascaded of the erasure.
	Cascaded map[string]int64 `json:"cascaded,omitempty"`
	// Refused is the reason why the database would refuse the erasure. It is nil if the erasure would succeed.
	Refused *Refusal `json:"refused,omitempty"`
	// Fingerprint identifies the subject, the effects of the erasure and the numbers of affected rows. See
	// Plan.Fingerprint. It is empty if the erasure is refused.
	Fingerprint string `json:"fingerprint,omitempty"`
}

// RehearsedStep is a local step, as plan.LocalAt returns it, with the number of affected rows.
type RehearsedStep struct {
	Step
	Rows int64 `json:"rows"`
}

// RehearsedExternal is the number of outbox entries that the erasure would add for an external system.
type RehearsedExternal struct {
	Resolver string `json:"resolver"`
	Entries  int    `json:"entries"` // one for each ref of the subject, and one for each batch of up to MaxKeys keys
	Keys     int    `json:"keys"`    // number of keys in the subject's rows; see Annotation.Ref
}

// Refusal is the reason why an erasure cannot succeed until the rows or the schema of the database change. It contains
// names of tables, columns and constraints, never a value. It is safe to log.
type Refusal struct {
	Class    string          `json:"class"`            // an ErrorClass, such as "conflict" for a violated constraint
	Target   string          `json:"target,omitempty"` // the table of the refused step; empty if the commit is refused
	Via      string          `json:"via,omitempty"`
	Strategy domain.Strategy `json:"strategy,omitempty"`
	Message  string          `json:"message"` // names the constraint or its table if the database reports one of them
}
