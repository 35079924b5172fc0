package sqltext

import (
	"encoding/json"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Ahead holds the values that the statement of an erasure's steps reads for the rest of the erasure, which then needs
// no statements of its own. They are correct until the session appends a record: the locks of the subject prevent
// appends by other sessions.
type Ahead struct {
	ID          domain.SubjectID
	Corrections bool   // there are corrections that were still to be sent
	consents    []byte // JSON
	InForce     []domain.ConsentRecord
}

// Targets are what the columns of ReadAhead are read into.
func (a *Ahead) Targets() []any { return []any{&a.Corrections, &a.consents} }

// Decode returns what was read of a subject, or nil if an instant is none that JSON can hold.
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
