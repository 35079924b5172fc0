package bunstore

import (
	"encoding/json"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// ahead holds the values that the statement of an erasure's steps reads for the rest of the erasure, which then needs
// no statements of its own. They are correct until the session appends a record: the locks of the subject prevent
// appends by other sessions.
type ahead struct {
	id          domain.SubjectID
	corrections bool   // there are corrections that were still to be sent
	consents    []byte // JSON
	inForce     []domain.ConsentRecord
}

// readingAhead are the expressions that read ahead for the subject that a parameter names. Instants have a fixed form,
// which no setting of the session changes.
func (s *Store) readingAhead(subject string) string {
	return "EXISTS (SELECT FROM " + s.tables.outbox + " WHERE " + toWithdraw(subject) + ")," +
		" (SELECT json_agg(json_build_array(purpose, policy_version, granted, source," +
		" to_char(recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')))" +
		" FROM (" + inForce(s.tables.consents, subject) + ") AS in_force)"
}

func (a *ahead) targets() []any { return []any{&a.corrections, &a.consents} }

// decode returns what was read of a subject, or nil if an instant is none that JSON can hold.
func (a *ahead) decode(id domain.SubjectID) *ahead {
	a.id = id
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
		a.inForce = append(a.inForce, record)
	}
	return a
}
