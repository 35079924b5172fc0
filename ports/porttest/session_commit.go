package porttest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/habeas-data/habeas/ports"
)

func sessionCommitsEverything(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	expectRowCounts(t, store, id, countsBefore)
	do(t, store, func(ctx context.Context, s ports.Session) error { return writeToAllStores(ctx, s, id) })
	expectRowCounts(t, store, id, countsAfter)
}

// failure is an error type that only the application knows.
type failure struct{ text string }

func (f *failure) Error() string { return f.text }

var (
	errFailure = &failure{"the application failed"}
	errCause   = errors.New("the cause")
)

func sessionRollsEverythingBackOnAnError(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	err := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if err := writeAndRead(ctx, s, id); err != nil {
			return err
		}
		return errFailure
	})
	assert(t, err != nil, "Do succeeded although fn failed")
	expectRowCounts(t, store, id, countsBefore)
	do(t, store, func(ctx context.Context, s ports.Session) error { return writeToAllStores(ctx, s, id) })
	expectRowCounts(t, store, id, countsAfter)
}

func sessionReturnsTheErrorThatItWasGiven(t testing.TB, h StoreHarness) {
	store := h.open(t)
	for what, write := range map[string]bool{"read nothing": false, "wrote": true} {
		given := fmt.Errorf("%w: %w", &failure{what}, errCause)
		err := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			if write {
				if _, err := s.Subjects().Lock(ctx, subject(t, "acme", 1), noon); err != nil {
					return err
				}
			}
			return given
		})
		var found *failure
		assert(t, errors.Is(err, given) && errors.Is(err, errCause),
			"errors.Is does not see the error of a session that %s", what)
		assert(t, errors.As(err, &found) && found.text == what, "errors.As does not see the error of a session that %s", what)
	}
}

// panicIn runs a session whose function calls fn and then panics with the value. It returns the value with which Do
// panics.
func panicIn(t testing.TB, store Store, value any, fn func(context.Context, ports.Session) error) (recovered any) {
	t.Helper()
	defer func() { recovered = recover() }()
	err := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if err := fn(ctx, s); err != nil {
			return err
		}
		panic(value)
	})
	t.Errorf("Do returned %v although fn panicked", err)
	return nil
}

func sessionRollsEverythingBackOnAPanic(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	panicIn(t, store, errFailure, func(ctx context.Context, s ports.Session) error { return writeAndRead(ctx, s, id) })
	expectRowCounts(t, store, id, countsBefore)
}

func sessionLetsAPanicGoOn(t testing.TB, h StoreHarness) {
	store := h.open(t)
	recovered := panicIn(t, store, errFailure, func(context.Context, ports.Session) error { return nil })
	assert(t, recovered == any(errFailure),
		"Do panicked with a %T, which is not the value that fn panicked with", recovered)
}

func sessionRollsBackWhenItsGoroutineExits(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	ctx := t.Context()
	h.within(t, "ending a session whose goroutine exits", func() {
		_ = store.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
			if err := writeToAllStores(ctx, s, id); err != nil {
				return err
			}
			runtime.Goexit() // t.FailNow ends its goroutine in this way
			return nil
		})
	})
	expectRowCounts(t, store, id, countsBefore)
	do(t, store, func(ctx context.Context, s ports.Session) error { return writeToAllStores(ctx, s, id) })
	expectRowCounts(t, store, id, countsAfter)
}
