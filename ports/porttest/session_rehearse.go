package porttest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// rehearsalPromises are the promises of SessionFactory.Rehearse.
var rehearsalPromises = []promise.Promise[StoreHarness]{
	that(sessionRehearsalLeavesNothing, "A rehearsal stores no write, even if fn fails or panics."),
	that(sessionRehearsalCallsNothingAfterIt, "A rehearsal calls no function of AfterEnd."),
	that(sessionRehearsalSeesItsWrites, "fn of a rehearsal reads its own writes."),
	that(sessionRehearsalReturnsTheErrorOfFn, "Rehearse calls fn once, and the caller gets the error or the panic of fn."),
	that(sessionRehearsalFailsAsItsCommitWould, "Rehearse returns the error that the commit would return."),
	that(sessionRehearsalIsKnownToItsContext, "Rehearsing returns true only for the context of a rehearsal."),
	that(sessionRehearsalIsNeverNested,
		"A rehearsal inside a session, and a session inside a rehearsal, returns ErrSession."),
}

// rehearse calls Rehearse with fn. A rehearsal that blocks fails after StoreHarness.Patience.
func rehearse(t testing.TB, store Store, fn func(context.Context, ports.Session) error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), store.patience)
	defer cancel()
	return store.Sessions.Rehearse(ctx, fn)
}

// writeEverything makes every kind of write. It then reads, because a store must send its buffered writes to the
// database before it reads.
func writeEverything(ctx context.Context, s ports.Session, id domain.SubjectID) error {
	return errors.Join(appendAllKinds(ctx, s, id), writeAndRead(ctx, s, id))
}

// expectNothingStored checks that the store contains no write of writeEverything.
func expectNothingStored(t testing.TB, store Store, id domain.SubjectID) {
	t.Helper()
	expectRowCounts(t, store, id, countsBefore)
	expectRecords(t, "the trail", eventID, trail(t, store, id))
	if store.Entries != nil {
		assert(t, len(store.Entries(t)) == 0, "an entry is left in the outbox")
	}
	if store.Erased != nil {
		_, marked := store.Erased(t, id)
		assert(t, !marked, "the mark of an erasure is left")
	}
}

func sessionRehearsalLeavesNothing(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	for _, end := range []error{nil, errFailure, &domain.Error{Code: domain.ErrConflict}} {
		var late ports.Session
		err := rehearse(t, store, func(ctx context.Context, s ports.Session) error {
			late = s
			return errors.Join(writeEverything(ctx, s, id), end)
		})
		assert(t, errors.Is(err, end), "a rehearsal whose fn returned %v ended with: %v", end, err)
		expectNothingStored(t, store, id)
		isError(t, "a rehearsal that is used after its end", late.Audit().Append(t.Context(), event("late", id)),
			domain.ErrSession)
	}
	func() {
		defer func() { _ = recover() }()
		_ = rehearse(t, store, func(ctx context.Context, s ports.Session) error {
			panic(writeEverything(ctx, s, id))
		})
	}()
	expectNothingStored(t, store, id)
	do(t, store, func(ctx context.Context, s ports.Session) error { return writeToAllStores(ctx, s, id) })
	expectRowCounts(t, store, id, countsAfter)
}

func sessionRehearsalCallsNothingAfterIt(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	called := false
	err := rehearse(t, store, func(ctx context.Context, s ports.Session) error {
		s.AfterEnd(func(context.Context, error) { called = true })
		return writeEverything(ctx, s, id)
	})
	assert(t, err == nil, "the rehearsal failed: %v", err)
	assert(t, !called, "a function of AfterEnd was called after a rehearsal")
}

func sessionRehearsalSeesItsWrites(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	seen := countsAfter
	err := rehearse(t, store, func(ctx context.Context, s ports.Session) (err error) {
		if err := writeToAllStores(ctx, s, id); err != nil {
			return err
		}
		seen, err = countRows(ctx, s, id)
		return err
	})
	assert(t, err == nil && seen == countsAfter,
		"a rehearsal sees %+v of its own writes, want %+v: %v", seen, countsAfter, err)
}

func sessionRehearsalReturnsTheErrorOfFn(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	calls := 0
	given := fmt.Errorf("%w: %w", errFailure, errCause)
	err := rehearse(t, store, func(ctx context.Context, s ports.Session) error {
		calls++
		return errors.Join(writeAndRead(ctx, s, id), given)
	})
	var found *failure
	assert(t, errors.Is(err, errCause) && errors.As(err, &found),
		"a rehearsal returned %v instead of the error of fn", err)
	assert(t, calls == 1, "fn of a rehearsal was called %d times", calls)
	defer func() {
		assert(t, recover() == any(errFailure), "a rehearsal did not panic with the value of fn")
	}()
	_ = rehearse(t, store, func(context.Context, ports.Session) error { panic(errFailure) })
}

func sessionRehearsalFailsAsItsCommitWould(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	taken := event("taken-event", id)
	do(t, store, func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, taken) })
	for name, conflicts := range map[string]func(ctx context.Context, s ports.Session) error{
		"an append alone": func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, taken) },
		"an append at the end": func(ctx context.Context, s ports.Session) error {
			return errors.Join(writeToAllStores(ctx, s, id), s.Audit().Append(ctx, taken))
		},
		"an error that is swallowed": func(ctx context.Context, s ports.Session) error {
			_ = s.Audit().Append(ctx, taken)
			_, _ = s.Audit().Trail(ctx, id)
			return nil
		},
	} {
		isError(t, "a rehearsal with "+name, rehearse(t, store, conflicts), domain.ErrConflict)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := store.Sessions.Rehearse(ctx, func(ctx context.Context, s ports.Session) error {
		defer cancel()
		return writeToAllStores(ctx, s, id)
	})
	isError(t, "a rehearsal whose context was cancelled", err, context.Canceled)
	cancel()
	expectRowCounts(t, store, id, countsBefore)
}

func sessionRehearsalIsKnownToItsContext(t testing.TB, h StoreHarness) {
	store := h.open(t)
	known := true
	err := rehearse(t, store, func(ctx context.Context, _ ports.Session) error {
		known = ports.Rehearsing(ctx)
		return nil
	})
	assert(t, err == nil && known, "Rehearsing is false for the context of a rehearsal, which ended with: %v", err)
	do(t, store, func(ctx context.Context, _ ports.Session) error {
		assert(t, !ports.Rehearsing(ctx), "Rehearsing is true for the context of Do")
		return nil
	})
}

func sessionRehearsalIsNeverNested(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	write := func(ctx context.Context, s ports.Session) error { return writeToAllStores(ctx, s, id) }
	inside := map[string]func(ctx context.Context) error{
		"a rehearsal": func(ctx context.Context) error { return store.Sessions.Rehearse(ctx, write) },
		"a session":   func(ctx context.Context) error { return store.Sessions.Do(ctx, write) },
	}
	for name, run := range inside {
		err := rehearse(t, store, func(ctx context.Context, _ ports.Session) error {
			isError(t, name+" inside a rehearsal", run(ctx), domain.ErrSession)
			return nil
		})
		assert(t, err == nil, "the rehearsal around %s failed: %v", name, err)
	}
	do(t, store, func(ctx context.Context, _ ports.Session) error {
		isError(t, "a rehearsal inside a session", inside["a rehearsal"](ctx), domain.ErrSession)
		return nil
	})
	expectRowCounts(t, store, id, countsBefore)
}
