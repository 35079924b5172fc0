package conn

import (
	"strconv"
	"sync"
	"time"
)

const (
	// slowStatement is the duration from which the plan of a statement on a batch of the outbox is considered bad.
	slowStatement = 20 * time.Millisecond
	// firstReplan is the minimum time between the first two replans. This time doubles with each replan, up to lastReplan.
	firstReplan = 500 * time.Millisecond
	lastReplan  = time.Hour
)

// Replans makes the database plan slow statements again. Databases keep the plan of a prepared statement. A plan that
// was made for an empty queue reads the whole table after the queue has grown, until the database has analyzed the
// table. Replans changes a comment in the statement. The database regards the text as a new statement, and plans it.
// Replans is safe for concurrent use.
type Replans struct {
	mu       sync.Mutex
	n        int
	next     time.Time
	interval time.Duration
}

// Mark returns the comment to append to statements.
func (r *Replans) Mark() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n == 0 {
		return ""
	}
	return " /* " + strconv.Itoa(r.n) + " */"
}

// Took records how long a statement with a mark took.
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
