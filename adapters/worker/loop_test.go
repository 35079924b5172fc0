package worker_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/worker"
)

var errBroken = errors.New("broken")

func TestItPollsWhenNothingIsDue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(nil)
		started(t, runner, worker.Options{})
		pass(12 * time.Second)
		runner.wantAt(t, 0, 5*time.Second, 10*time.Second)
	})
}

func TestItPollsAtThePollInterval(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(nil)
		started(t, runner, worker.Options{PollInterval: time.Minute})
		pass(100 * time.Second)
		runner.wantAt(t, 0, time.Minute)
	})
}

func TestItRunsBatchesUntilNothingIsDue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(func(_ context.Context, n int) (int, error) {
			time.Sleep(time.Second)
			return []int{50, 50, 3, 0, 1, 0}[n-1], nil
		})
		started(t, runner, worker.Options{})
		pass(11 * time.Second)
		runner.wantAt(t, 0, 1*time.Second, 2*time.Second, 3*time.Second, 9*time.Second, 10*time.Second)
	})
}

func TestAWakeEndsTheSleepImmediately(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(nil)
		w := started(t, runner, worker.Options{PollInterval: time.Hour})
		pass(time.Minute)
		w.Wake()
		pass(time.Minute)
		w.Wake()
		pass(30 * time.Minute)
		runner.wantAt(t, 0, time.Minute, 2*time.Minute)
	})
}

func TestAWakeDuringTheLastBatchIsNotLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(func(context.Context, int) (int, error) {
			time.Sleep(time.Minute)
			return 0, nil
		})
		w := started(t, runner, worker.Options{PollInterval: time.Hour})
		pass(30 * time.Second)
		w.Wake()
		pass(30 * time.Minute)
		runner.wantAt(t, 0, time.Minute)
	})
}

func TestOneBatchServesManyWakes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(func(context.Context, int) (int, error) {
			time.Sleep(time.Minute)
			return 0, nil
		})
		w := started(t, runner, worker.Options{PollInterval: time.Hour})
		pass(30 * time.Second)
		for range 1000 {
			w.Wake()
		}
		pass(30 * time.Minute)
		runner.wantAt(t, 0, time.Minute)
	})
}

func TestTheNextBatchServesAWakeAlsoIfItFollowsAFullBatch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(func(_ context.Context, n int) (int, error) {
			time.Sleep(time.Minute)
			return []int{50, 0}[n-1], nil
		})
		w := started(t, runner, worker.Options{PollInterval: time.Hour})
		pass(30 * time.Second)
		w.Wake()
		pass(30 * time.Minute)
		runner.wantAt(t, 0, time.Minute)
	})
}

// Calls of Wake without entries, as any role of the database can cause them, load the database with few batches. The
// first entry ends the pauses.
func TestWakesWithoutEntriesBecomeRare(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var due atomic.Bool
		runner := newFake(func(context.Context, int) (int, error) {
			if due.CompareAndSwap(true, false) {
				return 1, nil
			}
			return 0, nil
		})
		w := started(t, runner, worker.Options{PollInterval: time.Hour})
		flood := func() (batches int) {
			t.Helper()
			before := runner.batches()
			for range 10_000 {
				w.Wake()
				pass(time.Millisecond)
			}
			return runner.batches() - before
		}
		if n := flood(); n < 100 || n > 120 {
			t.Errorf("10 s of wakes caused %d batches", n)
		}
		due.Store(true)
		if n := flood(); n < 100 || n > 130 {
			t.Errorf("after an entry, 10 s of wakes caused %d batches", n)
		}
	})
}

func TestAFailingBatchIsFollowedByAPauseThatNoWakeShortens(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(func(_ context.Context, n int) (int, error) {
			if n < 3 {
				return 0, errBroken
			}
			return 0, nil
		})
		w := started(t, runner, worker.Options{Logger: quiet})
		for range 110 {
			w.Wake()
			pass(100 * time.Millisecond)
		}
		runner.mu.Lock()
		began := runner.at[:3:3]
		runner.mu.Unlock()
		for i, want := range []time.Duration{0, 5 * time.Second, 10 * time.Second} {
			if began[i] != want {
				t.Errorf("batches began at %v", began)
			}
		}
	})
}

