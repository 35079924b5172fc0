package memory_test

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/ports"
)

func TestARehearsalWakesNoWorker(t *testing.T) {
	woken := 0
	store, id := newStore(t, memory.Options{Enqueued: func() { woken++ }}), subject(t, "a", "1")
	enqueue := func(ctx context.Context, s ports.Session) error { return s.Outbox().Enqueue(ctx, toErase("e-1", id)) }
	must(t, store.Rehearse(t.Context(), enqueue))
	if woken != 0 || len(store.Entries()) > 0 {
		t.Errorf("woken %d times, for %d entries", woken, len(store.Entries()))
	}
	do(t, store, enqueue)
	if woken != 1 || len(store.Entries()) != 1 {
		t.Errorf("afterwards: woken %d times, for %d entries", woken, len(store.Entries()))
	}
}
