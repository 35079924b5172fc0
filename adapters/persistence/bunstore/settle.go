package bunstore

import (
	"context"
	"database/sql"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/domain"
)

// mostSettled is how many outcomes one statement writes at most: SQLite compares each of its rows with each of them.
const mostSettled = 200

// operationsOf are a subject's erasures, or a subject's rectifications: what is locked together.
type operationsOf struct{ subject, operation string }

func ofEntry(e domain.OutboxEntry) operationsOf {
	return operationsOf{e.SubjectID.String(), string(e.Operation)}
}

// operationOf is what completes as a whole: one erasure, or one rectification. Those without an id count as one.
type operationOf struct {
	operationsOf
	id string
}

// open are the entries of some operations that have not succeeded. The entries are locked.
type open map[operationsOf]map[string]openEntry

// openEntry is one of them.
type openEntry struct {
	lease       string // the token; "" for none
	operationID string
}

// leaves reports whether an entry of the operation is left.
func (o open) leaves(of operationOf) bool {
	for _, entry := range o[of.operationsOf] {
		if entry.operationID == of.id {
			return true
		}
	}
	return false
}

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
		locked := open[of][entry.EntryID]
		if locked.lease == "" || entry.LeaseToken == nil || locked.lease != *entry.LeaseToken {
			results[i].Stale = true
			continue
		}
		applied = append(applied, settlement)
		open[of][entry.EntryID] = openEntry{operationID: locked.operationID} // the lease ends with the settlement
		switch {
		case settlement.Status == domain.OutboxSucceeded:
			delete(open[of], entry.EntryID)
			last[operationOf{of, locked.operationID}] = i
		case settlement.Status == domain.OutboxAbandoned && entry.Operation == domain.OperationRectify:
			delete(open[of], entry.EntryID) // it is issued anew, so nothing waits for it
		}
	}
	for of, i := range last {
		results[i].Completes = !open.leaves(of)
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
	var args []any
	for _, settlement := range settlements {
		of := ofEntry(settlement.Entry)
		if found[of] != nil {
			continue
		}
		found[of] = map[string]openEntry{}
		args = append(args, of.subject, of.operation)
	}
	if len(args) == 0 { // all of them were found before
		return nil
	}
	return o.writePlanned(ctx, "settle", func(rows *sql.Rows) error {
		var subject, operation string
		var entryID, token, operationID sql.NullString
		if err := rows.Scan(&entryID, &subject, &operation, &token, &operationID); err != nil {
			return err
		}
		found[operationsOf{subject, operation}][entryID.String] = openEntry{token.String, operationID.String}
		return nil
	}, o.store.outbox.LockOperations(len(args)/2), args...)
}

// apply writes the outcomes in one statement.
func (o outbox) apply(ctx context.Context, settlements []domain.Settlement) error {
	text, args := o.store.outbox.Settle(settlements)
	return o.writePlanned(ctx, "settle", conn.Ignore, text, args...)
}
