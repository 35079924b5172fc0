package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/worker"
)

// batchesBegun returns how many batches began.
func (f *fake) batchesBegun() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.at)
}

func TestMoreLoopsPollNoMoreOften(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(nil)
		started(t, runner, worker.Options{Workers: 8})
		pass(time.Second)
		started := runner.batchesBegun()
		pass(time.Minute)
		if polls := runner.batchesBegun() - started; started != 8 || polls != 12 {
			t.Errorf("%d batches at the start, then %d polls in a minute, want 8 and 12", started, polls)
		}
	})
}

// If one loop waits for a system, the other loops still poll.
func TestALoopThatIsBusyDoesNotPollForTheOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(func(_ context.Context, n int) (int, error) {
			if n == 3 { // the first poll
				time.Sleep(time.Hour)
			}
			return 0, nil
		})
		started(t, runner, worker.Options{Workers: 2})
		pass(16 * time.Second)
		runner.wantAt(t, 0, 0, 5*time.Second, 10*time.Second, 15*time.Second)
	})
}

func TestAWorkerHasFourLoops(t *testing.T) {
	bubble(t, func(t *testing.T) {
		runner := newFake(nil)
		w, err := worker.NewOn(runner, worker.Options{})
		must(t, err)
		w.Start()
		pass(time.Second)
		if got := runner.batchesBegun(); got != worker.DefaultWorkers {
			t.Errorf("%d batches at the start, want %d", got, worker.DefaultWorkers)
		}
		must(t, w.Stop(0))
	})
}
