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
func (d ConsentDecision) Check() []FieldError { return d.CheckAmong(Purposes{}) }

// CheckAmong returns everything that is wrong with the decision, or nothing; see Purposes.Check for its purpose.
func (d ConsentDecision) CheckAmong(purposes Purposes) []FieldError {
	fields := purposes.Check(d.Purpose)
	fields = append(fields, CheckText("policy_version", d.PolicyVersion, 1)...)
	return append(fields, CheckText("source", d.Source, 1)...)
}

// ConsentRecord is one line of the append-only consent ledger, the proof that Art. 7(1) asks for. Of a subject's
// records for a purpose the one that the store took in last is in force. RecordedAt documents when the decision was
// made, by the clock of the process that recorded it; it decides nothing, because clocks differ.
type ConsentRecord struct {
	SubjectID     SubjectID `json:"subject_id"`
	Purpose       string    `json:"purpose"`
	PolicyVersion string    `json:"policy_version"`
	Granted       bool      `json:"granted"`
	RecordedAt    time.Time `json:"recorded_at"`
	Source        string    `json:"source"`
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

// ConsentStatuses are the consents in force for all purposes that the application has declared, in the order in which
// it declared them.
type ConsentStatuses struct {
	SubjectID SubjectID       `json:"subject_id"`
	Consents  []ConsentStatus `json:"consents"`
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
