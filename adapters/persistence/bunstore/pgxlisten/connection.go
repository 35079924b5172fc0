package pgxlisten

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// closeTimeout bounds the farewell to a server that may not be there any more, and what pgx does then by itself: it
// dials once more, to cancel whatever it had asked.
const closeTimeout = time.Second

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
	ctx, cancel := context.WithTimeout(ctx, l.options.Timeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "LISTEN "+Channel); err != nil {
		hangUp(ctx, conn)
		return nil, err
	}
	return conn, nil
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
	wait = min(wait, l.options.MaxBackoff)
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
