package memory_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func TestEnqueuedIsCalledAfterTheCommit(t *testing.T) {
	calls := 0
	id := subject(t, "a", "1")
	var store *memory.Store
	store = newStore(t, memory.Options{Enqueued: func() {
		calls++
		do(t, store, func(ctx context.Context, s ports.Session) error { // the entry is committed, and the lock is free
			counts, err := s.OutboxAdmin().Counts(ctx)
			must(t, err)
			if counts[domain.OutboxPending] != 1 {
				t.Errorf("called with %v", counts)
			}
			_, err = s.Subjects().Lock(ctx, id, noon)
			return err
		})
	}})
	expect := func(want int, operation string, fn func(context.Context, ports.Session) error) {
		t.Helper()
		calls = 0
		_ = store.Do(t.Context(), fn)
		if calls != want {
			t.Errorf("%s: called %d times, want %d", operation, calls, want)
		}
	}
	expect(0, "a rollback", func(ctx context.Context, s ports.Session) error {
		must(t, s.Outbox().Enqueue(ctx, toErase("e", id)))
		return errBoom
	})
	expect(0, "enqueuing nothing", func(ctx context.Context, s ports.Session) error { return s.Outbox().Enqueue(ctx) })
	expect(1, "enqueuing", func(ctx context.Context, s ports.Session) error {
		return s.Outbox().Enqueue(ctx, toErase("e", id))
	})
	expect(0, "requeuing an entry that is not abandoned", func(ctx context.Context, s ports.Session) error {
		_, err := s.OutboxAdmin().Requeue(ctx, []string{"e"})
		return err
	})
	do(t, store, func(ctx context.Context, s ports.Session) error {
		claimed, err := s.Outbox().Claim(ctx, domain.ClaimQuery{
			Takes: []domain.Take{{Resolver: "desk", Operation: domain.OperationErase, Fresh: 1}}, Now: noon,
			LeaseUntil: noon.Add(time.Minute), LeaseToken: "lease",
		})
		must(t, err)
		abandoned := domain.Settlement{Entry: claimed[0], Status: domain.OutboxAbandoned, LastError: "refused"}
		_, err = s.Outbox().Settle(ctx, []domain.Settlement{abandoned})
		return err
	})
	expect(1, "requeuing", func(ctx context.Context, s ports.Session) error {
		_, err := s.OutboxAdmin().Requeue(ctx, []string{"e"})
		return err
	})
}

func TestAValueThatJSONCannotEncodeIsRefused(t *testing.T) {
	store, id := newShop(t), subject(t, "a", "1")
	err := store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		unreadable := toErase("n", id)
		unreadable.Operation = domain.OperationRectify
		unreadable.Corrections = domain.Corrections{domain.CategoryContact: math.NaN()}
		if err := s.Outbox().Enqueue(ctx, toErase("e", id), unreadable); err == nil {
			t.Error("a value that JSON cannot encode was accepted")
		}
		return nil
	})
	if err == nil || len(store.Entries()) > 0 {
		t.Errorf("the session was partially committed: %v", err)
	}
}
