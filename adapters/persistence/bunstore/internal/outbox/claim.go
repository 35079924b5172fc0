package outbox

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/scan"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// maxTakes is the maximum number of takes in one statement. SQLite limits the length of a UNION ALL.
const maxTakes = 200

// Claim implements ports.Outbox.
func (o *Session) Claim(ctx context.Context, query domain.ClaimQuery) (claimed []domain.OutboxEntry, err error) {
	if err := o.db.Usable(); err != nil || len(query.Takes) == 0 {
		return nil, err
	}
	if err := o.sendEntries(ctx); err != nil {
		return nil, err
	}
	began, begins := time.Now(), o.db.Tx == nil
	if err := o.db.Begin(ctx); err != nil {
		return nil, err
	}
	if begins {
		o.store.scans.RoundTrip(time.Since(began))
	}
	read := func(takes []scan.BoundedTake) ([]domain.OutboxEntry, error) { return o.claim(ctx, query, takes) }
	if !o.store.dialect.CombinesChanges() { // it has no dead rows
		claimed, err = read(scan.Unbounded(query.Takes))
	} else {
		claimed, err = o.store.scans.Claim(query.Now, query.Takes, read, func() (dead int64, err error) {
			err = o.db.Read(ctx, "claim", func(rows *sql.Rows) error { return rows.Scan(&dead) }, o.store.deadRows)
			return dead, err
		})
	}
	slices.SortFunc(claimed, domain.OutboxEntry.Compare)
	return claimed, err
}

const claimEntries = `
	UPDATE {outbox} SET
		status = 'in_flight',
		attempts = CASE WHEN attempts < 2147483647 THEN attempts + 1 ELSE attempts END,
		last_attempt_at = $1, next_attempt_at = $2, lease_token = $3,
		tried_since = CASE WHEN tried_since > {earliest instant} THEN tried_since ELSE $1 END
	WHERE {due}
	RETURNING {entry}`

// claimStatement returns the statement that claims due outbox entries and returns these entries. It takes the entries
// of takes, and ignores query.Takes.
func (o *Store) claimStatement(query domain.ClaimQuery, takes []scan.BoundedTake) (text string, args []any, err error) {
	d := o.dialect
	all := syntax.Args{
		d.Instant(query.Now), d.Instant(query.LeaseUntil), query.LeaseToken, d.Instant(query.LatestNextAttempt()),
	}
	due, err := o.own.dueEntries(o.tables, takes, &all)
	return due + " " + o.claim, all, err
}

// claim claims the due entries of the takes, in one statement unless there are very many takes.
func (o *Session) claim(
	ctx context.Context, query domain.ClaimQuery, takes []scan.BoundedTake,
) (claimed []domain.OutboxEntry, err error) {
	takes = slices.DeleteFunc(takes, func(t scan.BoundedTake) bool { return t.Fresh <= 0 && t.Retries <= 0 })
	var unreadable []int
	for chunk := range slices.Chunk(takes, maxTakes) {
		text, args, err := o.store.claimStatement(query, chunk)
		if err != nil {
			return nil, err
		}
		if err := o.writePlanned(ctx, "claim", func(rows *sql.Rows) error {
			entry, readable, err := scanEntry(rows)
			if !readable {
				unreadable = append(unreadable, len(claimed))
			}
			claimed = append(claimed, entry)
			return err
		}, text, args...); err != nil {
			return nil, err
		}
	}
	return claimed, o.abandonUnreadable(ctx, claimed, unreadable)
}

// updateUnreadable abandons outbox entries that cannot be read. For an erasure, it keeps the column ref, so that an
// operator can repair and requeue the entry.
const updateUnreadable = `
	UPDATE {outbox} SET
		status = 'abandoned', last_error = '` + domain.LastErrorUnreadable + `', next_attempt_at = NULL,
		lease_token = NULL, ref = CASE WHEN operation = 'rectify' THEN NULL ELSE ref END, corrections = NULL
	WHERE entry_id IN (`

// maxEntriesPerStatement is the maximum number of ids of outbox entries that a statement gets as parameters. Databases
// limit the number of parameters of a statement.
const maxEntriesPerStatement = 1000

// unreadableStatement returns the statement that sets outbox entries to abandoned. The parameters of the statement are
// the ids of the entries.
func (o *Store) unreadableStatement(idCount int) string {
	ids := make([]string, idCount)
	for i := range ids {
		ids[i] = syntax.Placeholder(i + 1)
	}
	return o.unreadable + strings.Join(ids, ", ") + ")"
}

// abandonUnreadable gives the outbox entries with these indexes the status abandoned, because one of their columns
// cannot be decoded. An entry of an erasure keeps its ref, so that a person can repair and requeue the entry.
func (o *Session) abandonUnreadable(ctx context.Context, entries []domain.OutboxEntry, indexes []int) error {
	for chunk := range slices.Chunk(indexes, maxEntriesPerStatement) {
		args := make([]any, len(chunk))
		for i, at := range chunk {
			entry := &entries[at]
			args[i] = entry.EntryID
			class := domain.LastErrorUnreadable
			entry.Status, entry.LastError = domain.OutboxAbandoned, &class
			entry.NextAttemptAt, entry.LeaseToken, entry.Corrections = nil, nil, nil
		}
		if _, err := o.db.Write(ctx, "claim", o.store.unreadableStatement(len(chunk)), args...); err != nil {
			return err
		}
	}
	return nil
}

const (
	// isUnclaimed is the condition that an outbox entry was due before $1, but no worker has claimed it. It excludes
	// entries whose last error already says so.
	isUnclaimed = `stage = 0 AND enqueued_at < $1 AND (next_attempt_at IS NULL OR next_attempt_at < $1)
		AND (last_error IS NULL OR last_error <> '` + domain.LastErrorUnclaimed + `')`

	markUnclaimed = `
		UPDATE {outbox} SET last_error = '` + domain.LastErrorUnclaimed + `'
		WHERE {due}
		RETURNING {entry}`
)

// unclaimedStatement returns the statement that marks up to $2 outbox entries as unclaimed, oldest first. These entries
// were due before $1. The statement returns these entries. The parameter limit must equal $2.
func (o *Store) unclaimedStatement(limit int) string {
	return o.own.unclaimedEntries(o.tables, limit) + " " + o.unclaimed
}

// Unclaimed implements ports.OutboxAdmin.
func (o *Session) Unclaimed(ctx context.Context, dueBefore time.Time, limit int) ([]domain.OutboxEntry, error) {
	if limit <= 0 {
		return nil, o.db.Usable()
	}
	return o.change(ctx, "find unclaimed", o.store.unclaimedStatement(limit), o.store.dialect.Instant(dueBefore), limit)
}
