package worker

import (
	"context"
	"log/slog"
	"time"

	"github.com/habeas-data/habeas/adapters/internal/safelog"
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

// logEntry says what came of an entry for an external system: a warning where it is tried again, and an error where a
// person has to look into it.
func (w *SagaWorker) logEntry(ctx context.Context, entry domain.OutboxEntry, cause error) {
	level, message := slog.LevelWarn, "habeas: call to an external system failed"
	class := ""
	if entry.LastError != nil {
		class = *entry.LastError
	}
	switch {
	case entry.Status == domain.OutboxAbandoned:
		level, message = slog.LevelError, "habeas: outbox entry abandoned"
	case class == domain.LastErrorUnclaimed:
		level, message = slog.LevelError, "habeas: outbox entry not taken for a day"
	}
	attributes := []slog.Attr{
		slog.String("resolver", entry.Resolver), slog.String("operation", string(entry.Operation)),
		slog.Int("attempts", entry.Attempts), slog.String("class", class),
	}
	for _, attribute := range safelog.Error(cause) {
		if attribute.Key == "error" {
			attributes = append(attributes, attribute)
		}
	}
	w.logger().LogAttrs(ctx, level, message, attributes...)
}

// logRest says what failed beside the batches. The next time is after the interval.
func (w *SagaWorker) logRest(ctx context.Context, message string, interval time.Duration, err error) {
	if ctx.Err() != nil {
		return
	}
	attributes := append(safelog.Error(err), slog.Duration("retry_in", interval))
	w.logger().LogAttrs(ctx, slog.LevelWarn, message, attributes...)
}

// logPanic says where the runner panicked, and with what type of value, which is nil when the runner did not panic but
// ended its goroutine.
func (w *SagaWorker) logPanic(ctx context.Context, value any) {
	attributes := append(safelog.Panic(value), w.retryIn())
	w.logger().LogAttrs(ctx, slog.LevelError, "habeas: outbox batch panicked", attributes...)
}

func (w *SagaWorker) retryIn() slog.Attr { return slog.Duration("retry_in", w.options.PollInterval) }
