// Package pgxalive makes connections of pgx detect a PostgreSQL server that does not respond any more. The server may
// have frozen, or its machine or network may have failed without closing the connection. Without such a check, a
// connection to the server stays open, and a statement waits until its context ends.
//
//	config, err := pgx.ParseConfig("postgres://db1,db2/shop?target_session_attrs=read-write&connect_timeout=2")
//	err = pgxalive.Watch(config, pgxalive.Options{})
//	db := bun.NewDB(stdlib.OpenDB(*config), pgdialect.New())
//
// The check uses a separate connection, so that it does not disturb a server that runs a long statement.
package pgxalive

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/habeas-data/habeas/domain"
)

// The defaults of Options.
const (
	DefaultProbeAfter = 2 * time.Second
	DefaultTimeout    = 3 * time.Second
)

// Options change the defaults of Watch. The zero value is ready for use.
type Options struct {
	// ProbeAfter is the time that a connection waits for its server before Watch probes the server. While the wait goes
	// on, the second probe follows after another 2 × ProbeAfter, and each further probe after another 3 × ProbeAfter. The
	// default is 2 s.
	ProbeAfter time.Duration
	// Timeout is the timeout of a probe, including the time to connect. The default is 3 s.
	Timeout time.Duration
}

// Watch changes config so that its connections detect an unresponsive server. If a probe of the server times out, Watch
// closes all connections of config to that server. Calls that wait on these connections fail, as after a crash of the
// server. A pool therefore does not try its other connections to the server one after the other.
//
// A statement that starts after the failure of the server fails within ProbeAfter + Timeout. A statement that already
// waits at that time fails within 3 × ProbeAfter + Timeout.
//
// A probe sends the first message of the PostgreSQL protocol, which needs no user and no password. A server that
// accepts no more clients responds to it, too. A proxy responds itself, so that a probe does not check the servers
// behind it.
//
// A connection that listens for notifications waits permanently, so its server would be probed permanently. Do not
// watch the configuration of pgxlisten, which checks its connection itself.
//
// config must come from pgx.ParseConfig, as the configuration of a pool does. Returns domain.ErrConfiguration if config
// has another origin, or if an option is negative.
func Watch(config *pgx.ConnConfig, opts Options) error {
	if config == nil || config.DialFunc == nil {
		return configurationError("config must come from pgx.ParseConfig")
	}
	if opts.ProbeAfter < 0 || opts.Timeout < 0 {
		return configurationError("options must not be negative")
	}
	if opts.ProbeAfter == 0 {
		opts.ProbeAfter = DefaultProbeAfter
	}
	if opts.Timeout == 0 {
		opts.Timeout = DefaultTimeout
	}
	w := &watcher{dial: config.DialFunc, options: opts, open: map[*connection]struct{}{}}
	config.DialFunc = w.connect
	return nil
}

func configurationError(message string) error {
	return &domain.Error{Code: domain.ErrConfiguration, Op: "watch server", Message: message}
}

// watcher tracks the open connections of a configuration.
type watcher struct {
	dial    pgconn.DialFunc
	options Options

	mu   sync.Mutex
	open map[*connection]struct{}
}

func (w *watcher) connect(ctx context.Context, network, address string) (net.Conn, error) {
	inner, err := w.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: inner, watcher: w, network: network, address: address}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[c] = struct{}{}
	return c, nil
}

func (w *watcher) forget(c *connection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, c)
}

// connections returns the open connections to a server.
func (w *watcher) connections(address string) []*connection {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*connection
	for c := range w.open {
		if c.address == address {
			all = append(all, c)
		}
	}
	return all
}

// responds probes a server with an SSLRequest, to which a server responds with one byte. Only a timeout or an
// unreachable host counts as silence. A server that refuses or closes the connection responds, and a local error does
// not concern the server.
func (w *watcher) responds(network, address string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), w.options.Timeout)
	defer cancel()
	conn, err := w.dial(ctx, network, address)
	if err != nil {
		return !isSilence(err)
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return true
	}
	if _, err = conn.Write([]byte{0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f}); err == nil { // SSLRequest
		_, err = conn.Read(make([]byte, 1))
	}
	return err == nil || !isSilence(err)
}

// isSilence reports whether an error of a probe means that the server did not respond.
func isSilence(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout() || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, syscall.EHOSTUNREACH)
}
