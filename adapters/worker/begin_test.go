package worker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/worker"
)

// While Begin fails, no batch and no task runs. After its first success, Begin is not called until the next Start.
func TestTheWorkerBeginsBeforeItsFirstBatch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		calls, tasks, fails := 0, 0, 2
		runner := newFake(nil)
		w := newWorker(t, runner, worker.Options{
			PollInterval: time.Minute, Logger: quiet,
			Tasks: []worker.Task{{Name: "sweep", Every: time.Hour, Run: func(context.Context) (bool, error) {
				tasks++
				return false, nil
			}}},
			Begin: func(context.Context) error {
				if calls++; calls <= fails {
					return errors.New("another data map")
				}
				return nil
			},
		})
		w.Start()
		pass(30 * time.Second)
		if runner.wantAt(t); calls != 2 || tasks != 0 {
			t.Errorf("Begin was called %d times, and a task ran %d times", calls, tasks)
		}
		pass(3 * time.Minute)
		runner.wantAt(t, time.Minute, 2*time.Minute, 3*time.Minute)
		pass(time.Hour)
		must(t, w.Stop(time.Minute))
		if calls != 3 || tasks != 1 {
			t.Errorf("Begin was called %d times, and a task ran %d times", calls, tasks)
		}
		w.Start()
		pass(time.Second)
		must(t, w.Stop(time.Minute))
		if calls != 4 {
			t.Errorf("after another start, Begin was called %d times", calls)
		}
	})
}
