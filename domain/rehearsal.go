package domain

import (
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"time"
)

// Rehearsal says what the erasure of a subject would do. It comes from an erasure that was carried out and rolled back.
type Rehearsal struct {
	SubjectID   SubjectID           `json:"subject_id"`
	RehearsedAt time.Time           `json:"rehearsed_at"`
	Steps       []RehearsedStep     `json:"steps"`    // in the order of the plan; empty if one of them is refused
	External    []RehearsedExternal `json:"external"` // in the order of the plan; empty if the subject cannot be locked
	// Refused is the reason why the store would refuse the erasure; nil if it would carry it out.
	Refused *Refusal `json:"refused,omitempty"`
	// Fingerprint identifies the plan and the counts; see Plan.Fingerprint. It is empty if the erasure is refused.
	Fingerprint string `json:"fingerprint,omitempty"`
}

// RehearsedStep is a local step, as Plan.LocalAt returns it, and the number of the rows that it is about.
type RehearsedStep struct {
	Step
	Rows int64 `json:"rows"`
}

// RehearsedExternal says what the outbox would get for an external system.
type RehearsedExternal struct {
	Resolver string `json:"resolver"`
	Entries  int    `json:"entries"` // one for each ref of the subject, and one for at most MaxKeys keys
	Keys     int    `json:"keys"`    // of the system that the subject's rows hold; see Annotation.Ref
}

// Refusal is an error that ends an erasure each time it is tried, because of the rows or the schema of the database. It
// names tables, columns and constraints, never a value, and is safe to log.
type Refusal struct {
	Class    string   `json:"class"`            // see ErrorClass: "conflict" for a constraint
	Target   string   `json:"target,omitempty"` // the table of the step that is refused; empty for the commit
	Via      string   `json:"via,omitempty"`
	Strategy Strategy `json:"strategy,omitempty"`
	Message  string   `json:"message"` // names the constraint or its table, if the database does
}

// FingerprintLength is the number of hexadecimal digits in a fingerprint.
const FingerprintLength = 32

// Fingerprint returns a hash of the plan and of the counts of one erasure, in hexadecimal digits. Two erasures have the
// same one if they follow the same plan and come to the same counts. It depends neither on the subject, nor on any
// value, nor on an instant, but for rows whose duties end in between.
//
// It detects what has changed by accident. It is no signature: the hash, FNV-1a of 128 bits, is not cryptographic.
func (p Plan) Fingerprint(steps []RehearsedStep, external []RehearsedExternal) string {
	hash := fnv.New128a()
	// Neither texts nor numbers can fail to be encoded, nor a hash to be written.
	_ = json.NewEncoder(hash).Encode([]any{p.Steps, steps, external})
	return hex.EncodeToString(hash.Sum(nil))
}

// CheckFingerprint returns ErrInvalid, with the field fingerprint, if a text cannot be a fingerprint.
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
