package drain

import (
	"sync"
	"time"
)

// clock measures the rate at which a run settles jobs. It counts only the time from one tenth to nine tenths of the
// jobs, because the start and the end of a run are slower. It is safe for concurrent use.
type clock struct {
	mu    sync.Mutex
	work  int // number of jobs to settle
	done  int
	begin mark // at a tenth
	end   mark // at nine tenths
}

// mark is the number of settled jobs at one instant.
type mark struct {
	done int
	at   time.Time
}

// settled adds n settled jobs and reports whether all jobs are now settled.
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

// rate returns the number of settled jobs per second. It returns 0 if all jobs were settled in one call of settled,
// because no time can be measured then.
func (c *clock) rate() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	elapsed := c.end.at.Sub(c.begin.at)
	if elapsed <= 0 {
		return 0
	}
	return float64(c.end.done-c.begin.done) / elapsed.Seconds()
}
