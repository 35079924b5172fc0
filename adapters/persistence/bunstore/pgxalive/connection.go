package pgxalive

import (
	"net"
	"sync"
	"time"
)

// connection is one to a server. While a call waits for the server, a timer runs.
type connection struct {
	net.Conn
	watcher          *watcher
	network, address string

	mu      sync.Mutex
	pending int           // calls that wait
	timer   *time.Timer   // nil before the first
	wait    time.Duration // of the timer
	asking  bool
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
	if c.pending == 1 && !c.asking {
		c.arm(c.watcher.options.Silence)
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

// arm starts the timer. The caller holds mu.
func (c *connection) arm(wait time.Duration) {
	if c.wait = wait; c.closed {
		return
	}
	if c.timer == nil {
		c.timer = time.AfterFunc(wait, c.ask)
		return
	}
	c.timer.Reset(wait)
}

// ask finds out whether the server is there, after a silence. If it is not, its connections are closed, but for those
// that came about meanwhile.
func (c *connection) ask() {
	c.mu.Lock()
	if c.pending == 0 || c.closed || c.asking { // the response has just come
		c.mu.Unlock()
		return
	}
	c.asking = true
	c.mu.Unlock()

	before := c.watcher.connections(c.address)
	responds := c.watcher.responds(c.network, c.address)
	if !responds {
		for _, lost := range before {
			_ = lost.Close() // nothing is left to be done about a failure
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asking = false
	if responds && c.pending > 0 {
		c.arm(min(c.wait+c.watcher.options.Silence, 3*c.watcher.options.Silence))
	}
}
