package rectification_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/internal/tests/observed"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

// notifying is a session that records the functions to call after its end.
type notifying struct {
	*mocks.MockSession
	after []func(context.Context, error)
}

func (n *notifying) AfterEnd(fn func(context.Context, error)) { n.after = append(n.after, fn) }

var (
	writeAge = domain.RectificationStep{Table: "users", Values: []domain.ColumnValue{{Column: "age", Value: int64(7)}}}
	newAge   = domain.Corrections{domain.CategoryIdentity: 7}
)

// The hook Before is called after the lock. If the hook fails, an event records the failure even though the session
// rolls back, and no step follows.
func TestAHookBeforeComesFirstAndMayFailTheRectification(t *testing.T) {
	for name, c := range map[string]struct {
		do    func() error
		is    error  // nil if the error is *hook.Panicked
		class string // empty for a success
	}{
		"a success":        {func() error { return nil }, nil, ""},
		"a foreign error":  {func() error { return errBoom }, errBoom, "internal"},
		"an error of ours": {func() error { return domain.ErrConflict }, domain.ErrConflict, "conflict"},
		"a panic":          {func() error { panic("zoe@example.org") }, nil, "panic"},
	} {
		t.Run(name, func(t *testing.T) {
			var w world
			calls := 0
			w = newConfigured(t, func(config *rectification.Config) {
				config.Before = func(_ context.Context, s ports.Session, subject domain.Subject) error {
					if calls++; s != w.Session || !reflect.DeepEqual(subject, w.Subject) {
						t.Errorf("the hook has the subject %v", subject)
					}
					return c.do()
				}
			}, nil)
			w.allowStores()
			requested := w.requested("id-1", "identity", 1, 0, 0)
			if c.class == "" {
				gomock.InOrder(requested, w.writes(writeAge).Return(int64(1), nil), w.succeeded("id-2", "users", 1),
					w.completed("id-3", 1, 0, ""))
				if _, err := w.RectifySubject(t.Context(), w.Session, w.Subject, newAge); err != nil {
					t.Error(err)
				}
			} else {
				gomock.InOrder(requested, w.failed("id-2", "hook", c.class).Return(errors.New("evidence")))
				result, err := w.RectifySubject(t.Context(), w.Session, w.Subject, newAge)
				if err == nil || c.is != nil && !errors.Is(err, c.is) ||
					!reflect.DeepEqual(result, domain.RectificationResult{}) {
					t.Errorf("got %+v, %v", result, err)
				}
				if c.is == nil && err.Error() != "habeas: a hook panicked" {
					t.Errorf("the error is %q", err)
				}
			}
			if calls != 1 {
				t.Errorf("%d calls", calls)
			}
		})
	}
}

func TestTheHookAfterIsCalledAfterTheCommit(t *testing.T) {
	for name, panics := range map[string]bool{"a success": false, "a panic": true} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			w := newConfigured(t, func(config *rectification.Config) {
				config.After = func(_ context.Context, subject domain.Subject, result domain.RectificationResult) {
					if calls++; subject.ID.String() != "42" || result.Rectified["users"] != 1 {
						t.Errorf("the hook has %v, %+v", subject, result)
					}
					result.Rectified["users"] = 7 // changes only a copy
					if panics {
						panic("zoe@example.org")
					}
				}
			}, nil)
			w.allowStores()
			gomock.InOrder(w.requested("id-1", "identity", 1, 0, 0), w.writes(writeAge).Return(int64(1), nil),
				w.succeeded("id-2", "users", 1), w.completed("id-3", 1, 0, ""))
			session := &notifying{MockSession: w.Session}
			result, err := w.RectifySubject(t.Context(), session, w.Subject, newAge)
			if err != nil || calls != 0 || len(session.after) != 1 {
				t.Fatalf("%v: %d calls before the commit, %d functions for after its end", err, calls, len(session.after))
			}
			session.after[0](t.Context(), domain.ErrConflict)
			if calls != 0 {
				t.Errorf("%d calls although the session has failed", calls)
			}
			session.after[0](t.Context(), nil)
			if calls != 1 || result.Rectified["users"] != 1 {
				t.Errorf("%d calls, and the result is %+v", calls, result)
			}
		})
	}
}

func TestTheObserverDoesNotWaitForTheHookAfter(t *testing.T) {
	recorder := &observed.Recorder{}
	w := newConfigured(t, func(config *rectification.Config) {
		config.Observer = recorder
		config.After = func(context.Context, domain.Subject, domain.RectificationResult) {
			recorder.Want(t, "rectification: ok")
		}
	}, nil)
	w.allowStores()
	gomock.InOrder(w.requested("id-1", "identity", 1, 0, 0), w.writes(writeAge).Return(int64(1), nil),
		w.succeeded("id-2", "users", 1), w.completed("id-3", 1, 0, ""))
	session := &notifying{MockSession: w.Session}
	if _, err := w.RectifySubject(t.Context(), session, w.Subject, newAge); err != nil || len(session.after) != 2 {
		t.Fatalf("%v: %d functions for after its end", err, len(session.after))
	}
	for _, fn := range session.after {
		fn(t.Context(), nil)
	}
}
