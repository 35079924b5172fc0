package erasure_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/erasure"
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

var unpaid = &domain.RefusalError{Detail: "An invoice is not paid."}

// The hook Before is called after the subject has been locked. If the hook fails, an event records the failure even
// though the session rolls back, and no step follows.
func TestAHookBeforeComesFirstAndMayFailTheErasure(t *testing.T) {
	for name, c := range map[string]struct {
		do    func() error
		is    error  // nil if the error is *hook.Panicked
		class string // empty for a success
	}{
		"a success":        {func() error { return nil }, nil, ""},
		"a foreign error":  {func() error { return errBoom }, errBoom, "internal"},
		"an error of ours": {func() error { return domain.ErrConflict }, domain.ErrConflict, "conflict"},
		"a refusal":        {func() error { return unpaid }, unpaid, "refused"},
		"a wrong refusal": {
			func() error { return &domain.RefusalError{Status: 200} }, domain.ErrConfiguration,
			"configuration",
		},
		"a panic":           {func() error { panic("zoe@example.org") }, nil, "panic"},
		"an error as panic": {func() error { panic(errBoom) }, nil, "panic"},
		"a nil map":         {func() error { into(nil)["zoe@example.org"] = 1; return nil }, nil, "panic"},
		"a wrapped error":   {func() error { return errors.Join(errBoom, context.Canceled) }, context.Canceled, "canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			var w world
			calls := 0
			w = newConfigured(t, func(config *erasure.Config) {
				config.Before = func(_ context.Context, s ports.Session, subject domain.Subject) error {
					if calls++; s != w.Session || !reflect.DeepEqual(subject, w.Subject) {
						t.Errorf("the hook has the subject %v", subject)
					}
					subject.Refs[0].Value = "changed" // changes only a copy
					return c.do()
				}
			}, []string{"desk"}, ref("desk", "d-1"))
			w.allowStores()
			order := []*gomock.Call{w.locks(), w.requested("id-1", 1, 1)}
			if c.class == "" {
				w.Outbox.EXPECT().Enqueue(gomock.Any(), gomock.Any())
				gomock.InOrder(append(order, w.applies(0, 0, 0), w.succeeded(0, 0, 0), w.completed("id-6", 0, 0, 0, 1, ""))...)
				if _, err := w.Erase(t.Context(), w.Session, w.Subject); err != nil {
					t.Error(err)
				}
			} else {
				gomock.InOrder(append(order, w.Audit.EXPECT().AppendEvidence(gomock.Any(),
					w.Event("id-2", "erasure_step_failed", domain.Payload{"target": "hook", "error": c.class}),
				).Return(errors.New("evidence")))...) // must not be returned
				result, err := w.Erase(t.Context(), w.Session, w.Subject)
				if err == nil || c.is != nil && !errors.Is(err, c.is) || !reflect.DeepEqual(result, domain.ErasureResult{}) {
					t.Errorf("got %+v, %v", result, err)
				}
				if c.is == nil && err.Error() != "habeas: a hook panicked" {
					t.Errorf("the error is %q", err)
				}
			}
			if calls != 1 || w.Subject.Refs[0].Value != "d-1" {
				t.Errorf("%d calls, and the subject is %v", calls, w.Subject)
			}
		})
	}
}

func TestTheHookAfterIsCalledAfterTheCommit(t *testing.T) {
	for name, panics := range map[string]bool{"a success": false, "a panic": true} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			w := newConfigured(t, func(config *erasure.Config) {
				config.After = func(_ context.Context, subject domain.Subject, result domain.ErasureResult) {
					if calls++; subject.ID.String() != "42" || result.Deleted["sessions"] != 3 {
						t.Errorf("the hook has %v, %+v", subject, result)
					}
					result.Deleted["sessions"] = 7 // changes only a copy
					if panics {
						panic("zoe@example.org")
					}
				}
			}, nil)
			w.allowStores()
			gomock.InOrder(w.locks(), w.requested("id-1", 0, 0), w.applies(3, 1, 1), w.succeeded(3, 1, 1),
				w.completed("id-5", 3, 1, 1, 0, ""))
			session := &notifying{MockSession: w.Session}
			result, err := w.Erase(t.Context(), session, w.Subject)
			if err != nil || calls != 0 || len(session.after) != 1 {
				t.Fatalf("%v: %d calls before the commit, %d functions for after its end", err, calls, len(session.after))
			}
			session.after[0](t.Context(), domain.ErrConflict)
			if calls != 0 {
				t.Errorf("%d calls although the session has failed", calls)
			}
			session.after[0](t.Context(), nil)
			if calls != 1 || result.Deleted["sessions"] != 3 {
				t.Errorf("%d calls, and the result is %+v", calls, result)
			}
		})
	}
}

func TestTheObserverDoesNotWaitForTheHookAfter(t *testing.T) {
	recorder := &observed.Recorder{}
	w := newConfigured(t, func(config *erasure.Config) {
		config.Observer = recorder
		config.After = func(context.Context, domain.Subject, domain.ErasureResult) { recorder.Want(t, "erasure: ok") }
	}, nil)
	w.allowStores()
	gomock.InOrder(w.locks(), w.requested("id-1", 0, 0), w.applies(0, 0, 0), w.succeeded(0, 0, 0),
		w.completed("id-5", 0, 0, 0, 0, ""))
	session := &notifying{MockSession: w.Session}
	if _, err := w.Erase(t.Context(), session, w.Subject); err != nil || len(session.after) != 2 {
		t.Fatalf("%v: %d functions for after its end", err, len(session.after))
	}
	for _, fn := range session.after {
		fn(t.Context(), nil)
	}
}

func TestAnErasureThatFailsCallsNoHookAfter(t *testing.T) {
	w := newConfigured(t, func(config *erasure.Config) {
		config.After = func(context.Context, domain.Subject, domain.ErasureResult) { t.Error("the hook is called") }
	}, nil)
	w.allowStores()
	gomock.InOrder(w.locks(), w.requested("id-1", 0, 0), w.appliesUntil(0, errBoom),
		w.failed("id-2", deleteSessions, "internal"))
	session := &notifying{MockSession: w.Session}
	if _, err := w.Erase(t.Context(), session, w.Subject); !errors.Is(err, errBoom) || len(session.after) > 0 {
		t.Errorf("%v: %d functions for after its end", err, len(session.after))
	}
}

// into returns its argument.
func into(m map[string]int) map[string]int { return m }
