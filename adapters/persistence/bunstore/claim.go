package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
)

// maxTakes is the maximum number of takes in one statement. SQLite limits the length of a UNION ALL.
const maxTakes = 200

func (o outbox) Claim(ctx context.Context, query domain.ClaimQuery) (claimed []domain.OutboxEntry, err error) {
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
	read := func(takes []sqltext.BoundedTake) ([]domain.OutboxEntry, error) { return o.claim(ctx, query, takes) }
	if o.store.dialect == sqltext.SQLite { // it has no dead rows
		claimed, err = read(sqltext.Unbounded(query.Takes))
	} else {
		claimed, err = o.store.scans.Claim(query.Now, query.Takes, read, func() (dead int64, err error) {
			err = o.db.Read(ctx, "claim", func(rows *sql.Rows) error { return rows.Scan(&dead) }, o.store.outbox.DeadRows)
			return dead, err
		})
	}
	slices.SortFunc(claimed, domain.OutboxEntry.Compare)
	return claimed, err
}

// claim claims the due entries of the takes, in one statement unless there are very many takes.
func (o outbox) claim(
	ctx context.Context, query domain.ClaimQuery, takes []sqltext.BoundedTake,
) (claimed []domain.OutboxEntry, err error) {
	takes = slices.DeleteFunc(takes, func(t sqltext.BoundedTake) bool { return t.Fresh <= 0 && t.Retries <= 0 })
	var unreadable []int
	for chunk := range slices.Chunk(takes, maxTakes) {
		text, args, err := o.store.outbox.Claim(query, chunk)
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

// abandonUnreadable gives the outbox entries with these indexes the status abandoned, because one of their columns
// cannot be decoded. An entry of an erasure keeps its ref, so that a person can repair and requeue the entry.
func (o outbox) abandonUnreadable(ctx context.Context, entries []domain.OutboxEntry, indexes []int) error {
	for chunk := range slices.Chunk(indexes, maxEntriesPerStatement) {
		args := make([]any, len(chunk))
		for i, at := range chunk {
			entry := &entries[at]
			args[i] = entry.EntryID
			class := domain.LastErrorUnreadable
			entry.Status, entry.LastError = domain.OutboxAbandoned, &class
			entry.NextAttemptAt, entry.LeaseToken, entry.Corrections = nil, nil, nil
		}
		if _, err := o.db.Write(ctx, "claim", o.store.outbox.AbandonUnreadable(len(chunk)), args...); err != nil {
			return err
		}
	}
	return nil
}

func (o outbox) Unclaimed(ctx context.Context, dueBefore time.Time, limit int) ([]domain.OutboxEntry, error) {
	if limit <= 0 {
		return nil, o.db.Usable()
	}
	return o.change(ctx, "find unclaimed", o.store.outbox.Unclaimed(limit), o.store.dialect.Instant(dueBefore), limit)
}
