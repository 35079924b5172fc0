package outbox

import (
	"context"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

const (
	// isUnclaimed is the condition that an outbox entry was due before $1, but no worker has claimed it. It excludes
	// entries whose last error already says so.
	isUnclaimed = `stage = 0 AND enqueued_at < $1 AND (next_attempt_at IS NULL OR next_attempt_at < $1)
		AND (last_error IS NULL OR last_error <> '` + domain.LastErrorUnclaimed + `')`

	markUnclaimed = `
		UPDATE {outbox} SET last_error = '` + domain.LastErrorUnclaimed + `'
		WHERE {due}
		RETURNING {entry}`

	// openTargets is a recursive common table expression of the targets (resolver and operation) that have open outbox
	// entries. Each recursion reads only the next target from the index (a loose index scan).
	openTargets = `
		targets (resolver, operation) AS (
			(SELECT resolver, operation FROM {outbox}
			WHERE stage = 0 AND {prefer index}
			ORDER BY resolver, operation LIMIT 1)
			UNION ALL
			SELECT next.resolver, next.operation FROM targets CROSS JOIN LATERAL (
				SELECT resolver, operation FROM {outbox}
				WHERE stage = 0 AND {prefer index} AND (resolver, operation) > (targets.resolver, targets.operation)
				ORDER BY resolver, operation LIMIT 1) AS next)`

	// unclaimedInPostgres reads up to {limit} new outbox entries and up to {limit} retries of each target (resolver and
	// operation) in the order of the index. It then selects the oldest $2 of these entries.
	unclaimedInPostgres = `
		WITH RECURSIVE ` + openTargets + `,
		due AS MATERIALIZED (
			SELECT e.entry_id FROM targets CROSS JOIN LATERAL (
				SELECT * FROM (
					SELECT entry_id, enqueued_at FROM {outbox}
					WHERE ` + isUnclaimed + ` AND {due} = '-infinity' AND {prefer index}
						AND resolver = targets.resolver AND operation = targets.operation
					ORDER BY {due}, {turn}, entry_id LIMIT {limit} FOR UPDATE SKIP LOCKED
				) AS fresh
				UNION ALL
				SELECT * FROM (
					SELECT entry_id, enqueued_at FROM {outbox}
					WHERE ` + isUnclaimed + ` AND {due} > '-infinity' AND {due} < $1 AND {prefer index}
						AND resolver = targets.resolver AND operation = targets.operation
					ORDER BY {due}, {turn}, entry_id LIMIT {limit} FOR UPDATE SKIP LOCKED
				) AS retries
			) AS e
			ORDER BY e.enqueued_at, e.entry_id LIMIT $2)`

	unclaimedInSQLite = `
		WITH due AS (
			SELECT entry_id FROM {outbox} INDEXED BY {prefix}outbox_open
			WHERE ` + isUnclaimed + `
			ORDER BY enqueued_at, entry_id LIMIT $2)`
)

// unclaimedStatement returns the statement that marks up to $2 outbox entries as unclaimed, oldest first. These entries
// were due before $1. The statement returns these entries. The parameter limit must equal $2.
func (o *Store) unclaimedStatement(limit int) string {
	return o.own.unclaimedEntries(o.tables, limit) + " " + o.unclaimed
}

// Unclaimed implements ports.Outbox.
func (o *Session) Unclaimed(ctx context.Context, dueBefore time.Time, limit int) ([]domain.OutboxEntry, error) {
	if limit <= 0 {
		return nil, o.db.Usable()
	}
	return o.change(ctx, "find unclaimed", o.store.unclaimedStatement(limit), o.store.dialect.Instant(dueBefore), limit)
}

// unclaimedEntries returns a statement that locks the unclaimed outbox entries, and skips entries that another
// transaction has locked.
func (postgres) unclaimedEntries(tables syntax.Tables, limit int) string {
	return tables.Fill(unclaimedInPostgres,
		"limit", strconv.Itoa(limit), "due", dueInPostgres, "turn", turn,
		"prefer index", syntax.Postgres.PreferIndex("entry_id"))
}

func (sqlite) unclaimedEntries(tables syntax.Tables, _ int) string {
	return tables.Fill(unclaimedInSQLite)
}
