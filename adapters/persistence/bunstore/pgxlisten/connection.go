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

// closeTimeout is the timeout to close a connection to a server that may not respond any more. The time includes the
// cleanup of pgx, which opens another connection to cancel the current query.
const closeTimeout = time.Second

const (
	// promotionBackoff is the maximum wait after an attempt that reached only a standby, which may soon be promoted.
	promotionBackoff = 500 * time.Millisecond
	// logInterval is the minimum time between two log records of such attempts.
	logInterval = 30 * time.Second
)

// listen connects, and listens until the connection fails or ctx ends. The error is never nil.
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
	response, cancel := context.WithTimeout(ctx, l.options.Timeout)
	defer cancel()
	backend, err := conn.PgConn().Exec(response, "SELECT pg_backend_pid()").ReadAll()
	if err == nil {
		_, err = conn.Exec(response, "LISTEN "+Channel)
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

// isProxied reports whether the connection goes through a proxy. A proxy invents the process id that it sends at the
// start of a connection, so that this id differs from the id of the server process that responds.
func isProxied(conn *pgx.Conn, backend []*pgconn.Result) bool {
	if len(backend) != 1 || len(backend[0].Rows) != 1 || len(backend[0].Rows[0]) != 1 {
		return false
	}
	return string(backend[0].Rows[0][0]) != strconv.FormatUint(uint64(conn.PgConn().PID()), 10)
}

// errUnwilling reports that the server responds but fails the configuration's check of the server (ValidateConnect),
// for example because it is a standby and the configuration requires a primary.
var errUnwilling = errors.New("the server is not the primary")

// markUnwilling wraps the configuration's check of a server, so that it returns errUnwilling if the check refuses the
// server. Only new versions of pgx have an error for this. A closed connection or an error of the server means that the
// check could not be completed.
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

// await returns nil after a notification, for which the connection's OnNotification has called wake. It also returns
// nil after CheckInterval without a notification if the server then responds to a ping.
func (l *Listener) await(ctx context.Context, conn *pgx.Conn) error {
	silence, cancel := context.WithTimeout(ctx, l.options.CheckInterval)
	defer cancel()
	_, err := conn.WaitForNotification(silence)
	if err == nil || ctx.Err() != nil || silence.Err() == nil {
		return err
	}
	response, cancel := context.WithTimeout(ctx, l.options.Timeout)
	defer cancel()
	return conn.Ping(response)
}

// hangUp closes the connection, even if ctx has ended.
func hangUp(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	_ = conn.Close(ctx) // after an error, no further cleanup is possible
	select {
	case <-conn.PgConn().CleanupDone():
	case <-ctx.Done():
		_ = conn.PgConn().Conn().Close()
	}
}

// backoff returns the wait before the next attempt to connect, after a number of consecutive failures before this one.
// A random part spreads processes that lost their connections at the same time.
func (l *Listener) backoff(before int) time.Duration {
	wait := l.options.FirstBackoff
	for ; before > 0 && wait < l.options.MaxBackoff; before-- {
		wait *= 2
	}
	return spread(min(wait, l.options.MaxBackoff))
}

// spread returns a random duration between half of wait and wait.
func spread(wait time.Duration) time.Duration {
	return wait/2 + rand.N(wait/2+1) //nolint:gosec // spreads retries; nothing depends on it being secret
}

// pause waits. It returns false if ctx ends first.
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
