package porttest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/ports"
)

// try runs fn in a separate session and returns the error of the session. A session that blocks fails after the
// patience of the store, as in do.
func try(t testing.TB, store Store, fn func(context.Context, ports.Session) error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), store.patience)
	defer cancel()
	return store.Sessions.Do(ctx, fn)
}

// errUndo is an error of fn that rolls its session back.
var errUndo = errors.New("undo")

// undo runs fn in a separate session and rolls the session back after fn has succeeded.
func undo(t testing.TB, store Store, fn func(context.Context, ports.Session) error) {
	t.Helper()
	err := try(t, store, func(ctx context.Context, s ports.Session) error {
		if err := fn(ctx, s); err != nil {
			return err
		}
		return errUndo
	})
	must(t, errors.Is(err, errUndo), "a session that was to be rolled back ended with: %v", err)
}

// isError checks that errors.Is(err, want) is true.
func isError(t testing.TB, what string, err, want error) {
	t.Helper()
	assert(t, errors.Is(err, want), "%s: want the error %v, got %v", what, want, err)
}

// concurrently starts a goroutine that calls fn after begin was called. end calls begin and waits until fn returns. A
// case defers end, so that no goroutine outlives the case.
func concurrently(fn func()) (begin, end func()) {
	begun := make(chan struct{})
	begin = sync.OnceFunc(func() { close(begun) })
	var running sync.WaitGroup
	running.Go(func() {
		<-begun
		fn()
	})
	return begin, func() {
		begin()
		running.Wait()
	}
}

// moment is the time for which a case waits for an event that must not happen. It is also the time after which a case
// stops waiting for an event that may happen later in a correct store.
const moment = 50 * time.Millisecond

// arrives receives a value from the channel. It returns false if no value arrives in time.
func arrives[T any](c <-chan T, in time.Duration) (value T, ok bool) {
	select {
	case value = <-c:
		return value, true
	case <-time.After(in):
		return value, false
	}
}
