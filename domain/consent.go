package domain

import "time"

// ConsentDecision is what a subject decides about one purpose: consent given (Art. 6(1)(a) GDPR) or withdrawn
// (Art. 7(3)).
type ConsentDecision struct {
	Purpose       string // 1 to MaxTextLength characters
	PolicyVersion string // which text the subject saw; 1 to MaxTextLength characters
	Granted       bool
	Source        string // where the decision came from, such as "api"; 1 to MaxTextLength characters
}

// Check returns everything that is wrong with the decision, or nothing.
func (d ConsentDecision) Check() []FieldError {
	fields := CheckPurpose(d.Purpose)
	fields = append(fields, checkText("policy_version", d.PolicyVersion, 1)...)
	return append(fields, checkText("source", d.Source, 1)...)
}

// ConsentRecord is one line of the append-only consent ledger, the proof that Art. 7(1) asks for.
type ConsentRecord struct {
	SubjectID     SubjectID `json:"subject_id"`
	Purpose       string    `json:"purpose"`
	PolicyVersion string    `json:"policy_version"`
	Granted       bool      `json:"granted"`
	RecordedAt    time.Time `json:"recorded_at"`
	Source        string    `json:"source"`
}

// Supersedes reports whether r is in force rather than other, for one subject and purpose: the later record wins,
// and at the same instant a withdrawal does.
func (r ConsentRecord) Supersedes(other ConsentRecord) bool {
	if !r.RecordedAt.Equal(other.RecordedAt) {
		return r.RecordedAt.After(other.RecordedAt)
	}
	return !r.Granted && other.Granted
}

// ConsentStatus is the consent in force for one purpose. Without any record consent is not granted and the last
// three fields are nil.
type ConsentStatus struct {
	SubjectID     SubjectID  `json:"subject_id"`
	Purpose       string     `json:"purpose"`
	Granted       bool       `json:"granted"`
	PolicyVersion *string    `json:"policy_version"`
	RecordedAt    *time.Time `json:"recorded_at"`
	Source        *string    `json:"source"`
}

// ConsentStatusOf derives the status from the record in force, or from nil when there is none.
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
