package worker

import (
	"context"
	"log/slog"
	"time"

	"github.com/habeas-data/habeas/adapters/internal/safelog"
)

// taskPause is between the parts of a task of which there is more to do, so that it does not have the database to
// itself.
const taskPause = 100 * time.Millisecond

// Task is something that the worker does beside the outbox, in short parts, in a goroutine of its own.
type Task struct {
	Name  string        // for the log
	Every time.Duration // the pause after the last part, and after one that failed; above 0
	// Run does a part, and reports whether there is more to do. The next part then comes after a short pause. It is called
	// when the worker starts. When ctx ends, it returns. Its errors and panics are logged.
	Run func(ctx context.Context) (more bool, err error)
}

// repeat does a task until ctx ends.
func (w *SagaWorker) repeat(ctx context.Context, task Task) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		pause := task.Every
		w.contain(ctx, func() error {
			defer w.logTaskPanic(ctx, task)
			more, err := task.Run(ctx)
			if err != nil {
				w.logTask(ctx, task, err)
			} else if more {
				pause = min(taskPause, task.Every)
			}
			return err
		})
		timer.Reset(pause)
	}
}

// logTaskPanic contains a panic of a task, and says where it was.
func (w *SagaWorker) logTaskPanic(ctx context.Context, task Task) {
	if value := recover(); value != nil {
		attributes := append(safelog.Panic(value), slog.String("task", task.Name), slog.Duration("retry_in", task.Every))
		w.logger().LogAttrs(ctx, slog.LevelError, "habeas: a task of the worker panicked", attributes...)
	}
}

// logTask says that a part of a task failed.
func (w *SagaWorker) logTask(ctx context.Context, task Task, err error) {
	if ctx.Err() != nil {
		return
	}
	attributes := append(safelog.Error(err), slog.String("task", task.Name), slog.Duration("retry_in", task.Every))
	w.logger().LogAttrs(ctx, slog.LevelWarn, "habeas: a task of the worker failed", attributes...)
}
