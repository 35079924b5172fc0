package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func (o outbox) Claim(
	ctx context.Context, limit int, at, leaseUntil time.Time, leaseToken string, known ...domain.OutboxTarget,
) ([]domain.OutboxEntry, error) {
	if limit <= 0 {
		return nil, o.usable()
	}
	if err := o.sendEntries(ctx); err != nil {
		return nil, err
	}
	instant := o.store.dialect.instant
	args := []any{
		instant(at), limit, instant(leaseUntil), leaseToken, instant(domain.LatestNextAttempt(at, leaseUntil, known)),
	}
	condition := isOpen + " AND (next_attempt_at IS NULL OR next_attempt_at <= $1 OR next_attempt_at > $5 OR" +
		" last_attempt_at > $3)"
	for i, target := range known { // as a CASE, in which no planner sees a reason to leave the index by age
		args = append(args, target.Resolver, string(target.Operation))
		condition += []string{" AND CASE", ""}[min(i, 1)] +
			" WHEN resolver = $" + strconv.Itoa(len(args)-1) + " AND operation = $" + strconv.Itoa(len(args)) + " THEN TRUE"
	}
	if len(known) > 0 {
		condition += " ELSE FALSE END"
	}
	// The common table expression is evaluated once; as a subquery of IN it could be evaluated for each row, and claim
	// more than the limit.
	var claimed []domain.OutboxEntry
	var unreadable []int
	row, _ := o.store.dialect.rowID()
	err := o.returning(ctx, "claim", func(rows *sql.Rows) error {
		entry, readable, err := scanEntry(rows)
		if !readable {
			unreadable = append(unreadable, len(claimed))
		}
		claimed = append(claimed, entry)
		return err
	}, o.oldest(condition)+" UPDATE "+o.store.tables.outbox+" SET status = 'in_flight', attempts = CASE WHEN attempts < 2147483647 THEN attempts + 1 ELSE attempts END,"+
		" last_attempt_at = $1, next_attempt_at = $3, lease_token = $4 FROM due WHERE "+
		o.store.tables.outbox+"."+row+" = due.place RETURNING "+entryColumns, args...)
	if err == nil {
		err = o.abandonUnreadable(ctx, claimed, unreadable)
	}
	slices.SortFunc(claimed, domain.OutboxEntry.Compare)
	return claimed, err
}

// oldest begins a statement with the places of up to $2 entries that a condition holds for, oldest first. They are
// locked; entries that another transaction has locked are passed over.
func (o outbox) oldest(condition string) string {
	row, _ := o.store.dialect.rowID()
	return "WITH due AS (SELECT " + row + " AS place FROM " + o.store.tables.outbox +
		o.store.dialect.useIndex("habeas_outbox_open") + " WHERE " + condition +
		" ORDER BY enqueued_at, entry_id LIMIT $2" + o.store.dialect.skipLocked() + ")"
}

// abandonUnreadable abandons entries that were claimed and cannot be read. The ref of an erasure stays, so that the
// entry can be repaired and requeued.
func (o outbox) abandonUnreadable(ctx context.Context, claimed []domain.OutboxEntry, unreadable []int) error {
	for chunk := range slices.Chunk(unreadable, mostAtOnce) {
		parameters, args := make([]string, len(chunk)), make([]any, len(chunk))
		for i, at := range chunk {
			entry := &claimed[at]
			parameters[i], args[i] = "$"+strconv.Itoa(i+1), entry.EntryID
			class := domain.LastErrorUnreadable
			entry.Status, entry.LastError = domain.OutboxAbandoned, &class
			entry.NextAttemptAt, entry.LeaseToken, entry.Corrections = nil, nil, nil
		}
		_, err := o.write(ctx, "claim", "UPDATE "+o.store.tables.outbox+" SET status = 'abandoned', last_error = '"+
			domain.LastErrorUnreadable+"', next_attempt_at = NULL, lease_token = NULL,"+
			" ref = CASE WHEN operation = 'rectify' THEN NULL ELSE ref END, corrections = NULL"+
			" WHERE entry_id IN ("+strings.Join(parameters, ", ")+")", args...)
		if err != nil {
			return err
		}
	}
	return nil
}

func (o outbox) Unclaimed(ctx context.Context, dueBefore time.Time, limit int) ([]domain.OutboxEntry, error) {
	if limit <= 0 {
		return nil, o.usable()
	}
	row, _ := o.store.dialect.rowID()
	const unclaimed = "'" + domain.LastErrorUnclaimed + "'"
	found, err := o.entries(ctx, "find unclaimed", o.oldest(isOpen+
		" AND enqueued_at < $1 AND (next_attempt_at IS NULL OR next_attempt_at < $1)"+
		" AND (last_error IS NULL OR last_error <> "+unclaimed+")")+
		" UPDATE "+o.store.tables.outbox+" SET last_error = "+unclaimed+" FROM due WHERE "+
		o.store.tables.outbox+"."+row+" = due.place RETURNING "+entryColumns, o.store.dialect.instant(dueBefore), limit)
	slices.SortFunc(found, domain.OutboxEntry.Compare)
	return found, err
}
