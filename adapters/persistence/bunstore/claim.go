package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
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
	text, args := o.store.outbox.Claim(sqltext.NewClaim(limit, at, leaseUntil, known), leaseToken)
	var claimed []domain.OutboxEntry
	var unreadable []int
	err := o.writePlanned(ctx, "claim", func(rows *sql.Rows) error {
		entry, readable, err := scanEntry(rows)
		if !readable {
			unreadable = append(unreadable, len(claimed))
		}
		claimed = append(claimed, entry)
		return err
	}, text, args...)
	if err == nil {
		err = o.abandonUnreadable(ctx, claimed, unreadable)
	}
	slices.SortFunc(claimed, domain.OutboxEntry.Compare)
	return claimed, err
}

// abandonUnreadable gives the outbox entries with these indexes the status abandoned, because one of their columns
// cannot be decoded. An entry of an erasure keeps its ref (the subject's id in the external system), so that a person
// can repair and requeue the entry.
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
		if _, err := o.write(ctx, "claim", o.store.outbox.AbandonUnreadable(len(chunk)), args...); err != nil {
			return err
		}
	}
	return nil
}

func (o outbox) Unclaimed(ctx context.Context, dueBefore time.Time, limit int) ([]domain.OutboxEntry, error) {
	if limit <= 0 {
		return nil, o.usable()
	}
	return o.change(ctx, "find unclaimed", o.store.outbox.Unclaimed(limit), o.store.dialect.Instant(dueBefore), limit)
}
