package saga_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang/mock/gomock"
	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/ports"
)

func TestARunnerHasDefaults(t *testing.T) {
	c := newWorld(t, nil).Configured()
	if c.Batch != 200 || c.Concurrency != 10 || c.CallTimeout != 30*time.Second || c.Lease != 5*time.Minute ||
		c.MaxAttempts != 0 || c.GiveUpAfter != 7*24*time.Hour || c.FirstBackoff != 30*time.Second ||
		c.MaxBackoff != time.Hour {
		t.Errorf("got %+v", c)
	}
}

func TestAWrongConfigurationIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*saga.Config){
		"no sessions":                  func(c *saga.Config) { c.Sessions = nil },
		"no clock":                     func(c *saga.Config) { c.Clock = nil },
		"no ids":                       func(c *saga.Config) { c.IDs = nil },
		"a nil resolver":               func(c *saga.Config) { c.Resolvers = []ports.Resolver{nil} },
		"a negative batch":             func(c *saga.Config) { c.Batch = -1 },
		"a negative concurrency":       func(c *saga.Config) { c.Concurrency = -1 },
		"a negative timeout":           func(c *saga.Config) { c.CallTimeout = -1 },
		"a negative lease":             func(c *saga.Config) { c.Lease = -1 },
		"a negative limit":             func(c *saga.Config) { c.MaxAttempts = -1 },
		"a negative age":               func(c *saga.Config) { c.GiveUpAfter = -1 },
		"limits of no system":          func(c *saga.Config) { c.Systems = map[string]saga.SystemLimits{"crm": {}} },
		"a negative first backoff":     func(c *saga.Config) { c.FirstBackoff = -1 },
		"a negative longest backoff":   func(c *saga.Config) { c.MaxBackoff = -1 },
		"a lease as long as a call":    func(c *saga.Config) { c.Lease = 30 * time.Second },
		"a call as long as the lease":  func(c *saga.Config) { c.CallTimeout = 5 * time.Minute },
		"a lease hardly any longer":    func(c *saga.Config) { c.Lease = 31*time.Second - 1 },
		"a lease shorter than a call":  func(c *saga.Config) { c.Lease, c.CallTimeout = time.Second, time.Minute },
		"a call longer than any lease": func(c *saga.Config) { c.CallTimeout = 6 * time.Minute },
	} {
		c := newWorld(t, nil).Configured()
		spoil(&c)
		if runner, err := saga.NewRunner(c); runner != nil || !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("%s: got %v, %v", name, runner, err)
		}
	}
}

func TestALeaseMayBeASecondLongerThanACall(t *testing.T) {
	newWorld(t, func(c *saga.Config) { c.Lease = 31 * time.Second })
}

func TestAClaimWaitsForTheStoreNoLongerThanACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, uncalled(t))
		w.sessions.EXPECT().Do(anything, anything).DoAndReturn(func(ctx context.Context, _ session) error {
			<-ctx.Done()
			return ctx.Err()
		})
		start := bubble.Now()
		settled, err := w.RunOnce(t.Context())
		if waited := since(start); settled != 0 || !errors.Is(err, context.DeadlineExceeded) || waited != 30*time.Second {
			t.Errorf("got %d, %v after %v", settled, err, waited)
		}
	})
}

func TestABatchIsClaimedInASessionOfItsOwn(t *testing.T) {
	w := newWorld(t, func(c *saga.Config) { c.Batch, c.Lease = 7, time.Hour }, uncalled(t))
	gomock.InOrder(
		w.expectSession(),
		w.outbox.EXPECT().Claim(anything, claimWith(func(query domain.ClaimQuery) bool {
			entries := 0
			for _, take := range query.Takes {
				entries += take.Fresh + take.Retries
			}
			return entries == 7 && query.Now.Equal(noon) && query.LeaseUntil.Equal(noon.Add(time.Hour)) &&
				query.LeaseToken == "id-1"
		})).Return(nil, nil),
	)
	w.mustSettle(t, 0) // no second run
}

func TestNothingIsDoneWithoutAClaim(t *testing.T) {
	t.Run("that works", func(t *testing.T) {
		w := newWorld(t, nil, uncalled(t))
		w.expectSession()
		w.outbox.EXPECT().Claim(anything, anything).Return(nil, errBoom)
		if settled, err := w.RunOnce(t.Context()); settled != 0 || !errors.Is(err, errBoom) {
			t.Errorf("got %d, %v", settled, err)
		}
	})
	t.Run("that is committed", func(t *testing.T) {
		w := newWorld(t, nil, uncalled(t))
		w.sessions.EXPECT().Do(anything, anything).DoAndReturn(func(ctx context.Context, fn session) error {
			must(t, w.do(ctx, fn))
			return errBoom
		})
		w.expectClaim(claimed(t, domain.OperationErase, 1, 3)...)
		if settled, err := w.RunOnce(t.Context()); settled != 0 || !errors.Is(err, errBoom) {
			t.Errorf("got %d, %v", settled, err)
		}
	})
}

func TestWaitsDoubleUpToTheLongest(t *testing.T) {
	for _, c := range []struct {
		first, longest time.Duration
		want           []time.Duration // after the first, second, ... attempt
	}{
		{time.Second, time.Minute, seconds(1, 2, 4, 8, 16, 32, 60, 60)},
		{time.Second, 8 * time.Second, seconds(1, 2, 4, 8, 8)},
		{time.Minute, time.Minute, seconds(60, 60)},
		{time.Minute, time.Second, seconds(1, 1, 1)},
		{0, 0, seconds(30, 60, 120, 240, 480, 960, 1920, 3600, 3600)},
	} {
		for i, want := range c.want {
			w := newWorld(t, func(config *saga.Config) {
				config.FirstBackoff, config.MaxBackoff, config.MaxAttempts = c.first, c.longest, 100
			}, desk(t, responds(false, errBoom)))
			w.wantOutcome(t, claimed(t, domain.OperationErase, i+1, 1)[0], failed(notErased, i+1, "internal", want), "")
		}
	}
}

func seconds(numbers ...int) []time.Duration {
	made := make([]time.Duration, len(numbers))
	for i, n := range numbers {
		made[i] = time.Duration(n) * time.Second
	}
	return made
}

func TestAWaitIsAtLeastTheRequestedWaitAndOtherwiseBounded(t *testing.T) {
	rapid.Check(t, func(draw *rapid.T) {
		attempts := rapid.IntRange(1, 99).Draw(draw, "attempts")
		first := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(draw, "first"))
		longest := time.Duration(rapid.Int64Range(1, int64(1000*time.Hour)).Draw(draw, "longest"))
		after := time.Duration(rapid.Int64Range(-int64(time.Hour), int64(2000*time.Hour)).Draw(draw, "after"))
		w := newWorld(t, func(c *saga.Config) {
			c.MaxAttempts, c.FirstBackoff, c.MaxBackoff = 100, first, longest
		}, desk(t, responds(false, &domain.RetryLaterError{After: after})))
		got := w.settled()
		w.expectSession().Times(2)
		w.expectClaim(claimed(t, domain.OperationErase, attempts, 1)...)
		w.mustSettle(t, 1)
		wait := (*got)[0][0].NextAttemptAt.Sub(noon)
		after = min(after, 24*time.Hour) // the runner limits a requested wait to 24 h
		if want := max(after, min(first, longest)).Truncate(time.Microsecond); wait < want {
			draw.Fatalf("waits %v, want at least %v", wait, want)
		}
		if wait > max(after, longest) {
			draw.Fatalf("waits %v, want at most %v", wait, max(after, longest))
		}
	})
}
