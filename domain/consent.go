package domain

import (
	"time"
)

// ConsentDecision is a decision of a subject about one purpose. The subject gives consent (Art. 6(1)(a) GDPR) or
// withdraws it (Art. 7(3) GDPR).
type ConsentDecision struct {
	Purpose       string // 1 to MaxTextLength characters
	PolicyVersion string // the version of the text that the subject saw; 1 to MaxTextLength characters
	Granted       bool
	Source        string // the origin of the decision, such as "api"; 1 to MaxTextLength characters
}

// Check returns all errors of the decision, or nil. It accepts any valid purpose, declared or not.
func (d ConsentDecision) Check() []FieldError { return d.CheckAmong(Purposes{}) }

// CheckAmong works like Check. If purposes are declared, it also refuses a grant for every other purpose. It accepts
// a withdrawal for any valid purpose, because only the ledger knows whether a consent is in force.
func (d ConsentDecision) CheckAmong(purposes Purposes) []FieldError {
	if !d.Granted {
		purposes = Purposes{}
	}
	fields := purposes.Check(d.Purpose)
	fields = append(fields, CheckText("policy_version", d.PolicyVersion, 1)...)
	return append(fields, CheckText("source", d.Source, 1)...)
}

// ConsentRecord is one line of the append-only consent ledger, the proof that Art. 7(1) GDPR requires. For each subject
// and purpose, the last record that the store accepted is in force. RecordedAt does not decide this, because it comes
// from the clock of one process, and clocks differ between processes.
type ConsentRecord struct {
	SubjectID     SubjectID `json:"subject_id"`
	Purpose       string    `json:"purpose"`
	PolicyVersion string    `json:"policy_version"`
	Granted       bool      `json:"granted"`
	RecordedAt    time.Time `json:"recorded_at"`
	Source        string    `json:"source"`
}

// ConsentStatus is the consent in force for one purpose. If the ledger has no record for the purpose, consent is not
// granted and the last three fields are nil.
type ConsentStatus struct {
	SubjectID     SubjectID  `json:"subject_id"`
	Purpose       string     `json:"purpose"`
	Granted       bool       `json:"granted"`
	PolicyVersion *string    `json:"policy_version"`
	RecordedAt    *time.Time `json:"recorded_at"`
	Source        *string    `json:"source"`
}

// ConsentStatuses are the consents of a subject for the purposes that the application has declared, in the order of the
// declaration, and then for other purposes. See consent.Ledger.Statuses.
type ConsentStatuses struct {
	SubjectID SubjectID       `json:"subject_id"`
	Consents  []ConsentStatus `json:"consents"`
}

// ConsentStatusOf returns the status for the record in force. The parameter inForce is nil if the ledger has no record
// for the purpose.
func ConsentStatusOf(id SubjectID, purpose string, inForce *ConsentRecord) ConsentStatus {
	status := ConsentStatus{SubjectID: id, Purpose: purpose}
	if inForce != nil {
		status.Granted = inForce.Granted
		status.PolicyVersion = &inForce.PolicyVersion
		status.RecordedAt = &inForce.RecordedAt
		status.Source = &inForce.Source
	}
	return status
}
