package worker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain"
)

// A task runs immediately. If a part of the task reports that more work remains, the next part follows after a short
// pause. If a part reports no more work, fails or panics, the task waits for its interval.
func TestATaskRunsInParts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log records
		var at []time.Duration
		began := time.Now()
		runner := newFake(nil)
		w := newWorker(t, runner, worker.Options{PollInterval: time.Hour, Logger: log.logger(), Tasks: []worker.Task{{
			Name: "sweep", Every: time.Minute, Run: func(context.Context) (more bool, err error) {
				at = append(at, time.Since(began))
				switch len(at) {
				case 1, 2:
					return true, nil
				case 4:
					return true, &domain.Error{Code: domain.ErrUnavailable, Op: "sweep", Err: errors.New(secret)}
				case 5:
					panic(secret)
				}
				return false, nil
			},
		}}})
		w.Start()
		pass(4*time.Minute + time.Second)
		must(t, w.Stop(time.Minute))
		pass(time.Hour)
		const pause = 100 * time.Millisecond
		want := []time.Duration{
			0, pause, 2 * pause, 2*pause + time.Minute, 2*pause + 2*time.Minute, 2*pause + 3*time.Minute,
			2*pause + 4*time.Minute,
		}
		if !slices.Equal(at, want) {
			t.Errorf("it ran at %v, want %v", at, want)
		}
		all := log.Records(t)
		if len(all) != 2 || all[0]["msg"] != "habeas: a task of the worker failed" || all[0]["task"] != "sweep" ||
			all[0]["level"] != "WARN" ||
			all[1]["msg"] != "habeas: a task of the worker panicked" || all[1]["task"] != "sweep" ||
			strings.Contains(log.String(), secret) {
			t.Errorf("the log is %s", log.String())
		}
		runner.wantAt(t, 0)
	})
}

// Each part of a task is reported with its outcome. A report that fails is logged, unless the part has failed, too.
func TestTheOutcomesOfATaskAreReported(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log records
		var outcomes []domain.Outcome
		w := newWorker(t, newFake(nil), worker.Options{
			Logger: log.logger(),
			Tasks: []worker.Task{{Name: "sweep", Every: time.Minute, Run: func(context.Context) (bool, error) {
				switch len(outcomes) {
				case 0:
					return false, domain.ErrUnavailable
				case 1:
					panic(secret)
				}
				return false, nil
			}}},
			TaskEnded: func(_ context.Context, task string, outcome domain.Outcome) error {
				if outcomes = append(outcomes, outcome); task != "sweep" {
					t.Errorf("the task is %s", task)
				}
				if len(outcomes) == 4 {
					panic(secret)
				}
				return errors.New(secret)
			},
		})
		w.Start()
		pass(4*time.Minute + time.Second)
		must(t, w.Stop(time.Minute))
		want := []domain.Outcome{"unavailable", "panic", "ok", "ok", "ok"}
		if !slices.Equal(outcomes, want) || strings.Contains(log.String(), secret) {
			t.Errorf("the outcomes are %v, the log is %s", outcomes, log.String())
		}
		if n := strings.Count(log.String(), "the state of a task could not be stored"); n != 2 {
			t.Errorf("%d reports that failed were logged, want 2: %s", n, log.String())
		}
	})
}

// Stop ends the context of the part of a task that is running, and waits for the end of this part.
func TestStopWaitsForATask(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorker(t, newFake(nil), worker.Options{Tasks: []worker.Task{{
			Name: "sweep", Every: time.Minute, Run: func(ctx context.Context) (bool, error) {
				<-ctx.Done()
				time.Sleep(3 * time.Second)
				return false, ctx.Err()
			},
		}}})
		w.Start()
		pass(time.Minute)
		began := time.Now()
		must(t, w.Stop(0))
		if waited := time.Since(began); waited != 3*time.Second {
			t.Errorf("Stop took %v", waited)
		}
	})
}

func TestATaskThatCannotWorkIsRefused(t *testing.T) {
	run := func(context.Context) (bool, error) { return false, nil }
	for name, task := range map[string]worker.Task{
		"no name": {Every: 1, Run: run}, "no interval": {Name: "x", Run: run}, "no function": {Name: "x", Every: 1},
	} {
		_, err := worker.NewOn(newFake(nil), worker.Options{Tasks: []worker.Task{task}})
		if !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
