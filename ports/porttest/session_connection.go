package porttest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/habeas-data/habeas/ports"
)

func sessionOpensNoConnectionBeforeItsFirstStatement(t testing.TB, h StoreHarness) {
	store := h.open(t)
	requireHook(t, store.Connections != nil, "Connections")
	id, idle := subject(t, "acme", 1), store.Connections()
	do(t, store, func(ctx context.Context, s ports.Session) error {
		opened := store.Connections() - idle
		assert(t, opened == 0, "the session has opened %d connections before anything was done in it", opened)
		s.Consents()
		s.Restrictions()
		s.Subjects()
		s.Outbox()
		s.Audit()
		opened = store.Connections() - idle
		assert(t, opened == 0, "the session has opened %d connections to return its stores", opened)
		if _, err := s.Subjects().Lock(ctx, id, noon); err != nil {
			return err
		}
		assert(t, store.Connections() > idle,
			"Store.Connections does not see the connection of a session that has locked a subject")
		return nil
	})
}

func sessionLeavesNoConnectionBehind(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	requireHook(t, store.Connections != nil, "Connections")
	idle := store.Connections()
	ending := func(how string, end func(ctx context.Context, cancel func(), s ports.Session) error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		defer func() {
			_ = recover()
			h.eventually(t, "giving back the connection of a session that ended with "+how, func() bool {
				return store.Connections() <= idle
			})
		}()
		_ = store.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
			if _, err := s.Subjects().Lock(ctx, id, noon); err != nil {
				return err
			}
			if _, err := countRows(ctx, s, id); err != nil {
				return err
			}
			return end(ctx, cancel, s)
		})
	}
	ending("a commit", func(context.Context, func(), ports.Session) error { return nil })
	ending("an error", func(context.Context, func(), ports.Session) error { return errFailure })
	ending("a panic", func(context.Context, func(), ports.Session) error { panic(errFailure) })
	ending("its context", func(_ context.Context, cancel func(), _ ports.Session) error { cancel(); return nil })
	ending("a failed statement", func(ctx context.Context, _ func(), s ports.Session) error {
		_ = s.Audit().Append(ctx, event("twice", id), event("twice", id))
		_, _ = s.Audit().Trail(ctx, id)
		return nil
	})
	ending("a panic after evidence", func(ctx context.Context, _ func(), s ports.Session) error {
		panic(errors.Join(errFailure, s.Audit().AppendEvidence(ctx, event("evidence", id))))
	})
}

// eventually waits until done returns true. A store may need some time, for example because it closes a connection in
// the background.
func (h StoreHarness) eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	deadline, tick := time.After(h.patience()), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("%s took longer than %v", what, h.patience())
		case <-tick.C:
		}
	}
}
