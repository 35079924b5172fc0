package pgxlisten

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// closeTimeout bounds the farewell to a server that may not be there any more, and what pgx does then by itself: it
// dials once more, to cancel whatever it had asked.
const closeTimeout = time.Second

const (
	// promotionBackoff is how long to wait at most while a standby is about to be promoted.
	promotionBackoff = 500 * time.Millisecond
	// logInterval is how often such attempts are logged at most.
	logInterval = 30 * time.Second
)

// listen holds one connection for as long as it lasts. The error is never nil.
func (l *Listener) listen(ctx context.Context) (connected bool, err error) {
	conn, err := l.connect(ctx)
	if err != nil {
		return false, err
	}
	defer hangUp(ctx, conn)
	l.logConnected(ctx)
	l.wake()
	for {
		if err := l.await(ctx, conn); err != nil {
			return true, err
		}
	}
}

func (l *Listener) connect(ctx context.Context) (*pgx.Conn, error) {
	hosts := 1 + len(l.config.Fallbacks)
	dialling, cancel := context.WithTimeout(ctx, l.options.Timeout*time.Duration(hosts))
	defer cancel()
	conn, err := pgx.ConnectConfig(dialling, l.config)
	if err != nil {
		return nil, err
	}
	answer, cancel := context.WithTimeout(ctx, l.options.Timeout)
	defer cancel()
	backend, err := conn.PgConn().Exec(answer, "SELECT pg_backend_pid()").ReadAll()
	if err == nil {
		_, err = conn.Exec(answer, "LISTEN "+Channel)
	}
	if err != nil {
		hangUp(ctx, conn)
		return nil, err
	}
	if isProxied(conn, backend) {
		l.proxied.Do(func() { l.logProxied(ctx) })
	}
	return conn, nil
}

// isProxied reports whether the server process that answered is not the one that the connection was begun with, which a
// proxy makes up.
func isProxied(conn *pgx.Conn, backend []*pgconn.Result) bool {
	if len(backend) != 1 || len(backend[0].Rows) != 1 || len(backend[0].Rows[0]) != 1 {
		return false
	}
	return string(backend[0].Rows[0][0]) != strconv.FormatUint(uint64(conn.PgConn().PID()), 10)
}

// errUnwilling says that a server was reached, and is not one that the configuration wants: it lets nobody write.
var errUnwilling = errors.New("the server is not the primary")

// markUnwilling makes the configuration's check of a server say so by errUnwilling; the check's own errors are named by
// new versions of pgx only. A check that could not be made leaves no connection, or an error of the server.
func markUnwilling(check pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	if check == nil {
		return nil
	}
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		err := check(ctx, conn)
		var failed *pgconn.PgError
		if err == nil || conn.IsClosed() || errors.As(err, &failed) {
			return err
		}
		return fmt.Errorf("%w: %w", errUnwilling, err)
	}
}

// await returns after a notification, for which the connection itself calls wake, or after a silence, once the server
// has said that it is still there.
func (l *Listener) await(ctx context.Context, conn *pgx.Conn) error {
	silence, cancel := context.WithTimeout(ctx, l.options.CheckInterval)
	defer cancel()
	_, err := conn.WaitForNotification(silence)
	if err == nil || ctx.Err() != nil || silence.Err() == nil {
		return err
	}
	answer, cancel := context.WithTimeout(ctx, l.options.Timeout)
	defer cancel()
	return conn.Ping(answer)
}

// hangUp closes the connection, also where ctx has ended.
func hangUp(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	_ = conn.Close(ctx) // nothing is left to be done about a failure
	select {
	case <-conn.PgConn().CleanupDone():
	case <-ctx.Done():
		_ = conn.PgConn().Conn().Close()
	}
}

// backoff is how long to wait before connecting again, after that many times before in a row. Chance spreads processes
// that lost their connections together.
func (l *Listener) backoff(before int) time.Duration {
	wait := l.options.FirstBackoff
	for ; before > 0 && wait < l.options.MaxBackoff; before-- {
		wait *= 2
	}
	return spread(min(wait, l.options.MaxBackoff))
}

func spread(wait time.Duration) time.Duration {
	return wait/2 + rand.N(wait/2+1) //nolint:gosec // spreads retries; nothing depends on it being secret
}

// pause waits, and reports false when ctx ends first.
func pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
