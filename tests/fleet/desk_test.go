package fleet_test

import (
	"net/http"
	"sync"
)

const (
	entryHeader  = "Idempotency-Key"
	workerHeader = "X-Worker"
)

// desk is the external system. It answers as many calls as it was given turns for, and keeps the others waiting: so a
// worker that is killed has calls in flight.
type desk struct {
	turns  chan struct{}
	opened chan struct{} // no call waits any more

	mu      sync.Mutex
	seen    map[string]int // answered calls by entry
	waiting map[string]int // calls by worker
}

func newDesk() *desk {
	return &desk{
		turns: make(chan struct{}, entries), opened: make(chan struct{}),
		seen: map[string]int{}, waiting: map[string]int{},
	}
}

// admit gives n more turns.
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
	case <-r.Context().Done(): // the worker is dead, or has waited long enough
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

// calls is how many calls of the worker the desk has not answered.
func (d *desk) calls(worker string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waiting[worker]
}

// answered is how many entries and how many calls the desk has answered.
func (d *desk) answered() (distinct, calls int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.seen {
		calls += n
	}
	return len(d.seen), calls
}
