package outbox

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
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
// entry is done. Entries without an operation id form one operation.
type operationOf struct {
	operationsOf
	id string
}

// open holds the locked outbox entries that an operation must wait for, by operation and by entry id. It omits entries
// that are done, and abandoned entries of rectifications, because operations do not wait for such entries.
type open map[operationsOf]map[string]openEntry

// hasEntry reports whether the operation still has an open outbox entry.
func (o open) hasEntry(of operationOf) bool {
	for _, entry := range o[of.operationsOf] {
		if entry.operationID == of.id {
			return true
		}
	}
	return false
}

// openEntry is a locked outbox entry that is not done.
type openEntry struct {
	lease       string // the lease token; "" without a lease
	operationID string
}

// Settle implements ports.Outbox.
func (o *Session) Settle(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error) {
	if len(settlements) == 0 {
		return nil, o.db.Usable()
	}
	if err := o.unsent.Send(ctx, unsent.Entries); err != nil {
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
		case settlement.Status.IsDone():
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

const (
	// Conditions for outbox entries that a statement finds by their ids. They are CASE expressions, so that a planner
	// does not choose an index for them.
	isStillUnfinished = `CASE status WHEN 'succeeded' THEN FALSE WHEN 'spared' THEN FALSE ELSE TRUE END`

	isStillAbandoned = `CASE status WHEN 'abandoned' THEN TRUE ELSE FALSE END`

	isUnhandled = `CASE status WHEN 'abandoned' THEN TRUE WHEN 'spared' THEN TRUE ELSE FALSE END`

	lockOperations = `
		SELECT entry_id, subject_id, operation, lease_token, operation_id FROM {outbox}
		WHERE ` + isStillUnfinished + ` AND NOT (operation = 'rectify' AND ` + isStillAbandoned + `)
			AND {of operations}
		ORDER BY entry_id{for update}`
)

// lockStatement returns the statement that locks the outbox entries of operations. It omits entries that are done and
// corrections that are abandoned. Every transaction locks entries in the same order, so that there are no
// deadlocks. The statement's parameters are pairs of a subject and an operation.
func (o *Store) lockStatement(pairCount int) string {
	pairs := make([]string, pairCount)
	for i := range pairs {
		pairs[i] = "(" + syntax.Placeholder(2*i+1) + ", " + syntax.Placeholder(2*i+2) + ")"
	}
	values := "VALUES " + strings.Join(pairs, ", ")
	return strings.Replace(o.locked, "{of operations}", o.own.isOfOperations(o.tables, values), 1)
}

// lock locks the open outbox entries of all operations to which the settlements belong, and adds these entries to
// openEntries. All sessions lock entries in the order of their ids, so that they cannot deadlock.
func (o *Session) lock(ctx context.Context, settlements []domain.Settlement, openEntries open) error {
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
	return o.db.WriteRows(ctx, "settle", func(rows *sql.Rows) error {
		var subject, operation string
		var entryID, token, operationID sql.NullString
		if err := rows.Scan(&entryID, &subject, &operation, &token, &operationID); err != nil {
			return err
		}
		openEntries[operationsOf{subject, operation}][entryID.String] = openEntry{token.String, operationID.String}
		return nil
	}, o.store.lockStatement(len(args)/2), args...)
}

const (
	settleEntries = `
		UPDATE {outbox} SET
			status = new_status, last_error = error, next_attempt_at = next_at, attempts = attempts - untried,
			tried_since = CASE WHEN attempts > untried THEN tried_since END, lease_token = NULL,
			ref = CASE WHEN ` + needsNoData + ` THEN NULL ELSE ref END,
			corrections = CASE WHEN ` + needsNoData + ` THEN NULL ELSE corrections END
		FROM outcomes
		WHERE entry_id = settled_id AND {settled}`

	// needsNoData is the condition that an outbox entry with a new status does not need its ref and its corrections any
	// more.
	needsNoData = `(new_status IN ('succeeded', 'spared') OR new_status = 'abandoned' AND operation = 'rectify')`
)

// settleStatement returns the statement that writes the outcomes of attempts into their outbox entries.
func (o *Store) settleStatement(settlements []domain.Settlement) (text string, args []any) {
	d := o.dialect
	rows, all := make([]string, len(settlements)), make(syntax.Args, 0, 5*len(settlements))
	for i, s := range settlements {
		var class, next any
		if s.Status == domain.OutboxFailed || s.Status == domain.OutboxAbandoned {
			class = syntax.Optional(s.LastError)
		}
		if s.Status == domain.OutboxFailed && s.NextAttemptAt != nil {
			next = d.Instant(*s.NextAttemptAt)
		}
		untried := 0
		if s.Status == domain.OutboxPending {
			untried = 1
		}
		rows[i] = "(" + strings.Join([]string{
			all.Add(s.Entry.EntryID, "text"), all.Add(string(s.Status), "text"), all.Add(class, "text"),
			all.Add(next, d.InstantType()), all.Add(untried, "integer"),
		}, ", ") + ")"
	}
	return "WITH outcomes (settled_id, new_status, error, next_at, untried) AS (VALUES " + strings.Join(rows, ", ") +
		") " + o.settled, all
}

func (o *Session) apply(ctx context.Context, settlements []domain.Settlement) error {
	text, args := o.store.settleStatement(settlements)
	return o.db.WriteRows(ctx, "settle", conn.Ignore, text, args...)
}

// isOfOperations returns a condition that makes PostgreSQL look up the entries of each pair (subject and operation) in
// an index, even if the planner estimates that the table has few rows.
func (postgres) isOfOperations(tables syntax.Tables, pairs string) string {
	return syntax.Postgres.IsInQuery("entry_id", tables.Fill(`
		SELECT e.entry_id FROM ({pairs}) AS o (subject, operation) CROSS JOIN LATERAL (
			SELECT entry_id FROM {outbox}
			WHERE subject_id = o.subject AND operation = o.operation AND status <> 'succeeded' AND {prefer index}
			OFFSET 0) AS e`, "pairs", pairs, "prefer index", syntax.Postgres.PreferIndex("entry_id")))
}

// isOfOperations returns a condition with status <> 'succeeded', like the definition of the partial index by subject,
// because SQLite otherwise does not use this index.
func (sqlite) isOfOperations(_ syntax.Tables, pairs string) string {
	return "status <> 'succeeded' AND (subject_id, operation) IN (" + pairs + ")"
}
