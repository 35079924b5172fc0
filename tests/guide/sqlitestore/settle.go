package sqlitestore

import (
	"context"
	"database/sql"

	"github.com/habeas-data/habeas/domain"
)

// operationOf is what completes as a whole: a subject's erasure, or a subject's rectification.
type operationOf struct{ subject, operation string }

// Settle needs no lock but the one that every session takes before it writes: of the sessions that settle a subject's
// entries at the same time, the last one sees that none is left open.
func (o outbox) Settle(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error) {
	if len(settlements) == 0 {
		return nil, o.usable()
	}
	results := make([]domain.SettleResult, len(settlements))
	last := map[operationOf]int{} // the last settlement of each operation that succeeded
	for i, settlement := range settlements {
		settled, err := o.settle(ctx, settlement)
		if err != nil {
			return nil, err
		}
		results[i].Stale = len(settled) == 0
		if len(settled) > 0 && settlement.Status == domain.OutboxSucceeded {
			last[settled[0]] = i
		}
	}
	for of, i := range last {
		left, err := collect(ctx, o.session, true, scanOperation, `SELECT subject, operation FROM habeas_outbox
			WHERE subject = ? AND operation = ? AND status <> 'succeeded'
			AND NOT (status = 'abandoned' AND operation = 'rectify') LIMIT 1`, of.subject, of.operation)
		if err != nil {
			return nil, err
		}
		results[i].Completes = len(left) == 0
	}
	return results, nil
}

// settle writes one outcome, unless the lease is lost. An entry that was never tried gets its attempt back.
func (o outbox) settle(ctx context.Context, outcome domain.Settlement) ([]operationOf, error) {
	var next, class any
	kept := ``
	switch outcome.Status { //nolint:exhaustive // an entry is never settled as in flight
	case domain.OutboxFailed:
		next, class = optionalStamp(outcome.NextAttemptAt), outcome.LastError
	case domain.OutboxAbandoned:
		class = outcome.LastError
		if outcome.Entry.Operation == domain.OperationRectify {
			kept = `, ` + forget
		}
	case domain.OutboxSucceeded:
		kept = `, ` + forget
	}
	return collect(ctx, o.session, true, scanOperation, `UPDATE habeas_outbox SET status = ?1,
		attempts = attempts - (?1 = 'pending'), next_attempt_at = ?2, last_error = ?3, lease_token = NULL`+kept+`
		WHERE entry_id = ?4 AND lease_token = ?5 RETURNING subject, operation`, outcome.Status, next, class,
		outcome.Entry.EntryID, optional(outcome.Entry.LeaseToken))
}

func scanOperation(row *sql.Rows) (of operationOf, err error) {
	err = row.Scan(&of.subject, &of.operation)
	return of, err
}
