package porttest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/ports"
)

// try runs fn in a session of its own, which may fail. What waits for ever fails, as it does for do.
func try(t testing.TB, store Store, fn func(context.Context, ports.Session) error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), store.patience)
	defer cancel()
	return store.Sessions.Do(ctx, fn)
}

// errUndo rolls a session back.
var errUndo = errors.New("undo")

// undo runs fn in a session of its own, which is rolled back once fn has succeeded.
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

// isError checks that an error is one of a code.
func isError(t testing.TB, what string, err, want error) {
	t.Helper()
	assert(t, errors.Is(err, want), "%s: want the error %v, got %v", what, want, err)
}

// beside makes fn run beside what calls begin, once; end waits for it. A case defers end, so that nothing outlives it.
func beside(fn func()) (begin, end func()) {
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

// moment is how long a case looks out for what must not come. A store that is right may be slower or faster than that.
const moment = 50 * time.Millisecond

// arrives returns what comes from the channel, and whether it does so in time.
func arrives[T any](c <-chan T, in time.Duration) (value T, ok bool) {
	select {
	case value = <-c:
		return value, true
	case <-time.After(in):
		return value, false
	}
}
