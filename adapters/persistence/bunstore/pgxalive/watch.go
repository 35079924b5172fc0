// Package pgxalive lets the connections of pgx notice a PostgreSQL server that no longer responds: one that has frozen,
// or whose machine or network is gone without a word. A connection to such a server stays open, and a statement on it
// waits for as long as its context allows.
//
//	config, err := pgx.ParseConfig("postgres://db1,db2/shop?target_session_attrs=read-write&connect_timeout=2")
//	err = pgxalive.Watch(config, pgxalive.Options{})
//	db := bun.NewDB(stdlib.OpenDB(*config), pgdialect.New())
//
// A server that works on a long statement is not disturbed: whether it is there is asked over a connection of its own.
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
	DefaultSilence = 2 * time.Second
	DefaultTimeout = 3 * time.Second
)

// Options change how a server is watched. The zero value is ready for use.
type Options struct {
	// Silence is how long a connection waits for its server until the server is asked whether it is there. It is asked
	// again after twice and then every three times as long, while the wait goes on. The default is 2 s.
	Silence time.Duration
	// Timeout bounds the wait for the response to that question, connecting included. The default is 3 s.
	Timeout time.Duration
}

// Watch changes the configuration so that a server which does not respond within Timeout is left: all of the
// configuration's connections to it are closed, and what waits on them fails, as it does when a server is killed.
// Statements on an open connection are then known to be lost within Silence and Timeout, and the other connections of
// a pool are not tried in vain.
//
// A server is asked by the first message of the protocol, which needs no user and no password, and which a server that
// refuses further clients answers, too. A proxy answers for itself, not for the servers behind it.
//
// A connection that listens waits all the time, so its server would be probed all the time. pgxlisten therefore checks
// its connection itself, and needs a configuration that is not watched.
//
// The configuration must come from pgx.ParseConfig, as the configuration of a pool does. The error is
// domain.ErrConfiguration if the configuration has another origin, or if an option is negative.
func Watch(config *pgx.ConnConfig, opts Options) error {
	if config == nil || config.DialFunc == nil {
		return configurationError("the connection's configuration must come from pgx.ParseConfig")
	}
	if opts.Silence < 0 || opts.Timeout < 0 {
		return configurationError("no option may be negative")
	}
	if opts.Silence == 0 {
		opts.Silence = DefaultSilence
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

// watcher knows the open connections of a configuration.
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

// connections are those to a server that are open now.
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

// responds asks a server whether it encrypts, which it answers with one byte. Only a timeout counts as silence: whoever
// refuses or hangs up is there, and an error of this machine says nothing about the server.
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

func isSilence(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout() || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, syscall.EHOSTUNREACH)
}
