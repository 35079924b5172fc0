package porttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/ports"
)

// The case checks nothing if the sessions of the store do not implement ports.CommitNotifier.
func sessionCallsAfterItsCommit(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	var calls []string
	note := func(s ports.Session, name string) (has bool) {
		return ports.AfterCommit(s, func(ctx context.Context) {
			trail := read(t, store, func(ctx context.Context, s ports.Session) (int, error) {
				events, err := s.Audit().Trail(ctx, id)
				return len(events), err
			})
			calls = append(calls, fmt.Sprint(name, " of ", trail))
			if err := store.Sessions.Do(ctx, func(context.Context, ports.Session) error { return nil }); err != nil {
				t.Errorf("a function of AfterCommit cannot open a session: %v", err)
			}
		}) == nil
	}
	has := false
	for _, err := range []error{errUndo, nil} {
		ended := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			has = note(s, "first")
			if err := s.Audit().Append(ctx, event(fmt.Sprint("event ", err), id)); err != nil {
				return err
			}
			note(s, "second")
			if len(calls) > 0 {
				t.Errorf("%v were called before the commit", calls)
			}
			return err
		})
		assert(t, errors.Is(ended, err), "a session ended with: %v", ended)
		if err != nil && len(calls) > 0 {
			t.Errorf("after a rollback %v were called", calls)
		}
	}
	if want := []string{"first of 1", "second of 1"}; has && !slices.Equal(calls, want) {
		t.Errorf("after a commit with one event %v were called, want %v", calls, want)
	}
}
