package domain

import "time"

// RestrictionDecision places (Art. 18(1) GDPR) or lifts a restriction of processing, for one purpose or for all.
type RestrictionDecision struct {
	Purpose    *string // nil means all processing; else 1 to MaxTextLength characters
	Restricted bool
	Reason     *string // at most MaxTextLength characters; stays in the ledger until an erasure, never in the audit trail
	Source     string  // 1 to MaxTextLength characters
}

// Check returns everything that is wrong with the decision, or nothing.
func (d RestrictionDecision) Check() []FieldError { return d.CheckAmong(Purposes{}) }

// CheckAmong returns everything that is wrong with the decision, or nothing; see Purposes.Check for its purpose.
func (d RestrictionDecision) CheckAmong(purposes Purposes) []FieldError {
	var fields []FieldError
	if d.Purpose != nil {
		fields = purposes.Check(*d.Purpose)
	}
	if d.Reason != nil {
		fields = append(fields, CheckText("reason", *d.Reason, 0)...)
	}
	return append(fields, CheckText("source", d.Source, 1)...)
}

// RestrictionRecord is one line of the append-only restriction ledger. A nil purpose means all processing. Of a
// subject's records for a purpose, and of its global ones, the one that the store took in last is in force; RecordedAt
// documents and decides nothing. An erasure clears the reason, which is free text; all else stays.
type RestrictionRecord struct {
	SubjectID  SubjectID `json:"subject_id"`
	Purpose    *string   `json:"purpose"`
	Restricted bool      `json:"restricted"`
	Reason     *string   `json:"reason"`
	RecordedAt time.Time `json:"recorded_at"`
	Source     string    `json:"source"`
}

// RestrictionScope says how far a restriction reaches.
type RestrictionScope string

// The scopes of a restriction.
const (
	ScopeAll     RestrictionScope = "all"
	ScopePurpose RestrictionScope = "purpose"
)

// RestrictionStatus says whether processing is restricted, for one purpose or, with a nil purpose, globally. The flag
// is the application's to consult before it processes; nothing in this module does.
type RestrictionStatus struct {
	SubjectID  SubjectID         `json:"subject_id"`
	Purpose    *string           `json:"purpose"`
	Restricted bool              `json:"restricted"`
	Scope      *RestrictionScope `json:"scope"`       // nil when nothing is restricted
	RecordedAt *time.Time        `json:"recorded_at"` // of the record that restricts; else see RestrictionStatusOf
}

// RestrictionStatusOf derives the status from the global record in force and, with a purpose, from the one in force
// for that purpose; either may be nil. A restriction of either kind restricts, so lifting one purpose cannot undo a
// global restriction. Where neither restricts, both records decide together, and RecordedAt is the later instant of
// theirs; it is nil without any record.
func RestrictionStatusOf(id SubjectID, purpose *string, global, scoped *RestrictionRecord) RestrictionStatus {
	status := RestrictionStatus{SubjectID: id, Purpose: purpose}
	if purpose == nil {
		scoped = nil
	}
	restrict := func(scope RestrictionScope, record *RestrictionRecord) RestrictionStatus {
		status.Restricted, status.Scope, status.RecordedAt = true, &scope, &record.RecordedAt
		return status
	}
	switch {
	case global != nil && global.Restricted:
		return restrict(ScopeAll, global)
	case scoped != nil && scoped.Restricted:
		return restrict(ScopePurpose, scoped)
	}
	for _, record := range []*RestrictionRecord{global, scoped} {
		if record != nil && (status.RecordedAt == nil || record.RecordedAt.After(*status.RecordedAt)) {
			status.RecordedAt = &record.RecordedAt
		}
	}
	return status
}
