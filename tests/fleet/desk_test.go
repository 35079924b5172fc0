package fleet_test

import (
	"net/http"
	"sync"
)

const (
	entryHeader  = "Idempotency-Key"
	workerHeader = "X-Worker"
)

// desk is the external system. The test permits a number of calls, and the other calls wait. A worker therefore has
// unfinished calls when the test kills it.
type desk struct {
	turns  chan struct{}
	opened chan struct{} // closed when no call waits any more

	mu      sync.Mutex
	seen    map[string]int // completed calls by entry
	waiting map[string]int // waiting calls by worker
}

func newDesk() *desk {
	return &desk{
		turns: make(chan struct{}, entries), opened: make(chan struct{}),
		seen: map[string]int{}, waiting: map[string]int{},
	}
}

// admit allows n more calls.
func (d *desk) admit(n int) {
	for range n {
		select {
		case d.turns <- struct{}{}:
		default:
		}
	}
}

func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	worker := r.Header.Get(workerHeader)
	d.count(worker, 1)
	defer d.count(worker, -1)
	select {
	case <-d.turns:
	case <-d.opened:
	case <-r.Context().Done(): // the worker is dead, or its call has timed out
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	entry := r.Header.Get(entryHeader)
	d.seen[entry]++
	if d.seen[entry] > 1 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (d *desk) count(worker string, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting[worker] += n
}

// calls returns the number of calls of the worker that are waiting.
func (d *desk) calls(worker string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waiting[worker]
}

// completed returns the number of distinct entries that the desk has handled, and the number of its completed calls.
func (d *desk) completed() (distinct, calls int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.seen {
		calls += n
	}
	return len(d.seen), calls
}
