package sqltext

import (
	"encoding/json"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Ahead holds values that the statement of the steps of an erasure reads in advance. The rest of the erasure then needs
// no separate statements to read them. The values stay correct until the session appends a record, because the locks of
// the subject prevent appends by other sessions.
type Ahead struct {
	ID          domain.SubjectID
	Corrections bool   // the subject had corrections that were not yet sent
	consents    []byte // JSON
	InForce     []domain.ConsentRecord
}

// Targets returns the scan targets for the columns of ReadAhead.
func (a *Ahead) Targets() []any { return []any{&a.Corrections, &a.consents} }

// Decode decodes the scanned values of a subject. Returns nil if a value cannot be decoded, such as an instant outside
// the range of JSON.
func (a *Ahead) Decode(id domain.SubjectID) *Ahead {
	a.ID = id
	var rows [][]json.RawMessage
	if len(a.consents) == 0 {
		return a
	}
	if err := json.Unmarshal(a.consents, &rows); err != nil {
		return nil
	}
	for _, row := range rows {
		record := domain.ConsentRecord{SubjectID: id}
		for i, target := range []any{
			&record.Purpose, &record.PolicyVersion, &record.Granted, &record.Source, &record.RecordedAt,
		} {
			if err := json.Unmarshal(row[i], target); err != nil {
				return nil
			}
		}
		record.RecordedAt = record.RecordedAt.In(time.UTC)
		a.InForce = append(a.InForce, record)
	}
	return a
}
