package worker

import (
	"context"
	"log/slog"

	"github.com/habeas-data/habeas/adapters/safelog"
	"github.com/habeas-data/habeas/domain"
)

func (w *SagaWorker) logger() *slog.Logger {
	if w.options.Logger != nil {
		return w.options.Logger
	}
	return slog.Default()
}

// logFailure says that a batch failed: a warning where time may heal it, else an error. A batch that ended because it
// was told to did not fail.
func (w *SagaWorker) logFailure(ctx context.Context, settled int, err error) {
	class := domain.ErrorClass(err)
	if ctx.Err() != nil && class == "canceled" {
		return
	}
	level := slog.LevelError
	if class == "timeout" || class == string(domain.ErrUnavailable) {
		level = slog.LevelWarn
	}
	attributes := append(safelog.Error(err), slog.Int("settled", settled), w.retryIn())
	w.logger().LogAttrs(ctx, level, "habeas: outbox batch failed", attributes...)
}

// logPurge says that old entries could not be removed. The next time is in an hour.
func (w *SagaWorker) logPurge(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	attributes := append(safelog.Error(err), slog.Duration("retry_in", purgeInterval))
	w.logger().LogAttrs(ctx, slog.LevelWarn, "habeas: purge of the outbox failed", attributes...)
}

// logPanic says where the runner panicked, and with what type of value, which is nil when the runner did not panic but
// ended its goroutine.
func (w *SagaWorker) logPanic(ctx context.Context, value any) {
	attributes := append(safelog.Panic(value), w.retryIn())
	w.logger().LogAttrs(ctx, slog.LevelError, "habeas: outbox batch panicked", attributes...)
}

func (w *SagaWorker) retryIn() slog.Attr { return slog.Duration("retry_in", w.options.PollInterval) }
