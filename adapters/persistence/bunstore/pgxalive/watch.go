// Package pgxalive makes connections of pgx detect a PostgreSQL server that no longer responds. The server may have
// frozen, or its machine or network may have failed without closing the connection. Without pgxalive, the connection
// then stays open, and a statement waits until its context ends.
//
//	config, err := pgx.ParseConfig("postgres://db1,db2/shop?target_session_attrs=read-write&connect_timeout=2")
//	err = pgxalive.Watch(config, pgxalive.Options{})
//	db := bun.NewDB(stdlib.OpenDB(*config), pgdialect.New())
//
// pgxalive checks the server with a separate connection (a probe). A probe does not disturb a server that runs a long
// statement.
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
	// ProbeAfter is the time that a call waits for the server before the first probe. If the server responds to the probe
	// but the call still waits, the second probe follows after another 2 × ProbeAfter. Each further probe follows after
	// another 3 × ProbeAfter. The default is 2 s.
	ProbeAfter time.Duration
	// Timeout is the maximum duration of a probe, including the time to connect. The default is 3 s.
	Timeout time.Duration
}

// Watch changes config so that its connections detect an unresponsive server. While a call waits for the server,
// pgxalive probes the server. If a probe times out, pgxalive closes all connections of config to that server. Calls
// that wait on these connections then fail, as after a crash of the server. A pool therefore loses all its connections
// to the failed server at the same time, instead of waiting for a timeout on each of them.
//
// If a statement starts after the failure of the server, it fails within ProbeAfter + Timeout. If a statement already
// waits when the server fails, it fails within 3 × ProbeAfter + Timeout.
//
// A probe sends the first message of the PostgreSQL protocol, which needs no user and no password. A server that
// accepts no more clients responds to this message, too. If config connects to a proxy, the proxy responds to the
// probe, so that the probe does not check the servers behind the proxy.
//
// Do not use Watch for the configuration of pgxlisten. A connection that listens for notifications waits permanently,
// so pgxalive would probe its server permanently. pgxlisten checks its connection itself.
//
// config must come from pgx.ParseConfig. The ConnConfig of a pgxpool.Config meets this requirement. Watch returns
// domain.ErrConfiguration if config does not come from pgx.ParseConfig, or if an option is negative.
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

// watcher holds the open connections of a configuration.
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

// isResponsive probes a server with an SSLRequest, to which a server responds with one byte. It returns false only
// after a timeout, or if the host is unreachable. A server that refuses or closes the connection has responded. Other
// errors are errors of this machine, and say nothing about the server.
func (w *watcher) isResponsive(network, address string) bool {
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

// isSilence reports whether err, an error of a probe, means that the server did not respond.
func isSilence(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout() || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, syscall.EHOSTUNREACH)
}
