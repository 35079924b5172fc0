package porttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/ports"
)

func sessionCallsAfterItsCommit(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	var calls []string
	note := func(s ports.Session, name string) {
		s.AfterEnd(func(ctx context.Context, err error) {
			if err != nil {
				return
			}
			trail := read(t, store, func(ctx context.Context, s ports.Session) (int, error) {
				events, err := s.Audit().Trail(ctx, id)
				return len(events), err
			})
			calls = append(calls, fmt.Sprint(name, " of ", trail))
			if err := store.Sessions.Do(ctx, func(context.Context, ports.Session) error { return nil }); err != nil {
				t.Errorf("a function of AfterEnd cannot open a session: %v", err)
			}
		})
	}
	for _, err := range []error{errUndo, nil} {
		ended := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			note(s, "first")
			if err := s.Audit().Append(ctx, event(fmt.Sprint("event ", err), id)); err != nil {
				return err
			}
			note(s, "second")
			if len(calls) > 0 {
				t.Errorf("%v were called without an error before the commit", calls)
			}
			return err
		})
		assert(t, errors.Is(ended, err), "a session ended with: %v", ended)
		if err != nil && len(calls) > 0 {
			t.Errorf("after a rollback %v were called without an error", calls)
		}
	}
	if want := []string{"first of 1", "second of 1"}; !slices.Equal(calls, want) {
		t.Errorf("after a commit with one event %v were called, want %v", calls, want)
	}
}
