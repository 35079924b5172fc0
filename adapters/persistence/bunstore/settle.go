package bunstore

import (
	"context"
	"database/sql"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/domain"
)

// maxSettlements is the maximum number of settlements in one statement. SQLite compares each outbox entry with each
// settlement, so the cost of a statement grows with the square of this number.
const maxSettlements = 200

// operationsOf identifies all erasures, or all rectifications, of a subject. Settle locks the open outbox entries of
// these operations in one statement.
type operationsOf struct{ subject, operation string } // operation is domain.OperationErase or domain.OperationRectify

func ofEntry(e domain.OutboxEntry) operationsOf {
	return operationsOf{e.SubjectID.String(), string(e.Operation)}
}

// operationOf identifies one erasure or one rectification of a subject. The operation completes when its last outbox
// entry succeeds. Entries without an operation id form one operation.
type operationOf struct {
	operationsOf
	id string
}

// open holds the locked outbox entries that an operation must wait for, by operation and by entry id. It omits
// succeeded entries, and abandoned entries of rectifications, because operations do not wait for such entries.
type open map[operationsOf]map[string]openEntry

// openEntry is a locked outbox entry that has not succeeded.
type openEntry struct {
	lease       string // the lease token; "" without a lease
	operationID string
}

// hasEntry reports whether the operation still has an open outbox entry.
func (o open) hasEntry(of operationOf) bool {
	for _, entry := range o[of.operationsOf] {
		if entry.operationID == of.id {
			return true
		}
	}
	return false
}

func (o outbox) Settle(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error) {
	if len(settlements) == 0 {
		return nil, o.db.Usable()
	}
	if err := o.sendEntries(ctx); err != nil {
		return nil, err
	}
	if err := o.db.OverwriteDeleted(ctx); err != nil { // settlements delete refs and corrections
		return nil, err
	}
	open := open{}
	for chunk := range slices.Chunk(settlements, maxSettlements) {
		if err := o.lock(ctx, chunk, open); err != nil {
			return nil, err
		}
	}
	results := make([]domain.SettleResult, len(settlements))
	var applied []domain.Settlement
	last := map[operationOf]int{} // the index of the last successful settlement of each operation
	for i, settlement := range settlements {
		entry := settlement.Entry
		of := ofEntry(entry)
		locked := open[of][entry.EntryID]
		if locked.lease == "" || entry.LeaseToken == nil || locked.lease != *entry.LeaseToken {
			results[i].Stale = true
			continue
		}
		applied = append(applied, settlement)
		open[of][entry.EntryID] = openEntry{operationID: locked.operationID} // the settlement ends the lease
		switch {
		case settlement.Status == domain.OutboxSucceeded:
			delete(open[of], entry.EntryID)
			last[operationOf{of, locked.operationID}] = i
		case settlement.Status == domain.OutboxAbandoned && entry.Operation == domain.OperationRectify:
			delete(open[of], entry.EntryID) // the application issues a new rectification: the operation need not wait
		}
	}
	for of, i := range last {
		results[i].Completes = !open.hasEntry(of)
	}
	for chunk := range slices.Chunk(applied, maxSettlements) {
		if err := o.apply(ctx, chunk); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// lock locks the open outbox entries of all operations to which the settlements belong, and adds these entries to
// openEntries. All sessions lock entries in the order of their ids, so that they cannot deadlock.
func (o outbox) lock(ctx context.Context, settlements []domain.Settlement, openEntries open) error {
	var args []any
	for _, settlement := range settlements {
		of := ofEntry(settlement.Entry)
		if openEntries[of] != nil {
			continue
		}
		openEntries[of] = map[string]openEntry{}
		args = append(args, of.subject, of.operation)
	}
	if len(args) == 0 { // the entries of all operations are locked already
		return nil
	}
	return o.writePlanned(ctx, "settle", func(rows *sql.Rows) error {
		var subject, operation string
		var entryID, token, operationID sql.NullString
		if err := rows.Scan(&entryID, &subject, &operation, &token, &operationID); err != nil {
			return err
		}
		openEntries[operationsOf{subject, operation}][entryID.String] = openEntry{token.String, operationID.String}
		return nil
	}, o.store.outbox.LockOperations(len(args)/2), args...)
}

func (o outbox) apply(ctx context.Context, settlements []domain.Settlement) error {
	text, args := o.store.outbox.Settle(settlements)
	return o.writePlanned(ctx, "settle", conn.Ignore, text, args...)
}
