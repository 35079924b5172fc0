package domain

import (
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"time"
)

// Rehearsal is the preview of an erasure. It is the result of an erasure that was carried out and rolled back.
type Rehearsal struct {
	SubjectID   SubjectID           `json:"subject_id"`
	RehearsedAt time.Time           `json:"rehearsed_at"`
	Steps       []RehearsedStep     `json:"steps"`    // in the order of the plan; empty if the database refuses a step
	External    []RehearsedExternal `json:"external"` // in the order of the plan; empty if the subject cannot be locked
	// Refused is the reason why the database would refuse the erasure. It is nil if the erasure would succeed.
	Refused *Refusal `json:"refused,omitempty"`
	// Fingerprint identifies the plan and the numbers of affected rows. See Plan.Fingerprint. It is empty if the erasure
	// is refused.
	Fingerprint string `json:"fingerprint,omitempty"`
}

// RehearsedStep is a local step, as Plan.LocalAt returns it, with the number of affected rows.
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
	Class    string   `json:"class"`            // an ErrorClass, such as "conflict" for a violated constraint
	Target   string   `json:"target,omitempty"` // the table of the refused step; empty if the commit is refused
	Via      string   `json:"via,omitempty"`
	Strategy Strategy `json:"strategy,omitempty"`
	Message  string   `json:"message"` // names the constraint or its table if the database reports one of them
}

// FingerprintLength is the number of hexadecimal digits of a fingerprint.
const FingerprintLength = 32

// Fingerprint returns a hash of the plan and of the counts of one erasure, in hexadecimal digits. The counts are the
// numbers of affected rows and of outbox entries. Two erasures have the same fingerprint if they have the same plan and
// the same counts. The fingerprint does not depend on the subject, on values, or on the instant of the erasure.
// However, the counts may differ between two instants if a retention duty (the legal duty to keep a value) ends in
// between.
//
// A fingerprint detects accidental changes. It is not a signature, because the hash (FNV-1a with 128 bits) is not
// cryptographic.
func (p Plan) Fingerprint(steps []RehearsedStep, external []RehearsedExternal) string {
	hash := fnv.New128a()
	// The error is ignored, because texts and numbers can always be encoded, and writing to a hash always succeeds.
	_ = json.NewEncoder(hash).Encode([]any{p.Steps, steps, external})
	return hex.EncodeToString(hash.Sum(nil))
}

// CheckFingerprint returns ErrInvalid for the field fingerprint if the text does not have the form of a fingerprint.
func CheckFingerprint(text string) error {
	var fields []FieldError
	switch _, err := hex.DecodeString(text); {
	case text == "":
		fields = []FieldError{{"fingerprint", FieldRequired, "is required"}}
	case err != nil || len(text) != FingerprintLength:
		fields = []FieldError{{"fingerprint", FieldType, "must be the 32 hexadecimal digits that a rehearsal returned"}}
	}
	return Invalid("erase", fields)
}
