package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// mostSettled is how many outcomes one statement writes at most: SQLite compares each of its rows with each of them.
const mostSettled = 200

// operationOf is what completes as a whole: a subject's erasure, or a subject's rectification.
type operationOf struct{ subject, operation string }

func ofEntry(e domain.OutboxEntry) operationOf {
	return operationOf{e.SubjectID.String(), string(e.Operation)}
}

// open are the entries of some operations that have not succeeded, and the tokens of their leases, "" for none. The
// entries are locked.
type open map[operationOf]map[string]string

func (o outbox) Settle(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error) {
	if len(settlements) == 0 {
		return nil, o.usable()
	}
	if err := o.sendEntries(ctx); err != nil {
		return nil, err
	}
	if err := o.forget(ctx); err != nil { // refs and corrections
		return nil, err
	}
	open := open{}
	for chunk := range slices.Chunk(settlements, mostSettled) {
		if err := o.lock(ctx, chunk, open); err != nil {
			return nil, err
		}
	}
	results := make([]domain.SettleResult, len(settlements))
	var applied []domain.Settlement
	last := map[operationOf]int{} // the last settlement of each operation that succeeded
	for i, settlement := range settlements {
		entry := settlement.Entry
		of := ofEntry(entry)
		if lease := open[of][entry.EntryID]; lease == "" || entry.LeaseToken == nil || lease != *entry.LeaseToken {
			results[i].Stale = true
			continue
		}
		applied = append(applied, settlement)
		open[of][entry.EntryID] = "" // the lease ends with the settlement
		switch {
		case settlement.Status == domain.OutboxSucceeded:
			delete(open[of], entry.EntryID)
			last[of] = i
		case settlement.Status == domain.OutboxAbandoned && entry.Operation == domain.OperationRectify:
			delete(open[of], entry.EntryID) // it is issued anew, so nothing waits for it
		}
	}
	for of, i := range last {
		results[i].Completes = len(open[of]) == 0
	}
	for chunk := range slices.Chunk(applied, mostSettled) {
		if err := o.apply(ctx, chunk); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// lock locks all entries that are not settled for good of the operations that the settlements belong to, in an order
// that is the same for everybody, and adds them to those found before.
func (o outbox) lock(ctx context.Context, settlements []domain.Settlement, found open) error {
	var conditions []string
	var args []any
	for _, settlement := range settlements {
		of := ofEntry(settlement.Entry)
		if found[of] != nil {
			continue
		}
		found[of] = map[string]string{}
		args = append(args, of.subject, of.operation)
		conditions = append(conditions, "($"+strconv.Itoa(len(args)-1)+", $"+strconv.Itoa(len(args))+")")
	}
	if len(conditions) == 0 { // all of them were found before
		return nil
	}
	return o.planned(ctx, "settle", func(rows *sql.Rows) error {
		var subject, operation string
		var entryID, token sql.NullString
		if err := rows.Scan(&entryID, &subject, &operation, &token); err != nil {
			return err
		}
		found[operationOf{subject, operation}][entryID.String] = token.String
		return nil
	}, "SELECT entry_id, subject_id, operation, lease_token FROM "+o.store.tables.outbox+
		" WHERE "+isStillUnfinished+" AND NOT (operation = 'rectify' AND "+isStillAbandoned+") AND "+
		o.store.dialect.ofOperations(o.store.tables.outbox, "VALUES "+strings.Join(conditions, ", "))+
		" ORDER BY entry_id"+o.store.dialect.forUpdate(), args...)
}

// apply writes the outcomes in one statement.
func (o outbox) apply(ctx context.Context, settlements []domain.Settlement) error {
	rows, args := make([]string, len(settlements)), make(parameters, 0, 5*len(settlements))
	for i, s := range settlements {
		var class, next any
		if s.Status == domain.OutboxFailed || s.Status == domain.OutboxAbandoned {
			class = optional(s.LastError)
		}
		if s.Status == domain.OutboxFailed && s.NextAttemptAt != nil {
			next = o.store.dialect.instant(*s.NextAttemptAt)
		}
		untried := 0
		if s.Status == domain.OutboxPending {
			untried = 1
		}
		rows[i] = "(" + strings.Join([]string{
			args.add(s.Entry.EntryID, "text"), args.add(string(s.Status), "text"), args.add(class, "text"),
			args.add(next, o.store.dialect.instantType()), args.add(untried, "integer"),
		}, ", ") + ")"
	}
	const forgotten = "(new_status = 'succeeded' OR new_status = 'abandoned' AND operation = 'rectify')"
	return o.planned(ctx, "settle", ignore, "WITH outcomes (settled_id, new_status, error, next_at, untried) AS (VALUES "+
		strings.Join(rows, ", ")+") UPDATE "+o.store.tables.outbox+" SET status = new_status, last_error = error,"+
		" next_attempt_at = next_at, attempts = attempts - untried, lease_token = NULL,"+
		" ref = CASE WHEN "+forgotten+" THEN NULL ELSE ref END,"+
		" corrections = CASE WHEN "+forgotten+" THEN NULL ELSE corrections END"+
		" FROM outcomes WHERE entry_id = settled_id AND "+
		o.store.dialect.amongst("entry_id", "SELECT settled_id FROM outcomes"), args...)
}
