package domain

import (
	"time"
)

// RestrictionDecision places (Art. 18(1) GDPR) or lifts a restriction of processing. It applies to one purpose, or to
// all processing.
type RestrictionDecision struct {
	Purpose    *string // nil means all processing; otherwise 1 to MaxTextLength characters
	Restricted bool
	Reason     *string // at most MaxTextLength characters; kept in the ledger until an erasure, never in the audit trail
	Source     string  // 1 to MaxTextLength characters
}

// Check returns all errors of the decision, or nil. It accepts any valid purpose, declared or not.
func (d RestrictionDecision) Check() []FieldError { return d.CheckAmong(Purposes{}) }

// CheckAmong works like Check. If purposes are declared, it also refuses to restrict every other purpose. It accepts a
// decision that lifts a restriction of any valid purpose, because only the ledger knows whether one is in force.
func (d RestrictionDecision) CheckAmong(purposes Purposes) []FieldError {
	if !d.Restricted {
		purposes = Purposes{}
	}
	var fields []FieldError
	if d.Purpose != nil {
		fields = purposes.Check(*d.Purpose)
	}
	if d.Reason != nil {
		fields = append(fields, CheckText("reason", *d.Reason, 0)...)
	}
	return append(fields, CheckText("source", d.Source, 1)...)
}

// RestrictionRecord is one line of the append-only restriction ledger. A record without a Purpose is global: it applies
// to all processing. For each purpose, the record in force is the last record that the store accepted for the subject
// and this purpose. For global records, it is the subject's last global record. RecordedAt documents the decision, and
// does not decide which record is in force. An erasure clears Reason, which is free text, and keeps all other fields.
type RestrictionRecord struct {
	SubjectID  SubjectID `json:"subject_id"`
	Purpose    *string   `json:"purpose"`
	Restricted bool      `json:"restricted"`
	Reason     *string   `json:"reason"`
	RecordedAt time.Time `json:"recorded_at"`
	Source     string    `json:"source"`
}

// RestrictionScope says whether a restriction applies to one purpose or to all processing.
type RestrictionScope string

// The scopes of a restriction.
const (
	ScopeAll     RestrictionScope = "all"
	ScopePurpose RestrictionScope = "purpose"
)

// RestrictionStatus says whether processing for one purpose is restricted. If Purpose is nil, it says whether all
// processing is restricted. The application must check Restricted before it processes data, because this module does
// not enforce a restriction.
type RestrictionStatus struct {
	SubjectID  SubjectID         `json:"subject_id"`
	Purpose    *string           `json:"purpose"`
	Restricted bool              `json:"restricted"`
	Scope      *RestrictionScope `json:"scope"`       // nil if processing is not restricted
	RecordedAt *time.Time        `json:"recorded_at"` // see RestrictionStatusOf
}

// RestrictionStatusOf returns the status that follows from the records in force. The parameter ofAll is the global
// record in force, and ofPurpose is the record in force for the purpose. Both may be nil. If purpose is nil,
// RestrictionStatusOf ignores ofPurpose.
//
// Processing is restricted if one of the two records restricts it. Therefore, a restriction for all purposes stays
// effective after the restriction of one purpose is lifted. RecordedAt is the instant of the record that restricts. If
// both restrict, it is the instant of the global record. If processing is not restricted, RecordedAt is the later
// instant of the two records, or nil if there is no record.
func RestrictionStatusOf(id SubjectID, purpose *string, ofAll, ofPurpose *RestrictionRecord) RestrictionStatus {
	status := RestrictionStatus{SubjectID: id, Purpose: purpose}
	if purpose == nil {
		ofPurpose = nil
	}
	restrict := func(scope RestrictionScope, record *RestrictionRecord) RestrictionStatus {
		status.Restricted, status.Scope, status.RecordedAt = true, &scope, &record.RecordedAt
		return status
	}
	switch {
	case ofAll != nil && ofAll.Restricted:
		return restrict(ScopeAll, ofAll)
	case ofPurpose != nil && ofPurpose.Restricted:
		return restrict(ScopePurpose, ofPurpose)
	}
	for _, record := range []*RestrictionRecord{ofAll, ofPurpose} {
		if record != nil && (status.RecordedAt == nil || record.RecordedAt.After(*status.RecordedAt)) {
			status.RecordedAt = &record.RecordedAt
		}
	}
	return status
}
