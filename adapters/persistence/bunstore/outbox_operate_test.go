package bunstore_test

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

func (b box) counts(t testing.TB) (counts map[domain.OutboxStatus]int64) {
	t.Helper()
	b.do(t, func(ctx context.Context, outbox wholeOutbox) (err error) {
		counts, err = outbox.Counts(ctx)
		return err
	})
	return counts
}

func (b box) abandoned(t testing.TB, after *domain.OutboxEntry, limit int) (found []domain.OutboxEntry) {
	t.Helper()
	b.do(t, func(ctx context.Context, outbox wholeOutbox) (err error) {
		found, err = outbox.Abandoned(ctx, after, limit)
		return err
	})
	return found
}

func (b box) requeue(t testing.TB, entryIDs ...string) (requeued []domain.OutboxEntry) {
	t.Helper()
	b.do(t, func(ctx context.Context, outbox wholeOutbox) (err error) {
		requeued, err = outbox.Requeue(ctx, entryIDs)
		return err
	})
	return requeued
}
