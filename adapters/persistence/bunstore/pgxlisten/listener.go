// Package pgxlisten wakes a worker when another process has added entries to the outbox. After a commit that adds
// entries, bunstore sends a notification on a PostgreSQL channel. A Listener holds one connection that listens on this
// channel:
//
//	config, err := pgx.ParseConfig(databaseURL) // or pool.Config().ConnConfig
//	listener, err := pgxlisten.New(config, background.Wake, pgxlisten.Options{}) // a worker.SagaWorker
//	go listener.Run(ctx)
//
// The package needs the driver pgx, and is separate from bunstore because bunstore depends on no driver. An application
// with another driver can listen on Channel with that driver, or on the channel that ChannelOf returns if the data map
// has a name. Without a listener, workers find the entries by polling.
package pgxlisten

import (
	"cmp"
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
	"github.com/habeas-data/habeas/domain/datamap"
)

// Channel is the PostgreSQL channel on which bunstore sends a notification after new outbox entries of a data map
// without a name. The payload is empty. A channel belongs to a database, not to a schema. If several schemas of a
// database have tables of habeas for data maps of the same name, a notification for one schema wakes the listeners of
// all schemas.
const Channel = "habeas_outbox"

// ChannelOf returns the channel for a data map with this name (bunstore.Options.Name). It returns Channel if the name
// is empty. The name must be valid, see datamap.CheckMapName.
func ChannelOf(name string) string { return datamap.ObjectPrefix(name) + "outbox" }

const (
	// defaultTimeout is the default of Options.Timeout. A listener with this timeout closes its connection to an
	// unresponsive server within 15 s.
	defaultTimeout = 5 * time.Second
	// checkInterval is the time without a notification after which a listener checks that the server responds. A network
	// may drop an idle connection silently, and a server may freeze.
	checkInterval = 8 * time.Second
	// jitter is the upper bound of the random delay between a notification and the call of wake, if the notification
	// follows another one within jitterWithin. Without a delay, a commit would make the workers of all processes look for
	// the new entries at the same time, although one worker is enough. One call of wake serves all notifications that
	// arrive during the delay.
	jitter       = 3 * time.Millisecond
	jitterWithin = 100 * time.Millisecond
)

// Options change the defaults of a Listener. The zero value is ready for use.
type Options struct {
	// Name is the name of the data map whose entries wake the worker, as in bunstore.Options. It has 1 to 20 of the
	// characters a to z and 0 to 9. The default is "", for the data map without a name.
	Name string
	// Timeout is the maximum time that the listener waits for a response of the server. It is also the timeout of the
	// connection attempt to each host of the configuration, unless the connect_timeout of the configuration is shorter.
	// The default is 5 s.
	Timeout time.Duration
	// Logger receives a record about each established connection, each lost connection and each failed attempt to connect,
	// without addresses and credentials. While only standbys respond, it receives at most one record in 30 s. The default
	// is slog.Default().
	Logger *slog.Logger
}

// Listener listens for new outbox entries on a PostgreSQL database. It is safe for concurrent use.
type Listener struct {
	config  *pgx.ConnConfig
	wake    func()
	options Options
	proxied sync.Once    // logs the warning about a proxy once
	waking  atomic.Bool  // a delayed call of wake is scheduled
	last    atomic.Int64 // the time of the last notification, in nanoseconds since 1970
}

// New returns a listener that calls wake when there may be new outbox entries. It opens no connection. wake must not
// block. worker.SagaWorker.Wake is suitable.
//
// New copies config, which must come from pgx.ParseConfig. The ConnConfig of a pgxpool.Config meets this requirement.
// config must connect to the server itself or to a proxy in session pooling mode. A proxy in transaction pooling mode
// does not deliver notifications. A listener that connects through any proxy logs one warning.
//
// New returns domain.ErrConfiguration if an argument is nil, if config does not come from pgx.ParseConfig, if
// Options.Timeout is negative, or if Options.Name is not valid.
func New(config *pgx.ConnConfig, wake func(), opts Options) (*Listener, error) {
	if config == nil || wake == nil {
		return nil, domain.Misconfigured("listener", "config and wake are required")
	}
	if config.DialFunc == nil || config.RuntimeParams == nil {
		return nil, domain.Misconfigured("listener", "config must come from pgx.ParseConfig")
	}
	if err := datamap.CheckMapName("listener", opts.Name); err != nil {
		return nil, err
	}
	if opts.Timeout < 0 {
		return nil, domain.Misconfigured("listener", "Timeout must not be negative")
	}
	opts.Timeout = cmp.Or(opts.Timeout, defaultTimeout)
	config = config.Copy()
	if config.ConnectTimeout == 0 || config.ConnectTimeout > opts.Timeout {
		config.ConnectTimeout = opts.Timeout // applies to each host, so that pgx tries the other hosts after a frozen one
	}
	l := &Listener{config: config, wake: wake, options: opts}
	l.config.ValidateConnect = markNotPrimary(l.config.ValidateConnect)
	l.config.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) { l.wakeSoon() }
	return l, nil
}

// wakeSoon calls wake immediately, or after a random delay if another notification has just arrived. If a delayed call
// is scheduled already, wakeSoon does nothing.
func (l *Listener) wakeSoon() {
	now := time.Now()
	if last := l.last.Swap(now.UnixNano()); now.Sub(time.Unix(0, last)) >= jitterWithin {
		l.wake()
		return
	}
	if l.waking.CompareAndSwap(false, true) {
		time.AfterFunc(rand.N(jitter), func() { //nolint:gosec // spreads wakes; nothing depends on it being secret
			l.waking.Store(false)
			l.wake()
		})
	}
}

// Run listens until ctx ends. It closes its connection before it returns. Run calls wake for each notification. It also
// calls wake after each successful attempt to connect, because notifications that were sent before are lost. If Run
// cannot connect or loses the connection, it logs the failure and tries again until ctx ends.
//
// Each call of Run holds its own connection. One call per process is enough.
func (l *Listener) Run(ctx context.Context) {
	var logged time.Time
	for failures := 0; ; failures++ {
		began := time.Now()
		connected, err := l.listen(ctx)
		if ctx.Err() != nil {
			return
		}
		if connected && time.Since(began) > maxBackoff {
			failures = 0
		}
		wait := backoff(failures)
		promoting := errors.Is(err, errNotPrimary)
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
