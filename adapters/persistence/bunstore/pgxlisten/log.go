package pgxlisten

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/habeas-data/habeas/domain"
)

func (l *Listener) logger() *slog.Logger { return cmp.Or(l.options.Logger, slog.Default()) }

func (l *Listener) logConnected(ctx context.Context) {
	l.logger().LogAttrs(ctx, slog.LevelInfo, "habeas: listening for outbox entries")
}

// logProxied logs a warning that the proxy may not deliver notifications. Workers would then find outbox entries only
// by polling.
func (l *Listener) logProxied(ctx context.Context) {
	l.logger().LogAttrs(ctx, slog.LevelWarn,
		"habeas: the connection that listens for outbox entries goes through a proxy; a proxy in transaction pooling mode"+
			" does not deliver notifications: connect to the server itself")
}

// logLost logs a warning that the listener has no connection. It does not log the text of err, which may contain the
// names of the server, the user and the database, and messages of a custom dialer.
func (l *Listener) logLost(ctx context.Context, connected bool, err error, retryIn time.Duration) {
	message := "habeas: cannot connect to listen for outbox entries"
	if connected {
		message = "habeas: lost the connection that listens for outbox entries"
	}
	attributes := []slog.Attr{
		slog.String("class", domain.ErrorClass(&domain.Error{Code: domain.ErrUnavailable, Err: err})),
		slog.Duration("retry_in", retryIn),
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		attributes = append(attributes, slog.String("sqlstate", refused.Code))
	}
	l.logger().LogAttrs(ctx, slog.LevelWarn, message, attributes...)
}
