package bunstore

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
)

// scanEntry scans a row of the outbox into an entry. If a column does not hold a valid value, for example because
// another program wrote it, scanEntry sets the other fields and returns readable = false. It returns an error only if
// the connection fails.
func scanEntry(rows *sql.Rows) (e domain.OutboxEntry, readable bool, err error) {
	var entryID, subject, resolver, operation, status, attempts, lastError, leaseToken, operationID sql.NullString
	var ref, corrections sql.RawBytes
	var enqueued, lastAttempt, nextAttempt optionalInstant
	if err := rows.Scan(&entryID, &subject, &resolver, &ref, &operation, &corrections, &status, &attempts,
		&enqueued, &lastAttempt, &nextAttempt, &lastError, &leaseToken, &operationID); err != nil {
		return e, false, err
	}
	readable = entryID.Valid && enqueued.time != nil && !enqueued.invalid && !lastAttempt.invalid && !nextAttempt.invalid
	try := func(err error) bool {
		readable = readable && err == nil
		return err == nil
	}
	e.EntryID, e.Resolver, e.Operation = entryID.String, resolver.String, domain.Operation(operation.String)
	e.OperationID = operationID.String
	e.Status, e.LastError, e.LeaseToken = domain.OutboxStatus(status.String), pointerTo(lastError), pointerTo(leaseToken)
	if enqueued.time != nil {
		e.EnqueuedAt = *enqueued.time
	}
	e.LastAttemptAt, e.NextAttemptAt = lastAttempt.time, nextAttempt.time
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

// optionalInstant scans a column that holds an instant, NULL or an invalid value. It implements sql.Scanner.
type optionalInstant struct {
	time    *time.Time // nil for NULL and for an invalid value
	invalid bool
}

// orZero returns the instant, or the zero time.
func (o *optionalInstant) orZero() time.Time {
	if o.time == nil {
		return time.Time{}
	}
	return *o.time
}

func (o *optionalInstant) Scan(value any) error {
	if value == nil {
		return nil
	}
	var read sqltext.Instant
	if err := read.Scan(value); err != nil {
		o.invalid = true
		return nil //nolint:nilerr // o.invalid reports the error
	}
	at := time.Time(read)
	o.time = &at
	return nil
}
