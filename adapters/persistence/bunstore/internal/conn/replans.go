package conn

import (
	"strconv"
	"sync"
	"time"
)

const (
	// slowStatement is what a statement about a batch of the outbox may take before its plan is in doubt.
	slowStatement = 20 * time.Millisecond
	// firstReplan is how long after a change of plans the next one may come, doubled each time up to lastReplan.
	firstReplan = 500 * time.Millisecond
	lastReplan  = time.Hour
)

// Replans has statements planned again that have become slow. Databases keep the plan of a prepared statement. A plan
// that was made for an empty queue reads the whole table when the queue has grown, until the database has analyzed it.
// A statement with another comment is another statement. It is safe for concurrent use.
type Replans struct {
	mu       sync.Mutex
	n        int
	next     time.Time
	interval time.Duration
}

// Mark is the comment that statements end with now.
func (r *Replans) Mark() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n == 0 {
		return ""
	}
	return " /* " + strconv.Itoa(r.n) + " */"
}

// Took notes how long a statement with a mark took.
func (r *Replans) Took(mark string, began, now time.Time) {
	if now.Sub(began) < slowStatement || mark != r.Mark() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Before(r.next) {
		return
	}
	r.n++
	r.interval = min(max(2*r.interval, firstReplan), lastReplan)
	r.next = now.Add(r.interval)
}
