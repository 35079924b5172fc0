package outbox

import (
	"strconv"
	"sync"
	"time"
)

const (
	// slowStatement is the duration from which replans considers the query plan of a statement bad.
	slowStatement = 20 * time.Millisecond
	// firstReplan is the minimum time between the first two replans (requests for a new query plan). This time doubles
	// with each replan, up to lastReplan.
	firstReplan = 500 * time.Millisecond
	lastReplan  = time.Hour
)

// replans makes the database plan slow statements again. Databases keep the query plan of a prepared statement. For an
// empty outbox, the plan reads the complete table. When the outbox grows, this plan becomes slow, until the database
// has analyzed the table. replans appends a comment to statements and changes the comment after a slow statement. The
// database then regards the text as a new statement, and plans it. replans is safe for concurrent use.
type replans struct {
	mu       sync.Mutex
	n        int
	next     time.Time
	interval time.Duration
}

// Mark returns the comment that the caller must append to its statements. It is empty until a statement was slow.
func (r *replans) Mark() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n == 0 {
		return ""
	}
	return " /* " + strconv.Itoa(r.n) + " */"
}

// Took records the duration of a statement that the caller has run with a comment from Mark. If the statement was slow,
// later calls of Mark return another comment.
func (r *replans) Took(mark string, began, now time.Time) {
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
