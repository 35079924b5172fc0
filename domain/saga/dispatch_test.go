package saga_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/system"
)

// bubble is the clock of a synctest bubble. Its time passes only while all goroutines wait.
var bubble system.Clock

// since returns the time that has passed in the bubble.
func since(start time.Time) time.Duration { return bubble.Now().Sub(start) }

// takes returns an erasure that succeeds after the duration d. If its context ends earlier, the erasure fails.
func takes(d time.Duration) erases {
	return func(ctx context.Context, _ domain.SubjectRef, _ string) (bool, error) {
		if d == 0 { // with the race detector, a select on an expired timer of a bubble can crash the runtime of Go 1.26
			return false, ctx.Err()
		}
		select {
		case <-time.After(d):
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// statuses returns the status with which each entry was settled.
func statuses(settled [][]domain.Settlement) map[string]domain.OutboxStatus {
	made := map[string]domain.OutboxStatus{}
	for _, batch := range settled {
		for _, settlement := range batch {
			made[settlement.Entry.EntryID] = settlement.Status
		}
	}
	return made
}

func TestCallsRunConcurrentlyUpToTheLimit(t *testing.T) {
	for _, c := range []struct {
		batch, concurrency, want int
		takes                    time.Duration
	}{
		{25, 4, 4, 7 * time.Second},
		{25, 0, 10, 3 * time.Second},
		{3, 10, 3, time.Second},
		{5, 1, 1, 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			var running, most atomic.Int64
			w := newWorld(t, func(config *saga.Config) { config.Concurrency = c.concurrency },
				desk(t, func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
					now := running.Add(1)
					defer running.Add(-1)
					for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
					}
					return takes(time.Second)(ctx, ref, id)
				}))
			w.expectSession().AnyTimes()
			w.settled()
			w.expectClaim(claimed(t, domain.OperationErase, 1, c.batch)...)
			start := bubble.Now()
			w.mustSettle(t, c.batch)
			if got := since(start); int(most.Load()) != c.want || got < c.takes || got > c.takes+time.Second/2 {
				t.Errorf("%d concurrent calls in %v, want %d in %v", most.Load(), got, c.want, c.takes)
			}
		})
	}
}

func TestNoCallRunsInASession(t *testing.T) {
	inSession := false
	w := newWorld(t, nil, desk(t, func(context.Context, domain.SubjectRef, string) (bool, error) {
		if inSession {
			t.Error("a session is open during the call")
		}
		return false, nil
	}))
	w.sessions.EXPECT().Do(anything, anything).DoAndReturn(func(ctx context.Context, fn session) error {
		inSession = true
		defer func() { inSession = false }()
		return w.do(ctx, fn)
	}).Times(2)
	w.settled()
	w.expectClaim(claimed(t, domain.OperationErase, 1, 1)...)
	w.mustSettle(t, 1)
}

