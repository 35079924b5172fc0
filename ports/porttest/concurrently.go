package porttest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/ports"
)

// try runs fn in a separate session and returns the error of the session. A session that blocks is cancelled after
// StoreHarness.Patience.
func try(t testing.TB, store Store, fn func(context.Context, ports.Session) error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), store.patience)
	defer cancel()
	return store.Sessions.Do(ctx, fn)
}

var errUndo = errors.New("undo")

// undo runs fn in a separate session and then rolls the session back.
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

func isError(t testing.TB, what string, err, want error) {
	t.Helper()
	assert(t, errors.Is(err, want), "%s: want the error %v, got %v", what, want, err)
}

// concurrently starts a goroutine that waits for a call of begin() and then calls fn. end() calls begin() and waits
// until fn has returned. A case defers end(), so that the goroutine ends before the case does.
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

// moment is the time for which a case waits for an event that must not happen, or that a correct store may delay.
const moment = 50 * time.Millisecond

// receiveWithin receives a value from the channel. It returns false if no value arrives within the limit.
func receiveWithin[T any](c <-chan T, limit time.Duration) (value T, ok bool) {
	select {
	case value = <-c:
		return value, true
	case <-time.After(limit):
		return value, false
	}
}
