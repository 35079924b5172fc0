package worker_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain"
	recording "github.com/habeas-data/habeas/internal/tests/observed"
)

// wantHeartbeat checks the time since the last sign of life, and whether the worker runs.
func wantHeartbeat(t *testing.T, w *worker.SagaWorker, age time.Duration, running bool) {
	t.Helper()
	last, is := w.Heartbeat()
	if got := time.Since(last); got != age || is != running {
		t.Errorf("the last sign of life was %v ago, running %v, want %v and %v", got, is, age, running)
	}
}

func TestTheHeartbeatIsTheLastBatchThatSucceeded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var failing atomic.Bool // synctest.Wait orders only the accesses before it
		w := newWorker(t, newFake(func(context.Context, int) (int, error) {
			if failing.Load() {
				return 0, errBroken
			}
			return 0, nil
		}), worker.Options{Logger: quiet})
		if _, running := w.Heartbeat(); running {
			t.Error("the worker is running before its start")
		}
		w.Start()
		wantHeartbeat(t, w, 0, true)
		pass(12 * time.Second)
		wantHeartbeat(t, w, 2*time.Second, true)
		failing.Store(true)
		pass(time.Minute)
		wantHeartbeat(t, w, 62*time.Second, true)
		failing.Store(false)
		pass(5 * time.Second)
		wantHeartbeat(t, w, 2*time.Second, true)
		must(t, w.Stop(time.Hour))
		wantHeartbeat(t, w, 2*time.Second, false)
		time.Sleep(time.Hour)
		w.Start()
		wantHeartbeat(t, w, 0, true)
		must(t, w.Stop(time.Hour))
	})
}

// If an external system is slow, a batch takes long. The heartbeat then stays current, so that the orchestrator does
// not restart the application.
func TestABatchUnderWayIsASignOfLife(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := started(t, newFake(func(context.Context, int) (int, error) {
			time.Sleep(time.Hour)
			return 0, nil
		}), worker.Options{})
		pass(15 * time.Minute)
		wantHeartbeat(t, w, 0, true)
		pass(time.Second) // now it counts as stuck
		wantHeartbeat(t, w, 15*time.Minute+time.Second, true)
	})
}

// A running batch is not a sign of life after a failed batch, because the database may not respond.
func TestABatchUnderWayAfterAFailureIsNotASignOfLife(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := started(t, newFake(func(context.Context, int) (int, error) {
			time.Sleep(30 * time.Second)
			return 0, errBroken
		}), worker.Options{Logger: quiet})
		pass(40 * time.Second) // during the second batch
		wantHeartbeat(t, w, 40*time.Second, true)
	})
}

// impatient is a runner that makes progress every minute.
type impatient struct{ *fake }

func (impatient) LongestPause() time.Duration { return time.Minute }

func TestProgressIsASignOfLife(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var runner impatient
		runner.fake = newFake(func(context.Context, int) (int, error) {
			for range 100 {
				time.Sleep(50 * time.Second)
				runner.events.Progress()
			}
			time.Sleep(time.Hour)
			return 0, nil
		})
		w := started(t, runner, worker.Options{})
		pass(5000*time.Second + time.Minute)
		wantHeartbeat(t, w, 0, true)
		pass(time.Second)
		wantHeartbeat(t, w, 5061*time.Second, true)
	})
}

// stopped is a clock that always returns the same time.
type stopped struct{ at time.Time }

func (s stopped) Now() time.Time { return s.at }

func TestBatchesAreObserved(t *testing.T) {
	bubble(t, func(t *testing.T) {
		recorder := &recording.Recorder{}
		noon := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
		w := started(t, newFake(func(_ context.Context, n int) (int, error) {
			switch n {
			case 1:
				return 7, nil
			case 2:
				return 3, &domain.Error{Code: domain.ErrUnavailable}
			case 3:
				panic("zoe@example.org")
			}
			return 0, nil
		}), worker.Options{Observer: recorder, Logger: quiet, Clock: stopped{noon}})
		pass(11 * time.Second)
		recorder.Want(t, "poll at 12:00:00: ok, 7 settled", "poll at 12:00:00: unavailable, 3 settled",
			"poll at 12:00:00: panic, 0 settled", "poll at 12:00:00: ok, 0 settled")
		if last, _ := w.Heartbeat(); !last.Equal(noon) {
			t.Errorf("the heartbeat is %v", last)
		}
	})
}

func TestAnObserverThatPanicsDoesNotStopTheWorker(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(nil)
		started(t, runner, worker.Options{Observer: recording.Broken{}})
		pass(11 * time.Second)
		runner.wantAt(t, 0, 5*time.Second, 10*time.Second)
	})
}

// watching is a runner that records the calls of ObserveOutbox.
type watching struct {
	*fake
	mu   sync.Mutex
	at   []time.Duration
	fail bool
}

func (w *watching) ObserveOutbox(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = append(w.at, time.Since(w.began))
	if w.fail {
		return errors.Join(errBroken, domain.ErrUnavailable)
	}
	return nil
}

func TestTheOutboxIsObservedEveryMinute(t *testing.T) {
	for _, fail := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			runner, log := &watching{fake: newFake(nil), fail: fail}, &records{}
			started(t, runner, worker.Options{Observer: &recording.Recorder{}, Logger: log.logger()})
			pass(150 * time.Second)
			if len(runner.at) != 3 || runner.at[0] != 0 || runner.at[2] != 2*time.Minute {
				t.Errorf("observed at %v", runner.at)
			}
			if lines := strings.Count(log.String(), "habeas: the outbox could not be observed"); (lines == 3) != fail {
				t.Errorf("%d lines in the log", lines)
			}
		})
	}
}

func TestWithoutAnObserverTheOutboxIsNotObserved(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := &watching{fake: newFake(nil)}
		started(t, runner, worker.Options{})
		pass(time.Hour)
		if len(runner.at) > 0 {
			t.Errorf("observed at %v", runner.at)
		}
	})
}
