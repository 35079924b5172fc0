package conformance

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// These functions read the tables of habeas with plain SQL.

// erased returns the instant of the last erasure of the subject. If the subject was never erased, marked is false.
func erased(t testing.TB, db *sql.DB, id domain.SubjectID) (last time.Time, marked bool) {
	t.Helper()
	var mark instant
	err := db.QueryRowContext(t.Context(),
		"SELECT erased_at FROM habeas_subject_erasures WHERE subject_id = $1", id.String()).Scan(&mark)
	if errors.Is(err, sql.ErrNoRows) {
		return last, false
	}
	must(t, err)
	return *mark.time, true
}

// entries returns the outbox entries, oldest first.
func entries(t testing.TB, db *sql.DB) (all []domain.OutboxEntry) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(),
		"SELECT entry_id, subject_id, resolver, ref, operation, corrections, status,"+
			" attempts, enqueued_at, last_attempt_at, next_attempt_at, last_error, lease_token FROM habeas_outbox"+
			" ORDER BY enqueued_at, entry_id")
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var e domain.OutboxEntry
		var subject string
		var ref, corrections []byte
		var enqueued, last, next instant
		must(t, rows.Scan(&e.EntryID, &subject, &e.Resolver, &ref, &e.Operation, &corrections, &e.Status, &e.Attempts,
			&enqueued, &last, &next, &e.LastError, &e.LeaseToken))
		e.EnqueuedAt, e.LastAttemptAt, e.NextAttemptAt = *enqueued.time, last.time, next.time
		e.SubjectID, err = domain.ParseSubjectID(subject)
		must(t, err)
		if ref != nil {
			must(t, json.Unmarshal(ref, &e.Ref))
		}
		if corrections != nil {
			must(t, json.Unmarshal(corrections, &e.Corrections))
		}
		all = append(all, e)
	}
	must(t, rows.Err())
	return all
}

// instant is an sql.Scanner for instants and NULL. Drivers return an instant as time.Time or as text.
type instant struct{ time *time.Time }

func (i *instant) Scan(value any) (err error) {
	var read time.Time
	switch value := value.(type) {
	case nil:
		i.time = nil
		return nil
	case time.Time:
		read = value.UTC()
	case string:
		read, err = time.Parse(time.RFC3339Nano, value)
	default:
		err = fmt.Errorf("a %T is no instant", value)
	}
	i.time = &read
	return err
}