func TestACallHasADeadlineAndTheValuesOfTheContext(t *testing.T) {
	type key struct{}
	for configured, want := range map[time.Duration]time.Duration{0: 30 * time.Second, time.Minute: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, func(c *saga.Config) { c.CallTimeout = configured },
				desk(t, func(ctx context.Context, _ domain.SubjectRef, _ string) (bool, error) {
					if deadline, ok := ctx.Deadline(); !ok || deadline.Sub(bubble.Now()) != want {
						t.Errorf("the deadline is at %v, want it in %v", deadline, want)
					}
					if ctx.Value(key{}) != "value" {
						t.Error("the values of the context are lost")
					}
					return false, nil
				}))
			w.expectSession().Times(2)
			w.settled()
			w.expectClaim(claimed(t, domain.OperationErase, 1, 1)...)
			if _, err := w.RunOnce(context.WithValue(t.Context(), key{}, "value")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestASystemThatIgnoresItsDeadlineIsLeftBehind(t *testing.T) {
	for attempts, want := range map[int]domain.OutboxStatus{1: domain.OutboxFailed, 8: domain.OutboxAbandoned} {
		synctest.Test(t, func(t *testing.T) {
			type key struct{}
			release, values := make(chan struct{}), make(chan any, 1)
			w := newWorld(t, eightTimes, desk(t, func(ctx context.Context, _ domain.SubjectRef, _ string) (bool, error) {
				<-release
				values <- ctx.Value(key{})
				return false, nil
			}))
			w.expectSession().Times(2)
			got := w.settled()
			w.expectClaim(claimed(t, domain.OperationErase, attempts, 1)...)
			start := bubble.Now()
			if _, err := w.RunOnce(context.WithValue(t.Context(), key{}, "of a request that is over")); err != nil {
				t.Error(err)
			}
			waited := since(start)
			close(release) // its response comes too late
			if value := <-values; value != nil {
				t.Errorf("it can still use the context of the run: %v", value)
			}
			settlement := (*got)[0][0]
			if settlement.Status != want || settlement.LastError != "timeout" || waited != 30*time.Second {
				t.Errorf("after %v: %s, %s", waited, settlement.Status, settlement.LastError)
			}
		})
	}
}

func TestACallThatCouldOutlastTheLeaseIsNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		w := newWorld(t, func(c *saga.Config) {
			c.Clock, c.Concurrency, c.CallTimeout, c.Lease = bubble, 1, time.Minute, 90*time.Second
		}, desk(t, func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
			calls++
			return takes(15*time.Second)(ctx, ref, id)
		}))
		w.expectSession().AnyTimes()
		got := w.settled()
		w.expectClaim(claimed(t, domain.OperationErase, 1, 5)...)
		w.mustSettle(t, 3) // they start after 0, 15 and 30 seconds; 30 seconds is the latest possible start
		if given := statuses(*got); calls != 3 || given["entry-2"] != domain.OutboxSucceeded ||
			given["entry-3"] != domain.OutboxPending || given["entry-4"] != domain.OutboxPending {
			t.Errorf("%d calls, then %v", calls, given)
		}
	})
}

func TestAnEndLetsCallsInFlightFinishAndGivesTheOthersBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *saga.Config) { c.Concurrency = 2 }, desk(t, takes(10*time.Second)))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		w.sessions.EXPECT().Do(anything, anything).DoAndReturn(func(ctx context.Context, fn session) error {
			must(t, ctx.Err())
			return w.do(ctx, fn)
		}).AnyTimes()
		var appended atomic.Int64
		w.audit.EXPECT().Append(anything, anything).DoAndReturn(func(context.Context, ...domain.AuditEvent) error {
			appended.Add(1)
			return nil
		}).AnyTimes()
		got := w.settled()
		entries := claimed(t, domain.OperationErase, 3, 5)
		w.expectClaim(entries...)
		start := bubble.Now()
		settled, err := w.RunOnce(ctx)
		if waited := since(start); err != nil || settled != 2 || waited > 11*time.Second {
			t.Errorf("got %d, %v after %v", settled, err, waited)
		}
		given := statuses(*got)
		for i, want := range []domain.OutboxStatus{"succeeded", "succeeded", "pending", "pending", "pending"} {
			if given[entries[i].EntryID] != want {
				t.Errorf("%s is %s, want %s", entries[i].EntryID, given[entries[i].EntryID], want)
			}
		}
		if appended.Load() != 2 {
			t.Errorf("%d events: what is given back leaves none", appended.Load())
		}
	})
}

func TestARunWhoseContextHasEndedMakesNoCalls(t *testing.T) {
	w := newWorld(t, nil, uncalled(t))
	ctx, cancel := context.WithCancel(t.Context())
	w.sessions.EXPECT().Do(anything, anything).DoAndReturn(func(ctx context.Context, fn session) error {
		defer cancel() // after the claim
		return w.do(ctx, fn)
	}).Times(2)
	got := w.settled()
	w.expectClaim(claimed(t, domain.OperationErase, 1, 1)...)
	settled, err := w.RunOnce(ctx)
	if err != nil || settled != 0 || statuses(*got)["entry-0"] != domain.OutboxPending {
		t.Errorf("got %d, %v, %v", settled, err, *got)
	}
}
