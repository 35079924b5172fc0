package bunstore

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"strconv"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// scanEntry scans a row of the outbox into an entry. If a column does not hold a valid value, for example because
// another program wrote it, scanEntry sets the other fields and returns readable = false. It returns an error only if
// the connection fails.
func scanEntry(rows *sql.Rows) (e domain.OutboxEntry, readable bool, err error) {
	var entryID, subject, resolver, operation, status, attempts, lastError, leaseToken, operationID sql.NullString
	var ref, corrections sql.RawBytes
	var enqueued, lastAttempt, nextAttempt syntax.OptionalInstant
	if err := rows.Scan(&entryID, &subject, &resolver, &ref, &operation, &corrections, &status, &attempts,
		&enqueued, &lastAttempt, &nextAttempt, &lastError, &leaseToken, &operationID); err != nil {
		return e, false, err
	}
	readable = entryID.Valid && enqueued.Time != nil && !enqueued.Invalid && !lastAttempt.Invalid && !nextAttempt.Invalid
	try := func(err error) bool {
		readable = readable && err == nil
		return err == nil
	}
	e.EntryID, e.Resolver, e.Operation = entryID.String, resolver.String, domain.Operation(operation.String)
	e.OperationID = operationID.String
	e.Status, e.LastError, e.LeaseToken = domain.OutboxStatus(status.String), pointerTo(lastError), pointerTo(leaseToken)
	if enqueued.Time != nil {
		e.EnqueuedAt = *enqueued.Time
	}
	e.LastAttemptAt, e.NextAttemptAt = lastAttempt.Time, nextAttempt.Time
	n, err := strconv.Atoi(attempts.String)
	try(err)
	e.Attempts = n
	id, err := domain.ParseSubjectID(subject.String)
	if try(err) {
		e.SubjectID = id
	}
	var decodedRef domain.SubjectRef
	if ref != nil && try(decodeObject(ref, &decodedRef)) {
		e.Ref = decodedRef
	} else { // a succeeded entry has no stored ref: only the kind is known
		e.Ref.Kind = e.Resolver
	}
	var decoded domain.Corrections
	if corrections != nil && try(decodeObject(corrections, &decoded)) {
		e.Corrections = decoded
	}
	return e, readable, nil
}

// errNoObject reports that a column holds JSON that is not an object.
var errNoObject = &domain.Error{Op: "outbox", Message: "a column does not hold a JSON object"}

func decodeObject(text []byte, into any) error {
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
		return errNoObject
	}
	return json.Unmarshal(text, into)
}

func pointerTo(text sql.NullString) *string {
	if !text.Valid {
		return nil
	}
	return &text.String
}