func TestAWakeDuringThePauseIsServedAfterIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(func(_ context.Context, n int) (int, error) {
			return 0, []error{errBroken, nil, nil}[n-1]
		})
		w := started(t, runner, worker.Options{PollInterval: time.Minute, Logger: quiet})
		pass(time.Second)
		w.Wake()
		pass(90 * time.Second)
		runner.wantAt(t, 0, time.Minute)
		w.Wake()
		pass(0)
		runner.wantAt(t, 0, time.Minute, 91*time.Second)
	})
}

func TestABatchThatSettledAPartAndFailedIsFollowedByAPause(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(func(_ context.Context, n int) (int, error) {
			if n == 1 {
				return 49, errBroken
			}
			return 0, nil
		})
		started(t, runner, worker.Options{Logger: quiet})
		pass(7 * time.Second)
		runner.wantAt(t, 0, 5*time.Second)
	})
}

// A call of Wake starts a batch in one of several loops. After each batch that settled an entry, this loop wakes the
// next loop.
func TestAWakeWakesOneLoopWhichWakesTheNext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		work := make(chan int, 4)
		runner := newFake(func(context.Context, int) (int, error) {
			select {
			case n := <-work:
				time.Sleep(time.Second)
				return n, nil
			default:
				return 0, nil
			}
		})
		w := started(t, runner, worker.Options{PollInterval: time.Hour, Workers: 2})
		pass(time.Minute)
		for range cap(work) {
			work <- 50
		}
		w.Wake()
		pass(time.Minute)
		if runner.most != 2 {
			t.Errorf("%d batches ran concurrently, want 2", runner.most)
		}
		woken := time.Minute
		runner.wantAt(t, 0, 0, woken, woken+time.Second, woken+time.Second, woken+2*time.Second, woken+2*time.Second,
			woken+3*time.Second, woken+3*time.Second)
		must(t, w.Stop(0))
		w.Wake()
		pass(2 * time.Hour)
		if n := len(runner.at); n != 9 {
			t.Errorf("%d batches ran after the worker was stopped", n-9)
		}
	})
}

// purging is a runner that records its purges.
type purging struct {
	*fake
	purges []time.Duration
}

func (f *purging) Purge(context.Context) (int64, error) {
	f.purges = append(f.purges, time.Since(f.began))
	return 0, errBroken
}

func TestOneWakeRunsOneBatchIfNoBatchIsFull(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(nil)
		w := started(t, runner, worker.Options{PollInterval: time.Hour, Workers: 8})
		pass(time.Minute)
		before := len(runner.at)
		w.Wake()
		pass(time.Minute)
		if batches := len(runner.at) - before; batches != 1 || runner.woken != 1 {
			t.Errorf("a wake led to %d batches and %d wakes of the runner, want 1 and 1", batches, runner.woken)
		}
	})
}

func TestARunnerThatIsFullWakesTheNextLoopImmediately(t *testing.T) {
	bubble(t, func(t *testing.T) {
		work := 0
		var runner *fake
		runner = newFake(func(context.Context, int) (int, error) {
			if work == 0 {
				return 0, nil
			}
			if work--; work > 0 {
				runner.events.Full()
			}
			time.Sleep(time.Minute)
			return 50, nil
		})
		runner.reportsFull = true
		w := started(t, runner, worker.Options{PollInterval: time.Hour, Workers: 4})
		pass(time.Minute)
		work = 3
		w.Wake()
		pass(time.Second)
		runner.mu.Lock()
		if runner.now != 3 {
			t.Errorf("%d batches are running, want 3", runner.now)
		}
		runner.mu.Unlock()
		pass(10 * time.Minute)
	})
}

func TestItPurgesEveryHour(t *testing.T) {
	bubble(t, func(t *testing.T) {
		log := &records{}
		runner := &purging{fake: newFake(nil)}
		w := started(t, runner, worker.Options{PollInterval: time.Hour, Logger: log.logger()})
		pass(2*time.Hour + 30*time.Minute)
		want := []time.Duration{time.Minute, time.Hour + time.Minute, 2*time.Hour + time.Minute}
		if !slices.Equal(runner.purges, want) {
			t.Errorf("purged at %v, want %v", runner.purges, want)
		}
		if lines := log.Records(t); len(lines) != 3 || lines[0]["level"] != "WARN" {
			t.Errorf("logged %v", lines)
		}
		must(t, w.Stop(0))
		pass(2 * time.Hour)
		if len(runner.purges) != 3 {
			t.Error("purged after the end")
		}
	})
}
