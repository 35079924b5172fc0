package bunstore

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// operationOf is what completes as a whole: a subject's erasure, or a subject's rectification.
type operationOf struct {
	subject   domain.SubjectID
	operation domain.Operation
}

// open are the entries of some operations that have not succeeded, with their lease tokens, "" for none.
type open map[operationOf]map[string]string

func (o outbox) Settle(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error) {
	if len(settlements) == 0 {
		return nil, nil
	}
	if err := o.sendEntries(ctx); err != nil {
		return nil, err
	}
	open, err := o.lock(ctx, settlements)
	if err != nil {
		return nil, err
	}
	results := make([]domain.SettleResult, len(settlements))
	var applied []domain.Settlement
	last := map[operationOf]int{} // the last settlement of each operation that succeeded
	for i, settlement := range settlements {
		entry := settlement.Entry
		of := operationOf{entry.SubjectID, entry.Operation}
		token := open[of][entry.EntryID]
		if token == "" || entry.LeaseToken == nil || token != *entry.LeaseToken {
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
	return results, o.apply(ctx, applied)
}

// lock locks all entries that are not settled for good of the operations that the settlements belong to, in an order
// that is the same for everybody.
func (o outbox) lock(ctx context.Context, settlements []domain.Settlement) (open, error) {
	found := open{}
	var conditions []string
	var args []any
	for _, settlement := range settlements {
		of := operationOf{settlement.Entry.SubjectID, settlement.Entry.Operation}
		if found[of] != nil {
			continue
		}
		found[of] = map[string]string{}
		args = append(args, of.subject.String(), string(of.operation))
		conditions = append(conditions, "($"+strconv.Itoa(len(args)-1)+", $"+strconv.Itoa(len(args))+")")
	}
	err := o.returning(ctx, "settle", func(rows *sql.Rows) error {
		var entryID, subject, operation string
		var token sql.NullString
		if err := rows.Scan(&entryID, &subject, &operation, &token); err != nil {
			return err
		}
		id, err := domain.ParseSubjectID(subject)
		if err != nil {
			return err
		}
		found[operationOf{id, domain.Operation(operation)}][entryID] = token.String
		return nil
	}, "SELECT entry_id, subject_id, operation, lease_token FROM "+o.store.tables.outbox+
		" WHERE status <> 'succeeded' AND NOT (operation = 'rectify' AND status = 'abandoned') AND (subject_id, operation) IN (VALUES "+strings.Join(conditions, ", ")+")"+
		" ORDER BY entry_id"+o.store.dialect.forUpdate(), args...)
	return found, err
}

// apply writes the outcomes in one statement.
func (o outbox) apply(ctx context.Context, settlements []domain.Settlement) error {
	if len(settlements) == 0 {
		return nil
	}
	rows, args := make([]string, len(settlements)), make([]any, 0, 5*len(settlements))
	for i, s := range settlements {
		n := len(args)
		parameter := func(offset int, sqlType string) string {
			return "CAST($" + strconv.Itoa(n+offset) + " AS " + sqlType + ")"
		}
		rows[i] = "(" + strings.Join([]string{
			parameter(1, "text"), parameter(2, "text"), parameter(3, "text"),
			parameter(4, o.store.dialect.instantType()), parameter(5, "integer"),
		}, ", ") + ")"
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
		args = append(args, s.Entry.EntryID, string(s.Status), class, next, untried)
	}
	const forgotten = "(new_status = 'succeeded' OR new_status = 'abandoned' AND operation = 'rectify')"
	_, err := o.write(ctx, "settle", "WITH outcomes (id, new_status, error, next_at, untried) AS (VALUES "+
		strings.Join(rows, ", ")+") UPDATE "+o.store.tables.outbox+" SET status = new_status, last_error = error,"+
		" next_attempt_at = next_at, attempts = attempts - untried, lease_token = NULL,"+
		" ref = CASE WHEN "+forgotten+" THEN NULL ELSE ref END,"+
		" corrections = CASE WHEN "+forgotten+" THEN NULL ELSE corrections END FROM outcomes WHERE entry_id = id", args...)
	return err
}
