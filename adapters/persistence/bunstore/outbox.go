package bunstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

type outbox struct{ *session }

func (o outbox) Enqueue(ctx context.Context, added ...domain.OutboxEntry) error {
	for _, entry := range added {
		ref, err := asJSON("outbox", entry.Ref)
		if err != nil {
			return err
		}
		var corrections any
		if entry.Corrections != nil {
			if corrections, err = asJSON("outbox", entry.Corrections); err != nil {
				return err
			}
		}
		if err := o.hold(ctx, entries, entry.EntryID, entry.SubjectID.String(), entry.Resolver, ref,
			string(entry.Operation), corrections, string(entry.Status), entry.Attempts,
			o.store.dialect.instant(entry.EnqueuedAt)); err != nil {
			return err
		}
		o.enqueued = true
	}
	return nil
}

const entryColumns = "entry_id, subject_id, resolver, ref, operation, corrections, status, attempts, enqueued_at, " +
	"last_attempt_at, next_attempt_at, last_error, lease_token"

// The stages of an entry, which are the conditions of partial indexes: what is settled costs nobody else anything.
const (
	isOpen       = "stage = 0" // pending, failed or in flight
	isAbandoned  = "stage = 1"
	isSucceeded  = "stage = 2"
	isUnfinished = "stage < 2"
)

func (o outbox) Claim(
	ctx context.Context, limit int, at, leaseUntil time.Time, leaseToken string,
) ([]domain.OutboxEntry, error) {
	// The common table expression is evaluated once; as a subquery of IN it could be evaluated for each row, and claim
	// more than the limit.
	row, _ := o.store.dialect.rowID()
	claimed, err := o.entries(ctx, "claim", "WITH due AS (SELECT "+row+" AS place FROM "+o.store.tables.outbox+
		o.store.dialect.useIndex("habeas_outbox_open")+
		" WHERE "+isOpen+" AND (next_attempt_at IS NULL OR next_attempt_at <= $1)"+
		" ORDER BY enqueued_at, entry_id LIMIT $2"+o.store.dialect.skipLocked()+")"+
		" UPDATE "+o.store.tables.outbox+" SET status = 'in_flight', attempts = attempts + 1, last_attempt_at = $1,"+
		" next_attempt_at = $3, lease_token = $4 FROM due WHERE "+o.store.tables.outbox+"."+row+" = due.place RETURNING "+entryColumns,
		o.store.dialect.instant(at), limit, o.store.dialect.instant(leaseUntil), leaseToken)
	slices.SortFunc(claimed, byAge)
	return claimed, err
}

func (o outbox) Counts(ctx context.Context) (map[domain.OutboxStatus]int64, error) {
	if err := o.sendEntries(ctx); err != nil {
		return nil, err
	}
	counts := map[domain.OutboxStatus]int64{}
	for _, status := range domain.OutboxStatuses() {
		counts[status] = 0
	}
	err := o.read(ctx, "count outbox", func(rows *sql.Rows) error {
		var status domain.OutboxStatus
		var n int64
		err := rows.Scan(&status, &n)
		counts[status] = n
		return err
	}, "SELECT status, count(*) FROM "+o.store.tables.outbox+" WHERE "+isOpen+" GROUP BY status UNION ALL"+
		" SELECT CASE stage WHEN 1 THEN 'abandoned' ELSE 'succeeded' END, count(*) FROM "+o.store.tables.outbox+
		" WHERE stage > 0 GROUP BY stage")
	return counts, err
}

func (o outbox) Abandoned(ctx context.Context, after *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error) {
	beyond, args := "", []any{limit}
	if after != nil {
		beyond = " AND (enqueued_at, entry_id) > ($2, $3)"
		args = append(args, o.store.dialect.instant(after.EnqueuedAt), after.EntryID)
	}
	return o.entries(ctx, "list abandoned", "SELECT "+entryColumns+" FROM "+o.store.tables.outbox+
		" WHERE "+isAbandoned+beyond+" ORDER BY enqueued_at, entry_id LIMIT $1", args...)
}

func (o outbox) Requeue(ctx context.Context, entryIDs []string) ([]domain.OutboxEntry, error) {
	if len(entryIDs) == 0 {
		return nil, nil
	}
	parameters, args := make([]string, len(entryIDs)), make([]any, len(entryIDs))
	for i, id := range entryIDs {
		parameters[i], args[i] = "$"+strconv.Itoa(i+1), id
	}
	requeued, err := o.change(ctx, "requeue",
		isAbandoned+" AND operation = 'erase' AND entry_id IN ("+strings.Join(parameters, ", ")+")",
		"status = 'pending', attempts = 0, last_attempt_at = NULL, next_attempt_at = NULL, last_error = NULL", args...)
	o.enqueued = o.enqueued || len(requeued) > 0
	return requeued, err
}

