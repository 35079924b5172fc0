package porttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

func sessionReportsItsEnd(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	for end, want := range map[string]string{"a commit": "nil", "an error": "its error", "a panic": "an error"} {
		var calls []string
		note := func(s ports.Session, name string) {
			s.AfterEnd(func(ctx context.Context, err error) {
				calls = append(calls, name+" "+endOf(err))
				if err := store.Sessions.Do(ctx, func(context.Context, ports.Session) error { return nil }); err != nil {
					t.Errorf("a function of AfterEnd cannot open a session: %v", err)
				}
			})
		}
		run := func(ctx context.Context, s ports.Session) error {
			note(s, "first")
			if err := s.Audit().Append(ctx, event("event of "+end, id)); err != nil {
				return err
			}
			note(s, "second")
			if len(calls) > 0 {
				t.Errorf("%v were called before the end", calls)
			}
			if end == "an error" {
				return errFailure
			}
			return nil
		}
		if end == "a panic" {
			panicIn(t, store, errFailure, run)
		} else {
			err := store.Sessions.Do(t.Context(), run)
			assert(t, (err == nil) == (end == "a commit"), "a session that ends with %s returned %v", end, err)
		}
		if want := []string{"first " + want, "second " + want}; !slices.Equal(calls, want) {
			t.Errorf("after %s %v were called, want %v", end, calls, want)
		}
	}
}

func endOf(err error) string {
	switch {
	case err == nil:
		return "nil"
	case errors.Is(err, errFailure):
		return "its error"
	default:
		return "an error"
	}
}

func sessionIsObserved(t testing.TB, h StoreHarness) {
	store, id := h.openWithAddress(t)
	requireHook(t, store.Observed != nil, "Observed")
	observer := &sessionObserver{}
	watched := Store{Sessions: store.Observed(t, observer), patience: store.patience}
	run := func(err error) func(context.Context, ports.Session) error {
		return func(ctx context.Context, s ports.Session) error {
			assert(t, ctx.Value(observer) != nil, "the context of fn does not derive from the context of the activity")
			return errors.Join(s.Audit().AppendEvidence(ctx, event(fmt.Sprint("observed ", err), id)), err)
		}
	}
	for _, err := range []error{nil, domain.ErrConflict, context.Canceled} {
		_ = watched.Sessions.Do(t.Context(), run(err))
	}
	panicIn(t, watched, errFailure, run(nil))
	want := []string{"session ok 0", "session conflict 0", "session canceled 0", "session panic 0"}
	assert(t, slices.Equal(observer.ended, want) && observer.begun == len(want),
		"%d sessions began and %v were observed, want %v", observer.begun, observer.ended, want)
}

// sessionObserver records the end of each activity. A context that Start returns has a value whose key is the observer,
// so that a case can recognize the context.
type sessionObserver struct {
	mu    sync.Mutex
	begun int
	ended []string
}

func (o *sessionObserver) Start(ctx context.Context, a observation.Activity) (context.Context,
	func(observation.ActivityEnd),
) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begun++
	return context.WithValue(ctx, o, true), func(e observation.ActivityEnd) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.ended = append(o.ended, fmt.Sprint(a.Kind, " ", e.Outcome, " ", e.Retries))
	}
}

func (o *sessionObserver) Observe(context.Context, observation.Observation) {}

func sessionFactoryIsProbed(t testing.TB, h StoreHarness) {
	store := h.open(t)
	err := store.Sessions.Probe(t.Context())
	assert(t, err == nil, "the probe of a store that is ready failed: %v", err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err = store.Sessions.Probe(ended)
	assert(t, errors.Is(err, context.Canceled), "a probe whose context has ended returned %v", err)
	if store.Unreachable == nil {
		return
	}
	err = store.Unreachable(t).Sessions.Probe(t.Context())
	assert(t, errors.Is(err, domain.ErrUnavailable), "a probe of a store that cannot be reached returned %v", err)
}
