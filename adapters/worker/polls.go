package worker

import (
	"sync"
	"time"
)

// polls let the loops of a worker poll in place of each other: more of them look no more often.
type polls struct {
	mu   sync.Mutex
	last time.Time // look of any loop
}

// looked notes a look.
func (p *polls) looked(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = at
}

// wait is how long a loop has to wait before it may poll. If it is 0, the loop has to look now, and the others wait.
func (p *polls) wait(now time.Time, interval time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait := interval - now.Sub(p.last); wait > 0 {
		return wait
	}
	p.last = now
	return 0
}
