package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/worker"
)

// While Begin fails, no batch and no task runs. After its first success, Begin is not called until the next Start.
func TestTheWorkerBeginsBeforeItsFirstBatch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var calls, tasks atomic.Int32
		const failures = 2
		runner := newFake(nil)
		w := newWorker(t, runner, worker.Options{
			PollInterval: time.Minute, Logger: quiet,
			Tasks: []worker.Task{{Name: "sweep", Every: time.Hour, Run: func(context.Context) (bool, error) {
				tasks.Add(1)
				return false, nil
			}}},
			Begin: func(context.Context) error {
				if calls.Add(1) <= failures {
					return errors.New("another data map")
				}
				return nil
			},
		})
		w.Start()
		pass(30 * time.Second)
		if runner.wantAt(t); calls.Load() != 2 || tasks.Load() != 0 {
			t.Errorf("Begin was called %d times, and a task ran %d times", calls.Load(), tasks.Load())
		}
		pass(3 * time.Minute)
		runner.wantAt(t, time.Minute, 2*time.Minute, 3*time.Minute)
		pass(time.Hour)
		must(t, w.Stop(time.Minute))
		if calls.Load() != 3 || tasks.Load() != 1 {
			t.Errorf("Begin was called %d times, and a task ran %d times", calls.Load(), tasks.Load())
		}
		w.Start()
		pass(time.Second)
		must(t, w.Stop(time.Minute))
		if calls.Load() != 4 {
			t.Errorf("after another start, Begin was called %d times", calls.Load())
		}
	})
}