func (o outbox) Withdraw(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error) {
	if err := o.forget(ctx); err != nil {
		return nil, err
	}
	// Only a condition that repeats that of the index by subject lets SQLite take it.
	return o.change(ctx, "withdraw", "subject_id = $1 AND operation = 'rectify' AND "+isUnfinished+" AND "+isOpen,
		"status = 'abandoned', last_error = 'erased', next_attempt_at = NULL, lease_token = NULL, ref = NULL,"+
			" corrections = NULL", id.String())
}

// change sets columns of the entries that a condition holds for and returns them, oldest first. It locks them in the
// order in which Settle does: in any other, the two could wait for each other.
func (o outbox) change(ctx context.Context, op, condition, set string, args ...any) ([]domain.OutboxEntry, error) {
	changed, err := o.entries(ctx, op, "WITH chosen AS (SELECT entry_id AS chosen_id FROM "+o.store.tables.outbox+
		" WHERE "+condition+" ORDER BY entry_id"+o.store.dialect.forUpdate()+") UPDATE "+o.store.tables.outbox+
		" SET "+set+" FROM chosen WHERE entry_id = chosen_id RETURNING "+entryColumns, args...)
	slices.SortFunc(changed, byAge)
	return changed, err
}

func (o outbox) Purge(ctx context.Context, enqueuedBefore time.Time, limit int) (int64, error) {
	return o.write(ctx, "purge outbox", "DELETE FROM "+o.store.tables.outbox+" WHERE entry_id IN (SELECT entry_id FROM "+
		o.store.tables.outbox+" WHERE "+isSucceeded+" AND enqueued_at < $1 ORDER BY enqueued_at, entry_id LIMIT $2)",
		o.store.dialect.instant(enqueuedBefore), limit)
}

// sendEntries makes what is held visible to a statement on the outbox.
func (o outbox) sendEntries(ctx context.Context) error {
	if len(o.held[entries]) == 0 {
		return nil
	}
	return o.flush(ctx)
}

// entries runs a statement on the outbox and reads the entries that it returns.
func (o outbox) entries(ctx context.Context, op, text string, args ...any) ([]domain.OutboxEntry, error) {
	if err := o.sendEntries(ctx); err != nil {
		return nil, err
	}
	var found []domain.OutboxEntry
	err := o.returning(ctx, op, func(rows *sql.Rows) error {
		entry, err := scanEntry(rows)
		found = append(found, entry)
		return err
	}, text, args...)
	return found, err
}

func scanEntry(rows *sql.Rows) (domain.OutboxEntry, error) {
	var e domain.OutboxEntry
	var id string
	var ref, corrections []byte
	var lastAttempt, nextAttempt optionalInstant
	err := rows.Scan(&e.EntryID, &id, &e.Resolver, &ref, &e.Operation, &corrections, &e.Status, &e.Attempts,
		(*instant)(&e.EnqueuedAt), &lastAttempt, &nextAttempt, &e.LastError, &e.LeaseToken)
	if err != nil {
		return e, err
	}
	e.LastAttemptAt, e.NextAttemptAt = lastAttempt.time, nextAttempt.time
	if e.SubjectID, err = domain.ParseSubjectID(id); err != nil {
		return e, err
	}
	e.Ref.Kind = e.Resolver // all that is left of the ref of an entry that succeeded
	if ref != nil {
		if err = json.Unmarshal(ref, &e.Ref); err != nil {
			return e, err
		}
	}
	if corrections != nil {
		err = json.Unmarshal(corrections, &e.Corrections)
	}
	return e, err
}

func byAge(a, b domain.OutboxEntry) int {
	if c := a.EnqueuedAt.Compare(b.EnqueuedAt); c != 0 {
		return c
	}
	return strings.Compare(a.EntryID, b.EntryID)
}

// optionalInstant reads an instant that may be NULL. It implements sql.Scanner.
type optionalInstant struct{ time *time.Time }

func (o *optionalInstant) Scan(value any) error {
	if value == nil {
		return nil
	}
	o.time = &time.Time{}
	return (*instant)(o.time).Scan(value)
}
