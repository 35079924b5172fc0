package saga_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// settableClock is a clock that a test sets.
type settableClock struct {
	mu sync.Mutex
	at time.Time
}

func (h *settableClock) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *settableClock) advance(to time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if to.After(h.at) {
		h.at = to
	}
}

// enqueued returns an outbox with ofEach[i] pending erasures of subject i.
func enqueued(t *testing.T, ofEach ...int) *memory {
	t.Helper()
	m := &memory{entries: map[string]domain.OutboxEntry{}}
	for i, entries := range ofEach {
		subject := fixture.MustID(t, fmt.Sprint(i))
		for j := range entries {
			id := fmt.Sprintf("%d-%d", i, j)
			m.entries[id] = domain.OutboxEntry{
				EntryID: id, SubjectID: subject, Resolver: "desk", Operation: domain.OperationErase,
				Status: domain.OutboxPending, EnqueuedAt: noon, Ref: domain.SubjectRef{Kind: "desk", Value: "contact"},
			}
		}
	}
	return m
}

// once checks that every entry has succeeded, that the audit trail has one success for each entry, and that no event of
// a subject follows the completion of its erasure.
func (m *memory) once(t *rapid.T, subjects int) {
	t.Helper()
	if open := m.open(); len(open) > 0 {
		t.Fatalf("left is %+v", open)
	}
	events := m.events()
	if events[domain.EventErasureStepSucceeded] != len(m.entries) || events[domain.EventErasureCompleted] != subjects {
		t.Fatalf("%d entries of %d subjects left %v", len(m.entries), subjects, events)
	}
	completed := map[domain.SubjectID]bool{}
	for _, event := range m.trail {
		if completed[event.SubjectRef] {
			t.Fatalf("%s comes after the completion, or again", event.EventType)
		}
		completed[event.SubjectRef] = event.EventType == domain.EventErasureCompleted
	}
}

// noDeadline hides the deadline of a test, because a test must not read the deadline in a synctest bubble.
type noDeadline struct{ testing.TB }

// script lists the outcomes of the calls of an entry in order. Further calls succeed.
type script []string

// play simulates one call of a resolver with the given outcome from a script.
func play(ctx context.Context, what string, stop func()) (bool, error) {
	switch what {
	case "hangs":
		<-ctx.Done()
		return false, ctx.Err()
	case "panics":
		panic(errBoom)
	case "retries later":
		return false, &domain.RetryLaterError{After: 2 * time.Hour}
	case "stops":
		stop()
	}
	return false, errBoom
}

