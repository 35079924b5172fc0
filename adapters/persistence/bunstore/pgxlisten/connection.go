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

// closeTimeout is the maximum duration of closing a connection. The limit is necessary because the server may not
// respond any more. The duration includes the cleanup of pgx, which opens another connection to cancel the current
// query.
const closeTimeout = time.Second

const (
	// firstBackoff is the upper bound of the wait before the first attempt to connect again. It doubles with each
	// consecutive failure, up to maxBackoff. A connection that lasted longer than maxBackoff resets it.
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 30 * time.Second
	// promotionBackoff is the maximum wait after an attempt that reached only standbys. It is short, because a standby may
	// soon be promoted to the primary.
	promotionBackoff = 500 * time.Millisecond
	// logInterval is the minimum time between two log records about attempts that reached only standbys.
	logInterval = 30 * time.Second
)

// listen connects to the server and listens for notifications until the connection fails or ctx ends. It reports
// whether the listener had a connection. The error is never nil.
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
		_, err = conn.Exec(response, "LISTEN "+ChannelOf(l.options.Name))
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

// isProxied reports whether the connection goes through a proxy. At the start of a connection, a proxy sends an
// invented process id, which differs from the process id of the server that runs the statements. The parameter backend
// is the result of SELECT pg_backend_pid().
func isProxied(conn *pgx.Conn, backend []*pgconn.Result) bool {
	if len(backend) != 1 || len(backend[0].Rows) != 1 || len(backend[0].Rows[0]) != 1 {
		return false
	}
	return string(backend[0].Rows[0][0]) != strconv.FormatUint(uint64(conn.PgConn().PID()), 10)
}

// errNotPrimary means that the server responds but that ValidateConnect of the configuration refuses it, for example
// because it is a standby and the configuration requires a primary.
var errNotPrimary = errors.New("the server is not the primary")

// markNotPrimary wraps validate, the ValidateConnect of a configuration. The returned function returns errNotPrimary if
// validate refuses the server. Only new versions of pgx have an error for this case. If the connection is closed or the
// server returns an error, validate could not be completed, and its error remains unchanged.
func markNotPrimary(validate pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	if validate == nil {
		return nil
	}
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		err := validate(ctx, conn)
		var failed *pgconn.PgError
		if err == nil || conn.IsClosed() || errors.As(err, &failed) {
			return err
		}
		return fmt.Errorf("%w: %w", errNotPrimary, err)
	}
}

// await waits for a notification. The connection's OnNotification function then calls wake. If no notification arrives
// within checkInterval, await pings the server. It returns an error if the server does not respond or the connection
// fails.
func (l *Listener) await(ctx context.Context, conn *pgx.Conn) error {
	silence, cancel := context.WithTimeout(ctx, checkInterval)
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

// backoff returns the wait before the next attempt to connect. Its parameter is the number of consecutive failures
// minus one. The wait has a random part, so that processes that lost their connections at the same time do not connect
// again at the same time.
func backoff(before int) time.Duration {
	wait := firstBackoff
	for ; before > 0 && wait < maxBackoff; before-- {
		wait *= 2
	}
	return spread(min(wait, maxBackoff))
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
