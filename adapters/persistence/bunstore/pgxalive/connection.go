package pgxalive

import (
	"net"
	"sync"
	"time"
)

// connection is a watched connection to a server. A timer runs while a call of Read or Write waits for the server. When
// the timer expires, a probe (a check on a separate connection) starts.
type connection struct {
	net.Conn
	watcher          *watcher
	network, address string

	mu      sync.Mutex
	pending int           // the number of running calls of Read and Write
	timer   *time.Timer   // nil before the first call
	wait    time.Duration // the duration for which the timer was set
	probing bool          // a probe is running
	closed  bool
}

func (c *connection) Read(b []byte) (int, error) {
	c.begin()
	defer c.end()
	return c.Conn.Read(b)
}

func (c *connection) Write(b []byte) (int, error) {
	c.begin()
	defer c.end()
	return c.Conn.Write(b)
}

func (c *connection) Close() error {
	c.mu.Lock()
	c.closed = true
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	c.watcher.forget(c)
	return c.Conn.Close()
}

func (c *connection) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending++
	if c.pending == 1 && !c.probing {
		c.arm(c.watcher.options.ProbeAfter)
	}
}

func (c *connection) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending--
	if c.pending == 0 && c.timer != nil {
		c.timer.Stop()
	}
}

// arm starts the timer. The caller must hold mu.
func (c *connection) arm(wait time.Duration) {
	if c.wait = wait; c.closed {
		return
	}
	if c.timer == nil {
		c.timer = time.AfterFunc(wait, c.probe)
		return
	}
	c.timer.Reset(wait)
}

// probe checks whether the server responds. If the server does not respond, probe closes all connections to it that
// were open before the check. Otherwise, probe starts the timer again if a call still waits.
func (c *connection) probe() {
	c.mu.Lock()
	if c.pending == 0 || c.closed || c.probing { // the server has just responded
		c.mu.Unlock()
		return
	}
	c.probing = true
	c.mu.Unlock()

	before := c.watcher.connections(c.address)
	responds := c.watcher.isResponsive(c.network, c.address)
	if !responds {
		for _, lost := range before {
			_ = lost.Close() // after an error, no further cleanup is possible
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probing = false
	if responds && c.pending > 0 {
		c.arm(min(c.wait+c.watcher.options.ProbeAfter, 3*c.watcher.options.ProbeAfter))
	}
}
