package porttest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func sessionRollsBackWhenItsContextIsCancelled(t testing.TB, h StoreHarness) {
	h.endsWithItsContext(t, context.WithCancel, context.Canceled)
}

func sessionRollsBackWhenItsDeadlineHasPassed(t testing.TB, h StoreHarness) {
	h.endsWithItsContext(t, withExpiry, context.DeadlineExceeded)
}

// endsWithItsContext checks that Do fails and stores nothing if its context ends while the function that was passed to
// Do returns.
func (h StoreHarness) endsWithItsContext(
	t testing.TB, ending func(context.Context) (context.Context, context.CancelFunc), want error,
) {
	t.Helper()
	store, id := h.openWithAddress(t)
	for what, fn := range map[string]func(context.Context, ports.Session) error{
		"did nothing":    func(context.Context, ports.Session) error { return nil },
		"read":           func(ctx context.Context, s ports.Session) error { return errOf(countRows(ctx, s, id)) },
		"wrote":          func(ctx context.Context, s ports.Session) error { return writeToAllStores(ctx, s, id) },
		"wrote and read": func(ctx context.Context, s ports.Session) error { return writeAndRead(ctx, s, id) },
	} {
		ctx, end := ending(t.Context())
		err := store.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
			defer end()
			return fn(ctx, s)
		})
		assert(t, errors.Is(err, want), "a session that %s returned %v, which is not %v", what, err, want)
	}
	expectRowCounts(t, store, id, countsBefore)
}

// expiring is a context that expires when a case closes its channel. The case therefore does not depend on the clock.
type expiring struct {
	context.Context
	passed chan struct{}
}

func (e expiring) Done() <-chan struct{} { return e.passed }

func (e expiring) Err() error {
	select {
	case <-e.passed:
		return context.DeadlineExceeded
	default:
		return e.Context.Err()
	}
}

func withExpiry(parent context.Context) (ctx context.Context, expire context.CancelFunc) {
	passed := make(chan struct{})
	return expiring{parent, passed}, sync.OnceFunc(func() { close(passed) })
}

func sessionDoesNothingInAContextThatHasEnded(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), noon)
	defer cancel()
	for _, ended := range []context.Context{cancelled, late} {
		for _, swallow := range []bool{false, true} {
			err := store.Sessions.Do(ended, func(ctx context.Context, s ports.Session) error {
				if err := writeToAllStores(ctx, s, id); !swallow {
					return err
				}
				return nil
			})
			assert(t, errors.Is(err, ended.Err()), "Do returned %v, which is not %v", err, ended.Err())
		}
	}
	expectRowCounts(t, store, id, countsBefore)
}

func sessionStopsWaitingWhenItsContextEnds(t testing.TB, h StoreHarness) {
	store := h.open(t)
	id := subject(t, "acme", 1)
	whileLocked(t, store, id, func() {
		ctx, cancel := context.WithTimeout(t.Context(), shortDeadline)
		defer cancel()
		var err error
		h.within(t, "giving up a lock that another session has", func() {
			err = store.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
				return errOf(s.Subjects().Lock(ctx, id, noon))
			})
		})
		assert(t, errors.Is(err, context.DeadlineExceeded), "Do returned %v, which is not %v", err, context.DeadlineExceeded)
	})
}

// whileLocked runs fn while another session holds the lock of the subject.
func whileLocked(t testing.TB, store Store, id domain.SubjectID, fn func()) {
	t.Helper()
	locked, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	lockedOnce := sync.OnceFunc(func() { close(locked) })
	ctx := t.Context()
	go func() {
		ended <- store.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
			if _, err := s.Subjects().Lock(ctx, id, noon); err != nil {
				return err
			}
			lockedOnce()
			<-release
			return nil
		})
	}()
	defer func() {
		close(release)
		if err := <-ended; err != nil {
			t.Errorf("the session that had the lock failed: %v", err)
		}
	}()
	select {
	case <-locked:
		fn()
	case err := <-ended:
		ended <- err
	}
}

// grace is the time for which one session of a case waits for another session. If the other session has not continued
// by then, the case assumes that the store blocks it.
const grace = 250 * time.Millisecond
