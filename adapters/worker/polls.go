package worker

import (
	"sync"
	"time"
)

// polls prevents several loops of a worker from polling the outbox within one PollInterval. Thus the number of polls
// does not depend on the number of loops.
type polls struct {
	mu   sync.Mutex
	last time.Time // time when a loop last began a batch or a sleep
}

// record records that a loop begins a batch or a sleep.
func (p *polls) record(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = at
}

// wait returns how long a loop must wait before it may poll the outbox. If wait returns 0, the caller must poll
// immediately. The other loops then wait for another interval.
func (p *polls) wait(now time.Time, interval time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait := interval - now.Sub(p.last); wait > 0 {
		return wait
	}
	p.last = now
	return 0
}
