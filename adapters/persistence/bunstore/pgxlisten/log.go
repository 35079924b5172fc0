package pgxlisten

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/habeas-data/habeas/domain"
)

func (l *Listener) logger() *slog.Logger {
	if l.options.Logger != nil {
		return l.options.Logger
	}
	return slog.Default()
}

func (l *Listener) logConnected(ctx context.Context) {
	l.logger().LogAttrs(ctx, slog.LevelInfo, "habeas: listening for outbox entries")
}

// logProxied says that notifications may never come, which polling makes up for.
func (l *Listener) logProxied(ctx context.Context) {
	l.logger().LogAttrs(ctx, slog.LevelWarn,
		"habeas: the connection that listens for outbox entries leads through a proxy;"+
			" one that pools by transaction delivers no notifications: let it lead to the server itself")
}

// logLost says that nobody listens just now. The text of the error stays out: a driver's names the server, the user
// and the database, and whatever a dialer has to say.
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
