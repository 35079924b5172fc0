package bunstore

import (
	"context"
	"database/sql"
	"slices"
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

// mostAtOnce is how many entries one statement is about at most: databases limit the parameters of a statement.
const mostAtOnce = 1000

var entryColumns = "entry_id, subject_id, resolver, ref, operation, corrections, status, attempts, " +
	readableInstant("enqueued_at") + ", " + readableInstant("last_attempt_at") + ", " +
	readableInstant("next_attempt_at") + ", last_error, lease_token"

// readableInstant is NULL for an instant that not every driver can read, infinity above all: it would fail the result.
func readableInstant(column string) string {
	return "CASE WHEN " + column + " >= '0001-01-01 00:00:00+00' AND " + column + " < '9999-12-31' THEN " + column + " END"
}

// The conditions of partial indexes: a settled entry adds no cost to queries for other entries. Each index is by a
// column that the other indexes do not have, so that only the index made for a query can serve it. While a queue is
// empty, a planner regards all indexes as equally good, and it would keep that plan when the queue has grown.
const (
	isOpen       = "stage = 0" // pending, failed or in flight
	isAbandoned  = "stage = 1"
	isSucceeded  = "stage = 2"
	isUnfinished = "status <> 'succeeded'"

	// For entries that are chosen by their ids, as conditions in which a planner sees no index.
	isStillUnfinished = "CASE status WHEN 'succeeded' THEN FALSE ELSE TRUE END"
	isStillAbandoned  = "CASE status WHEN 'abandoned' THEN TRUE ELSE FALSE END"
)

// toWithdraw is the condition for the corrections that are not sent yet, of the subject that a parameter names. It
// repeats the condition of the index by subject, because SQLite requires that.
func toWithdraw(subject string) string {
	return "subject_id = " + subject + " AND operation = 'rectify' AND " + isUnfinished +
		" AND status IN ('pending', 'failed', 'in_flight')"
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
	if limit <= 0 {
		return nil, o.usable()
	}
	beyond, args := "", []any{limit}
	if after != nil {
		beyond = " AND (enqueued_at, entry_id) > (COALESCE((SELECT enqueued_at FROM " + o.store.tables.outbox +
			" WHERE entry_id = $3), $2), $3)" // as it is stored, also if it could not be read
		args = append(args, o.store.dialect.instant(after.EnqueuedAt), after.EntryID)
	}
	return o.found(ctx, o.read, "list abandoned", "SELECT "+entryColumns+" FROM "+o.store.tables.outbox+
		" WHERE "+isAbandoned+beyond+" ORDER BY enqueued_at, entry_id LIMIT $1", args...)
}

func (o outbox) Withdraw(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error) {
	if o.ahead != nil && o.ahead.id == id && !o.ahead.corrections {
		return nil, o.usable()
	}
	if err := o.forget(ctx); err != nil {
		return nil, err
	}
	return o.change(ctx, "withdraw", toWithdraw("$1")+" AND "+o.store.dialect.oneByOne("entry_id"),
		"status = 'abandoned', last_error = 'erased', next_attempt_at = NULL, lease_token = NULL, ref = NULL,"+
			" corrections = NULL", id.String())
}

// change sets columns of the entries that a condition holds for and returns them, oldest first. It locks them in the
// order in which Settle does: in any other, the two could wait for each other.
func (o outbox) change(ctx context.Context, op, condition, set string, args ...any) ([]domain.OutboxEntry, error) {
	changed, err := o.entries(ctx, op, "WITH chosen AS (SELECT entry_id AS chosen_id FROM "+o.store.tables.outbox+
		" WHERE "+condition+" ORDER BY entry_id"+o.store.dialect.forUpdate()+") UPDATE "+o.store.tables.outbox+
		" SET "+set+" WHERE "+o.store.dialect.amongst("entry_id", "SELECT chosen_id FROM chosen")+" RETURNING "+entryColumns,
		args...)
	slices.SortFunc(changed, domain.OutboxEntry.Compare)
	return changed, err
}

func (o outbox) Purge(ctx context.Context, enqueuedBefore time.Time, limit int) (int64, error) {
	if limit <= 0 {
		return 0, o.usable()
	}
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

// entries runs a statement that changes the outbox, and reads the entries that it returns.
func (o outbox) entries(ctx context.Context, op, text string, args ...any) ([]domain.OutboxEntry, error) {
	return o.found(ctx, o.returning, op, text, args...)
}

// planned is returning for a statement whose plan may have become wrong.
func (o outbox) planned(
	ctx context.Context, op string, each func(*sql.Rows) error, text string, args ...any,
) error {
	mark, began := o.store.plans.mark(), time.Now()
	err := o.returning(ctx, op, each, text+mark, args...)
	o.store.plans.took(mark, began, time.Now())
	return err
}

// runner runs a statement and calls each for every row.
type runner func(ctx context.Context, op string, each func(*sql.Rows) error, text string, args ...any) error

// found reads the entries that a statement returns, with what can be read of them.
func (o outbox) found(ctx context.Context, run runner, op, text string, args ...any) ([]domain.OutboxEntry, error) {
	if err := o.sendEntries(ctx); err != nil {
		return nil, err
	}
	var found []domain.OutboxEntry
	err := run(ctx, op, func(rows *sql.Rows) error {
		entry, _, err := scanEntry(rows)
		found = append(found, entry)
		return err
	}, text, args...)
	return found, err
}
