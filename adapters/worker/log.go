package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

func (w *SagaWorker) logger() *slog.Logger {
	if w.options.Logger != nil {
		return w.options.Logger
	}
	return slog.Default()
}

// logFailure says that a batch failed: a warning where time may heal it, else an error. Of the errors, only those of
// package domain have a text that is safe to log; of all others the class is all that is said. A batch that ended
// because it was told to did not fail.
func (w *SagaWorker) logFailure(ctx context.Context, settled int, err error) {
	class := domain.ErrorClass(err)
	if ctx.Err() != nil && class == "canceled" {
		return
	}
	level := slog.LevelError
	if class == "timeout" || class == string(domain.ErrUnavailable) {
		level = slog.LevelWarn
	}
	attributes := []slog.Attr{
		slog.String("class", class),
		slog.Int("settled", settled),
		slog.Duration("retry_in", w.options.PollInterval),
	}
	var coded *domain.Error
	if errors.As(err, &coded) {
		attributes = append(attributes, slog.String("error", coded.Error()))
	}
	w.logger().LogAttrs(ctx, level, "habeas: outbox batch failed", attributes...)
}

// logPanic says where the runner panicked, and with what type of value. The value itself may hold anything. It is nil
// when the runner did not panic but ended its goroutine.
func (w *SagaWorker) logPanic(ctx context.Context, value any) {
	w.logger().LogAttrs(ctx, slog.LevelError, "habeas: outbox batch panicked",
		slog.String("class", "panic"),
		slog.Duration("retry_in", w.options.PollInterval),
		slog.String("panic", fmt.Sprintf("%T", value)),
		slog.String("stack", stack()),
	)
}

// stack lists the functions that are being called and where. Unlike debug.Stack it leaves out their arguments, among
// which may be the number of a subject.
func stack() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	var b strings.Builder
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		fmt.Fprintf(&b, "%s\n\t%s:%d\n", frame.Function, frame.File, frame.Line)
	}
	return b.String()
}
