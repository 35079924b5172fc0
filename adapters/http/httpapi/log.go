package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

func (a *API) logger() *slog.Logger {
	if a.config.Logger != nil {
		return a.config.Logger
	}
	return slog.Default()
}

// logFailure says that a request failed on the server's side: an error where something is broken, a warning where
// time may heal it. Of the errors, only those of package domain have a text that is safe to log; of all others the
// class is all that is said.
func (a *API) logFailure(ctx context.Context, endpoint Endpoint, status int, err error) {
	level := slog.LevelWarn
	if status == http.StatusInternalServerError {
		level = slog.LevelError
	}
	attributes := []slog.Attr{
		slog.String("operation", endpoint.OperationID),
		slog.Int("status", status),
		slog.String("class", domain.ErrorClass(err)),
	}
	var coded *domain.Error
	if errors.As(err, &coded) {
		attributes = append(attributes, slog.String("error", coded.Error()))
	}
	a.logger().LogAttrs(ctx, level, "habeas: request failed", attributes...)
}

// logPanic says where a request panicked, and with what type of value. The value itself may hold anything.
func (a *API) logPanic(ctx context.Context, endpoint Endpoint, value any) {
	a.logger().LogAttrs(ctx, slog.LevelError, "habeas: request panicked",
		slog.String("operation", endpoint.OperationID),
		slog.Int("status", http.StatusInternalServerError),
		slog.String("class", "panic"),
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
