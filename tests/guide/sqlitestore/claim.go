package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func (o outbox) Claim(
	ctx context.Context, limit int, at, leaseUntil time.Time, leaseToken string, known ...domain.OutboxTarget,
) ([]domain.OutboxEntry, error) {
	targets := [][2]string{}
	for _, target := range known {
		targets = append(targets, [2]string{target.Resolver, string(target.Operation)})
	}
	wanted, err := json.Marshal(targets)
	if err != nil {
		return nil, o.fail(&domain.Error{Op: "claim", Message: "the targets have no form in JSON"})
	}
	entries, err := collect(ctx, o.session, true, scanEntry, `UPDATE habeas_outbox SET status = 'in_flight',
		attempts = attempts + 1, last_attempt_at = ?2, next_attempt_at = ?3, lease_token = ?4
		WHERE entry_id IN (SELECT entry_id FROM habeas_outbox WHERE `+open+` AND (next_attempt_at IS NULL
		OR next_attempt_at <= ?2 OR next_attempt_at > ?5 OR last_attempt_at > ?3)
		AND (?6 = '[]' OR (resolver, operation) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?6)))`+oldest+`)
		RETURNING `+entryColumns, max(0, limit), stamp(at), stamp(leaseUntil), leaseToken,
		stamp(domain.LatestNextAttempt(at, leaseUntil, known)), string(wanted))
	if err != nil {
		return nil, err
	}
	claimed := make([]domain.OutboxEntry, len(entries))
	for i, entry := range entries {
		claimed[i] = entry.OutboxEntry
		if entry.readable {
			continue
		}
		unreadable := domain.Settlement{
			Entry: entry.OutboxEntry, Status: domain.OutboxAbandoned, LastError: domain.LastErrorUnreadable,
		}
		if _, err := o.settle(ctx, unreadable); err != nil {
			return nil, err
		}
		claimed[i].Status, claimed[i].LastError = unreadable.Status, &unreadable.LastError
		claimed[i].NextAttemptAt, claimed[i].LeaseToken, claimed[i].Corrections = nil, nil, nil
	}
	slices.SortFunc(claimed, byAge)
	return claimed, nil
}

func (o outbox) Unclaimed(ctx context.Context, dueBefore time.Time, limit int) ([]domain.OutboxEntry, error) {
	return o.change(ctx, `SET last_error = ?3 WHERE entry_id IN (SELECT entry_id FROM habeas_outbox WHERE `+open+`
		AND enqueued_at < ?2 AND (next_attempt_at IS NULL OR next_attempt_at < ?2) AND last_error IS NOT ?3`+oldest+`)`,
		max(0, limit), stamp(dueBefore), domain.LastErrorUnclaimed)
}

// scanned is an entry with what could be read of it.
type scanned struct {
	domain.OutboxEntry
	readable bool
}

// scanEntry passes over what cannot be read.
func scanEntry(row *sql.Rows) (e scanned, err error) {
	e.readable = true
	try := func(column sql.Scanner) sql.Scanner { return &attempt{column, &e.readable} }
	err = row.Scan(&e.EntryID, try(subject(&e.SubjectID)), &e.Resolver, try(document(&e.Ref)), &e.Operation,
		try(document(&e.Corrections)), &e.Status, &e.Attempts, try(instant(&e.EnqueuedAt)),
		try(optionalInstant(&e.LastAttemptAt)), try(optionalInstant(&e.NextAttemptAt)), &e.LastError, &e.LeaseToken)
	return e, err
}

func scanWhatCanBeRead(row *sql.Rows) (domain.OutboxEntry, error) {
	e, err := scanEntry(row)
	return e.OutboxEntry, err
}

// attempt is a column whose value may be wrong.
type attempt struct {
	column   sql.Scanner
	readable *bool
}

func (a *attempt) Scan(value any) error {
	*a.readable = a.column.Scan(value) == nil && *a.readable
	return nil
}
