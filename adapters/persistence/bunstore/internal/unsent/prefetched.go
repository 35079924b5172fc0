package unsent

import (
	"encoding/json"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Prefetched holds values that an erasure needs after its steps. The last statement of the erasure's steps also reads
// these values (see package subject), so that no separate statements are necessary. The values stay correct until
// the session itself adds a row, because the lock on the subject prevents other sessions from adding records.
type Prefetched struct {
	SubjectID         domain.SubjectID
	UnsentCorrections bool   // the outbox has corrections of the subject that are not sent yet
	consentsJSON      []byte // ConsentsInForce as a JSON array, as the database returns it
	ConsentsInForce   []domain.ConsentRecord
}

// ScanTargets returns the scan targets for the columns that the last statement reads in addition.
func (a *Prefetched) ScanTargets() []any { return []any{&a.UnsentCorrections, &a.consentsJSON} }

// Decode sets SubjectID to the parameter id, sets ConsentsInForce from the scanned JSON, and returns the receiver. It
// returns nil if a value cannot be decoded, such as an instant outside the range of JSON.
func (a *Prefetched) Decode(id domain.SubjectID) *Prefetched {
	a.SubjectID = id
	var rows [][]json.RawMessage
	if len(a.consentsJSON) == 0 {
		return a
	}
	if err := json.Unmarshal(a.consentsJSON, &rows); err != nil {
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
		a.ConsentsInForce = append(a.ConsentsInForce, record)
	}
	return a
}

// Standing is what an export has read of the register in its own statement, see package register. It is the situation
// of the subject at that time, until the session locks the subject or changes the register.
type Standing struct {
	SubjectID domain.SubjectID
	JSON      []byte
}
