package worker

import (
	"context"
	"log/slog"
	"time"

	"github.com/habeas-data/habeas/adapters/internal/safelog"
	"github.com/habeas-data/habeas/domain"
)

// taskPause is the maximum pause between two parts of a task if the first part reported that more work remains. During
// the pause, other users of the database can work.
const taskPause = 100 * time.Millisecond

// Task is work that the worker repeats in addition to the outbox. Each task runs in its own goroutine, and does its
// work in short parts.
type Task struct {
	Name  string        // names the task in the log
	Every time.Duration // the pause after the last part, and after a part that failed; must be positive
	// Run does one part of the work, and returns more = true if another part remains. The worker calls Run when it starts,
	// and then after each pause. The pause is at most 100 ms if more is true, and otherwise Task.Every. Run must return
	// when ctx ends. The worker logs errors and panics of Run.
	Run func(ctx context.Context) (more bool, err error)
}

// repeat runs the parts of a task until ctx ends.
func (w *SagaWorker) repeat(ctx context.Context, task Task) {
	schedule(ctx, 0, func() time.Duration {
		pause, outcome := task.Every, domain.OutcomePanic // replaced if the part returns
		w.runSafely(ctx, func() error {
			defer w.logTaskPanic(ctx, task)
			err := w.begun.wait(ctx, w.options.Begin)
			more := false
			if err == nil {
				more, err = task.Run(ctx)
			}
			outcome = domain.OutcomeOf(err)
			if err != nil {
				w.logPeriodic(ctx, "habeas: a task of the worker failed", task.Every, err, slog.String("task", task.Name))
			} else if more {
				pause = min(taskPause, task.Every)
			}
			return err
		})
		w.runSafely(ctx, func() error {
			w.taskEnded(ctx, task, outcome)
			return nil
		})
		return pause
	})
}

// taskEnded calls Options.TaskEnded, unless ctx has ended. It logs the error of the call if the part of the task has
// succeeded, because otherwise both probably have the same cause.
func (w *SagaWorker) taskEnded(ctx context.Context, task Task, outcome domain.Outcome) {
	if w.options.TaskEnded == nil || ctx.Err() != nil {
		return
	}
	if err := w.options.TaskEnded(ctx, task.Name, outcome); err != nil && outcome == domain.OutcomeOK {
		w.logPeriodic(ctx, "habeas: the state of a task could not be stored", task.Every, err)
	}
}

// logTaskPanic recovers from a panic of a task, and logs the place of the panic. It must be called by defer.
func (w *SagaWorker) logTaskPanic(ctx context.Context, task Task) {
	if value := recover(); value != nil {
		attributes := append(safelog.Panic(value), slog.String("task", task.Name), slog.Duration("retry_in", task.Every))
		w.logger().LogAttrs(ctx, slog.LevelError, "habeas: a task of the worker panicked", attributes...)
	}
}
