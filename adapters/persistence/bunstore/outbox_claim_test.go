package bunstore_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestNewWorkWakesAfterTheCommit(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		dataMap := mapOf(t, db, models[:1])
		var woken atomic.Int64
		b.store = storeOf(t, db, dataMap, bunstore.Options{Enqueued: func() { woken.Add(1) }})
		wakes := func(what string, want int64, fn func()) {
			t.Helper()
			woken.Store(0)
			if fn(); woken.Load() != want {
				t.Errorf("%s woke %d times, want %d", what, woken.Load(), want)
			}
		}
		wakes("an enqueue", 1, func() { b.enqueue(t, numbered(t, 3)...) })
		wakes("a rollback", 0, func() {
			_ = b.try(func(ctx context.Context, outbox wholeOutbox) error {
				must(t, outbox.Enqueue(ctx, toErase(t, "a", "1", 0)))
				return errHost
			})
		})
		var claimed []domain.OutboxEntry
		wakes("a claim", 0, func() { claimed = b.claim(t, noon, upTo(10)...) })
		wakes("a settlement", 0, func() { b.settle(t, abandons(claimed[0])) })
		wakes("a requeue of nothing", 0, func() { b.requeue(t, "e0001") })
		wakes("a requeue", 1, func() { b.requeue(t, "e0000") })
	})
}

func TestAClaimOfManyTakesIsComplete(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		var takes []domain.Take
		for i := range 450 {
			entry := toErase(t, fmt.Sprintf("e%03d", i), "7", time.Duration(i)*time.Second)
			entry.Resolver = entry.EntryID
			b.enqueue(t, entry)
			takes = append(takes, domain.Take{Resolver: entry.Resolver, Operation: entry.Operation, Fresh: 1, Retries: 1})
		}
		if claimed := b.claim(t, noon, takes...); len(claimed) != len(takes) {
			t.Errorf("%d were claimed", len(claimed))
		}
	})
}