// Every entry succeeds exactly once, even if some of its calls fail and some sessions are lost. A lost session
// simulates a process that dies, or loses its database connection, between the call and the settlement (the write of
// the outcome).
func TestAnyScriptOfTransientFailuresShorterThanTheLimitConverges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(noDeadline{t}, func(draw *rapid.T) {
			limit := rapid.IntRange(3, 8).Draw(draw, "attempts")
			lost := rapid.IntRange(0, 2).Draw(draw, "lost sessions")
			ofEach := rapid.SliceOfN(rapid.IntRange(1, 3), 1, 4).Draw(draw, "entries of each subject")
			m := enqueued(t, ofEach...)
			scripts := map[string]script{}
			for _, id := range slices.Sorted(maps.Keys(m.entries)) {
				scripts[id] = rapid.SliceOfN(rapid.SampledFrom(
					[]string{"fails", "hangs", "panics", "retries later", "stops"}), 0, limit-1-lost).Draw(draw, id)
			}
			m.loses = func() bool {
				loses := lost > 0 && rapid.Bool().Draw(draw, "loses")
				if loses {
					lost--
				}
				return loses
			}

			var mu sync.Mutex
			calls, stop := map[string]int{}, func() {}
			system := desk(t, func(ctx context.Context, _ domain.SubjectRef, id string) (bool, error) {
				mu.Lock()
				call, halt := calls[id], stop
				calls[id]++
				mu.Unlock()
				if call >= len(scripts[id]) {
					return call > len(scripts[id]), nil
				}
				return play(ctx, scripts[id][call], halt)
			})
			now := &settableClock{at: noon}
			runner, err := saga.NewRunner(saga.Config{
				Sessions: m, Clock: now, IDs: sequence(t), Resolvers: []ports.Resolver{system},
				Options: saga.Options{
					MaxAttempts: limit, CallTimeout: time.Second,
					Batch:       rapid.IntRange(1, 12).Draw(draw, "batch"),
					Concurrency: rapid.IntRange(1, 4).Draw(draw, "concurrency"),
				},
			})
			must(t, err)
			settled, want := 0, len(m.entries)
			for round := 0; len(m.open()) > 0; round++ {
				if round == 500 {
					draw.Fatalf("does not come to an end: %+v", m.open())
				}
				ctx, cancel := context.WithCancel(t.Context())
				mu.Lock()
				stop = cancel
				mu.Unlock()
				done, _ := runner.RunOnce(ctx) // an error is a lost session
				cancel()
				settled += done
				now.advance(due(m.open()))
			}
			m.once(draw, len(ofEach))
			want += m.events()[domain.EventErasureStepFailed]
			if settled != want {
				draw.Fatalf("%d were said to be settled, but %d were", settled, want)
			}
			for id, entry := range m.entries {
				if entry.Attempts > limit || entry.Attempts < calls[id] || calls[id] <= len(scripts[id]) {
					draw.Fatalf("%d calls and %d attempts for %v", calls[id], entry.Attempts, scripts[id])
				}
			}
		})
	})
}

// due returns the earliest time at which an entry is due.
func due(entries []domain.OutboxEntry) (first time.Time) {
	for i, entry := range entries {
		if entry.NextAttemptAt == nil {
			return time.Time{} // now
		}
		if i == 0 || entry.NextAttemptAt.Before(first) {
			first = *entry.NextAttemptAt
		}
	}
	return first
}

// If the lease expires during a call, another runner repeats the call. The outcome of the entry is then recorded only
// once.
func TestAnEntryThatIsExecutedOftenIsErasedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(noDeadline{t}, func(draw *rapid.T) {
			ofEach := rapid.SliceOfN(rapid.IntRange(1, 3), 1, 2).Draw(draw, "entries of each subject")
			overtaken := rapid.IntRange(0, 12).Draw(draw, "overtaken calls")
			m, now, ids := enqueued(t, ofEach...), &settableClock{at: noon}, sequence(t)

			var mu sync.Mutex
			var run func()
			settled, calls := 0, 0
			system := desk(t, func(context.Context, domain.SubjectRef, string) (bool, error) {
				mu.Lock()
				calls++
				slow := calls <= overtaken
				mu.Unlock()
				if slow {
					now.advance(now.Now().Add(saga.DefaultLease))
					run()
				}
				return false, nil
			})
			config := saga.Config{Sessions: m, Clock: now, IDs: ids, Resolvers: []ports.Resolver{system}}
			config.MaxAttempts = 100
			config.Batch = rapid.IntRange(1, 6).Draw(draw, "batch")
			config.Concurrency = rapid.IntRange(1, 3).Draw(draw, "concurrency")
			run = func() {
				runner, err := saga.NewRunner(config)
				if err != nil {
					panic(err) // a call cannot fail the test
				}
				done, err := runner.RunOnce(t.Context())
				if err != nil {
					panic(err)
				}
				mu.Lock()
				defer mu.Unlock()
				settled += done
			}
			for round := 0; len(m.open()) > 0; round++ {
				if round == 100 {
					draw.Fatalf("does not come to an end: %+v", m.open())
				}
				run()
				now.advance(due(m.open()))
			}
			m.once(draw, len(ofEach))
			if settled != len(m.entries) || calls < max(len(m.entries), overtaken) {
				draw.Fatalf("%d calls for %d entries, %d settled", calls, len(m.entries), settled)
			}
		})
	})
}
