package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"github.com/habeas-data/habeas/adapters/internal/safelog"
)

// logFailure logs that a request failed with a status of 500 or above. The level is error for status 500. For any other
// status the level is warning, because the same request may succeed later.
func (a *API) logFailure(ctx context.Context, endpoint Endpoint, status int, err error) {
	level := slog.LevelWarn
	if status == http.StatusInternalServerError {
		level = slog.LevelError
	}
	a.log(ctx, level, "habeas: request failed", endpoint, status, safelog.Error(err))
}

// logPanic logs the type of the value of a panic, and the place in the code that panicked.
func (a *API) logPanic(ctx context.Context, endpoint Endpoint, value any) {
	a.log(ctx, slog.LevelError, "habeas: request panicked", endpoint, http.StatusInternalServerError, safelog.Panic(value))
}

func (a *API) log(
	ctx context.Context, level slog.Level, message string, endpoint Endpoint, status int, failure []slog.Attr,
) {
	attributes := append([]slog.Attr{
		slog.String("operation", endpoint.OperationID), slog.Int("status", status),
	}, failure...)
	cmp.Or(a.config.Logger, slog.Default()).LogAttrs(ctx, level, message, attributes...)
}
