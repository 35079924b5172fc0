package drain

import (
	"sync"
	"time"
)

// clock measures the rate at which a run completes jobs. It counts only the time between the completion of one tenth
// and of nine tenths of the jobs, because the start and the end of a run are slower. It is safe for concurrent use.
type clock struct {
	mu    sync.Mutex
	work  int // number of jobs to settle
	done  int
	begin reading // when a tenth of the jobs was completed
	end   reading // when nine tenths of the jobs were completed
}

// reading is the number of completed jobs at one instant.
type reading struct {
	done int
	at   time.Time
}

// settled adds n completed jobs and reports whether all jobs are now complete.
func (c *clock) settled(n int, at time.Time) (all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done += n
	if c.begin.done == 0 && 10*c.done >= c.work {
		c.begin = reading{c.done, at}
	}
	if c.end.done == 0 && 10*c.done >= 9*c.work {
		c.end = reading{c.done, at}
	}
	return c.done >= c.work
}

// rate returns the number of completed jobs per second. If all jobs were completed in one call of settled, it returns
// 0, because no time can be measured.
func (c *clock) rate() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	elapsed := c.end.at.Sub(c.begin.at)
	if elapsed <= 0 {
		return 0
	}
	return float64(c.end.done-c.begin.done) / elapsed.Seconds()
}
