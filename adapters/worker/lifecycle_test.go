package worker_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
)

var _ worker.Engine = (*saga.Runner)(nil)

func TestStartTwiceIsOneLoop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(nil)
		w := started(t, runner, worker.Options{})
		w.Start()
		pass(time.Second)
		w.Start()
		pass(5 * time.Second)
		runner.wantAt(t, 0, 5*time.Second)
	})
}

func TestStopEndsTheContextAndWaitsForTheBatch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorker(t, newFake(func(ctx context.Context, _ int) (int, error) {
			<-ctx.Done()
			time.Sleep(3 * time.Second) // a call in flight
			return 1, nil
		}), worker.Options{})
		w.Start()
		pass(time.Minute)
		began := time.Now()
		must(t, w.Stop(0))
		if waited := time.Since(began); waited != 3*time.Second {
			t.Errorf("Stop took %v", waited)
		}
	})
}

func TestStopEndsASleep(t *testing.T) {
	for name, err := range map[string]error{"idle": nil, "after a failure": errBroken} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				runner := newFake(func(context.Context, int) (int, error) { return 0, err })
				w := newWorker(t, runner, worker.Options{PollInterval: time.Hour, Logger: quiet})
				w.Start()
				pass(time.Minute)
				began := time.Now()
				must(t, w.Stop(0))
				if waited := time.Since(began); waited != 0 {
					t.Errorf("Stop took %v", waited)
				}
				runner.wantAt(t, 0)
			})
		})
	}
}

func TestAStopThatTimesOutLeavesNoWayToASecondLoop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(func(_ context.Context, n int) (int, error) {
			if n == 1 {
				time.Sleep(time.Minute) // ignores its context
			}
			return 1 - min(n, 2)/2, nil // the first batch settled something
		})
		w := newWorker(t, runner, worker.Options{})
		w.Start()
		pass(time.Second)
		began := time.Now()
		if err := w.Stop(2 * time.Second); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 2*time.Second {
			t.Errorf("Stop returned %v after %v", err, time.Since(began))
		}
		w.Start()
		w.Wake()
		pass(30 * time.Second)
		w.Start()
		runner.wantAt(t, 0)
		must(t, w.Stop(time.Hour))
		pass(time.Hour)
		runner.wantAt(t, 0) // the calls of Start in between had no effect

		w.Start()
		pass(6 * time.Second)
		runner.wantAt(t, 0, time.Minute+time.Hour, time.Minute+time.Hour+5*time.Second)
		runner.wantOneLoop(t)
		must(t, w.Stop(0))
	})
}

func TestItStartsAgainAfterAStop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(nil)
		w := newWorker(t, runner, worker.Options{})
		for range 3 {
			w.Start()
			pass(6 * time.Second)
			must(t, w.Stop(0))
			pass(54 * time.Second)
		}
		runner.wantAt(t, 0, 5*time.Second, 60*time.Second, 65*time.Second, 120*time.Second, 125*time.Second)
	})
}

func TestStopWaitsForItsDefault(t *testing.T) {
	for name, c := range map[string]struct {
		argument, want time.Duration
	}{
		"the default":     {0, 10 * time.Second},
		"a negative wait": {-1, 10 * time.Second},
		"the argument":    {time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorker(t, newFake(func(context.Context, int) (int, error) {
					time.Sleep(time.Minute)
					return 0, nil
				}), worker.Options{})
				w.Start()
				pass(0)
				began := time.Now()
				if err := w.Stop(c.argument); domain.ErrorClass(err) != "timeout" || time.Since(began) != c.want {
					t.Errorf("Stop returned %v after %v", err, time.Since(began))
				}
				must(t, w.Stop(time.Hour))
			})
		})
	}
}

func TestAWorkerThatIsNotRunningCanBeStopped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorker(t, newFake(nil), worker.Options{})
		must(t, w.Stop(0))
		w.Start()
		must(t, w.Stop(0))
		must(t, w.Stop(0))
	})
}

func TestAWakeIsSafeAtAnyTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(nil)
		w := newWorker(t, runner, worker.Options{PollInterval: time.Hour})
		for range 2 {
			w.Wake()
			w.Wake()
			w.Start()
			pass(time.Minute)
			must(t, w.Stop(0))
		}
		runner.wantAt(t, 0, time.Minute)
	})
}

func TestAConfigurationThatCannotWorkIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		runner worker.Engine
		opts   worker.Options
	}{
		"a negative poll":  {newFake(nil), worker.Options{PollInterval: -1}},
		"a negative count": {newFake(nil), worker.Options{Workers: -1}},
	} {
		if w, err := worker.NewOn(c.runner, c.opts); !errors.Is(err, domain.ErrConfiguration) || w != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if w, err := worker.New(nil, worker.Options{}); !errors.Is(err, domain.ErrConfiguration) || w != nil {
		t.Errorf("no runner: got %v", err)
	}
}

func TestStartStopAndWakeMayBeCalledConcurrently(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	began := make(chan struct{}, 1)
	runner := newFake(func(_ context.Context, n int) (int, error) {
		select {
		case began <- struct{}{}:
		default:
		}
		return n % 3, nil
	})
	w := newWorker(t, runner, worker.Options{PollInterval: time.Microsecond})
	for range 200 {
		w.Start()
		<-began
		var callers sync.WaitGroup
		for _, call := range []func(){w.Start, w.Wake, func() { stop(t, w) }, w.Start, w.Wake} {
			callers.Go(call)
		}
		callers.Wait()
	}
	must(t, w.Stop(time.Minute))
	runner.wantOneLoop(t)
	if runner.now != 0 {
		t.Errorf("a batch outlived Stop")
	}
}

func TestStopMayBeCalledConcurrently(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorker(t, newFake(func(context.Context, int) (int, error) {
			time.Sleep(time.Second)
			return 0, nil
		}), worker.Options{})
		w.Start()
		pass(0)
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() { stop(t, w) })
		}
		callers.Wait()
	})
}

// stop calls Stop. It uses t.Error, because goroutines other than the goroutine of the test must not call t.Fatal.
func stop(t *testing.T, w *worker.SagaWorker) {
	t.Helper()
	if err := w.Stop(time.Minute); err != nil {
		t.Error(err)
	}
}
