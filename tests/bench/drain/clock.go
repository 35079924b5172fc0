package drain

import (
	"sync"
	"time"
)

// clock measures how fast work is settled, without how it began and how it came to an end: between the moments when a
// tenth and nine tenths of it were done. It is safe for concurrent use.
type clock struct {
	mu    sync.Mutex
	work  int // to be settled
	done  int
	begin mark // a tenth
	end   mark // nine tenths
}

// mark is how much was done at a time.
type mark struct {
	done int
	at   time.Time
}

// settled is told of more work that is done, and reports whether that was all.
func (c *clock) settled(n int, at time.Time) (all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done += n
	if c.begin.done == 0 && 10*c.done >= c.work {
		c.begin = mark{c.done, at}
	}
	if c.end.done == 0 && 10*c.done >= 9*c.work {
		c.end = mark{c.done, at}
	}
	return c.done >= c.work
}

// rate is how much was settled in a second; 0 where it was so little that it was settled at once.
func (c *clock) rate() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	elapsed := c.end.at.Sub(c.begin.at)
	if elapsed <= 0 {
		return 0
	}
	return float64(c.end.done-c.begin.done) / elapsed.Seconds()
}
