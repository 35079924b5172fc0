// Package pgxlisten wakes a worker when another process gave the outbox work. bunstore notifies a channel after every
// commit that enqueues; a Listener holds one connection of its own that listens to it:
//
//	config, err := pgx.ParseConfig(databaseURL) // or pool.Config().ConnConfig
//	listener, err := pgxlisten.New(config, background.Wake, pgxlisten.Options{}) // a worker.SagaWorker
//	go listener.Run(ctx)
//
// It is a package of its own because bunstore knows no driver: an application with another one listens to Channel by
// its means, or leaves it at polling.
package pgxlisten

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/habeas-data/habeas/domain"
)

// Channel is what bunstore notifies when entries are added to the outbox, with an empty payload. The name
// is for a whole database: where several schemas of one hold tables of habeas, each wakes the listeners of all.
const Channel = "habeas_outbox"

// The defaults of Options.
const (
	DefaultFirstBackoff  = 100 * time.Millisecond
	DefaultMaxBackoff    = 30 * time.Second
	DefaultCheckInterval = 8 * time.Second
	DefaultTimeout       = 5 * time.Second
	DefaultSpread        = 3 * time.Millisecond // while notifications follow each other
)

// spreadWithin is the time within which notifications follow each other.
const spreadWithin = 100 * time.Millisecond

// Options change what a Listener does by default. The zero value is ready for use.
type Options struct {
	// FirstBackoff is about how long to wait before connecting again, doubled for each further time in a row. The
	// default is 100 ms.
	FirstBackoff time.Duration
	// MaxBackoff bounds that wait. A connection that held longer ends the row. The default is 30 s. While the servers that
	// can be reached are standbys, one of which is about to be promoted, the wait is half a second at most.
	MaxBackoff time.Duration
	// CheckInterval is how long to hear nothing before asking whether the server is still there: a network may drop a
	// silent connection without telling, and a server may freeze. The default is 8 s, so that with Timeout a server that
	// is gone is left within 15 s.
	CheckInterval time.Duration
	// Timeout bounds the wait for each response of a server. Of several hosts in the configuration, each has so long to
	// let the connection in, or as long as the connect_timeout of the configuration says if that is less. The default
	// is 5 s.
	Timeout time.Duration
	// Spread is the upper bound of the random time that a notification waits before it wakes: a commit notifies all
	// processes at the same instant, and one of them is enough. One wake serves all notifications that arrive during the
	// wait. By default, the first notification for 100 ms wakes at once, and one that follows another sooner waits for
	// up to 3 ms.
	Spread time.Duration
	// Logger gets connections that came about and those that were lost, without address or credentials. The default
	// is slog.Default().
	Logger *slog.Logger
}

// Listener listens for new outbox entries on a PostgreSQL database. It is safe for concurrent use.
type Listener struct {
	config  *pgx.ConnConfig
	wake    func()
	options Options
	proxied sync.Once    // says that there is a proxy
	waking  atomic.Bool  // soon
	last    atomic.Int64 // notification, in nanoseconds
}

// New returns a listener that calls wake when there may be work. It opens no connection.
//
// The configuration is copied; it is one that pgx.ParseConfig made, as the one of a pool is, and leads to the server
// itself, or to a proxy that keeps a session on one connection: a proxy that pools by transaction delivers no
// notifications. A listener that connects through a proxy says so in the log, once. wake must not block;
// worker.SagaWorker.Wake does not.
//
// The error is domain.ErrConfiguration: something is missing, or an option is negative.
func New(config *pgx.ConnConfig, wake func(), opts Options) (*Listener, error) {
	if config == nil || wake == nil {
		return nil, configurationError("a connection's configuration and a function to call are required")
	}
	if config.DialFunc == nil || config.RuntimeParams == nil {
		return nil, configurationError("the connection's configuration must come from pgx.ParseConfig")
	}
	for _, option := range []struct {
		value    *time.Duration
		fallback time.Duration
	}{
		{&opts.FirstBackoff, DefaultFirstBackoff},
		{&opts.MaxBackoff, DefaultMaxBackoff},
		{&opts.CheckInterval, DefaultCheckInterval},
		{&opts.Timeout, DefaultTimeout},
		{&opts.Spread, 0},
	} {
		if *option.value < 0 {
			return nil, configurationError("no option may be negative")
		}
		if *option.value == 0 {
			*option.value = option.fallback
		}
	}
	config = config.Copy()
	if config.ConnectTimeout == 0 || config.ConnectTimeout > opts.Timeout {
		config.ConnectTimeout = opts.Timeout // of each host: one that is frozen leaves the others their turn
	}
	l := &Listener{config: config, wake: wake, options: opts}
	l.config.ValidateConnect = markUnwilling(l.config.ValidateConnect)
	l.config.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) { l.wakeSoon() }
	return l, nil
}

func configurationError(message string) error {
	return &domain.Error{Code: domain.ErrConfiguration, Op: "listener", Message: message}
}

// wakeSoon wakes after a part of the spread, unless that is about to happen already.
func (l *Listener) wakeSoon() {
	most := l.spread(time.Now())
	if most == 0 {
		l.wake()
		return
	}
	if l.waking.CompareAndSwap(false, true) {
		time.AfterFunc(rand.N(most), func() { //nolint:gosec // spreads wakes; nothing depends on it being secret
			l.waking.Store(false)
			l.wake()
		})
	}
}

// spread is the longest wait of a notification that arrives now.
func (l *Listener) spread(now time.Time) time.Duration {
	if l.options.Spread > 0 {
		return l.options.Spread
	}
	last := l.last.Swap(now.UnixNano())
	if now.Sub(time.Unix(0, last)) < spreadWithin {
		return DefaultSpread
	}
	return 0
}

// Run listens until ctx ends, and only then returns, with its connection closed. It calls wake for each notification,
// and once whenever a connection has come about, because notifications may have been missed before. A connection that
// is lost, or cannot be had, is logged and tried again, for as long as it takes.
//
// Each Run holds a connection of its own, so there should be one per process.
func (l *Listener) Run(ctx context.Context) {
	var logged time.Time
	for row := 0; ; row++ {
		began := time.Now()
		connected, err := l.listen(ctx)
		if ctx.Err() != nil {
			return
		}
		if connected && time.Since(began) > l.options.MaxBackoff {
			row = 0
		}
		wait := l.backoff(row)
		promoting := errors.Is(err, errUnwilling)
		if promoting {
			wait = min(wait, spread(promotionBackoff))
		}
		if !promoting || time.Since(logged) > logInterval {
			l.logLost(ctx, connected, err, wait)
			logged = time.Now()
		}
		if !pause(ctx, wait) {
			return
		}
	}
}
