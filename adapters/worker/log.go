package worker

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/habeas-data/habeas/adapters/internal/safelog"
	"github.com/habeas-data/habeas/domain"
)

func (w *SagaWorker) logger() *slog.Logger { return cmp.Or(w.options.Logger, slog.Default()) }

// logFailure logs that a batch failed. The level is a warning if a later batch may succeed, and otherwise an error. It
// does not log a batch that ended because ctx was canceled.
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

// logEntry logs an outbox entry that did not succeed. The level is a warning if the runner retries the entry, and an
// error if an operator must act.
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
		level, message = slog.LevelError, "habeas: outbox entry not claimed for a day"
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

// logPeriodic logs that repeated work failed, unless ctx has ended. The parameter interval is the time until the next
// attempt.
func (w *SagaWorker) logPeriodic(
	ctx context.Context, message string, interval time.Duration, err error, about ...slog.Attr,
) {
	if ctx.Err() != nil {
		return
	}
	attributes := append(safelog.Error(err), slog.Duration("retry_in", interval))
	w.logger().LogAttrs(ctx, slog.LevelWarn, message, append(attributes, about...)...)
}

// logPanic logs the place of a panic of the runner and the type of the panic value. The value is nil if the runner
// ended its goroutine with runtime.Goexit.
func (w *SagaWorker) logPanic(ctx context.Context, value any) {
	attributes := append(safelog.Panic(value), w.retryIn())
	w.logger().LogAttrs(ctx, slog.LevelError, "habeas: outbox batch panicked", attributes...)
}

func (w *SagaWorker) retryIn() slog.Attr { return slog.Duration("retry_in", w.options.PollInterval) }
