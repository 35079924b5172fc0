package worker

import (
	"sync"
	"time"
)

// polls makes all loops of a worker share one poll per PollInterval. The number of polls does not depend on the number
// of loops.
type polls struct {
	mu   sync.Mutex
	last time.Time // when any loop last began a batch or began to rest
}

// looked records that a loop began a batch or began to rest.
func (p *polls) looked(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = at
}

// wait returns how long a loop must wait before it may poll. If wait returns 0, the caller must poll now. The other
// loops then wait for another interval.
func (p *polls) wait(now time.Time, interval time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait := interval - now.Sub(p.last); wait > 0 {
		return wait
	}
	p.last = now
	return 0
}
