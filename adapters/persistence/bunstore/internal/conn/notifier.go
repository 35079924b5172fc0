package conn

import (
	"sync"
	"time"
)

// notifyInterval is how long after a notification the next one is sent at the earliest.
const notifyInterval = 10 * time.Millisecond

// Notifier sends a notification once for all requests that follow each other shortly: a notification is a transaction
// of its own, and PostgreSQL commits transactions that notify one by one. The zero value is ready for use. It is safe
// for concurrent use.
type Notifier struct {
	mu    sync.Mutex
	busy  bool
	again bool
}

// Request has notify called soon, in a goroutine that ends when there is no request left.
func (n *Notifier) Request(notify func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.again = true
	if n.busy {
		return
	}
	n.busy = true
	go func() {
		for n.next() {
			notify()
			time.Sleep(notifyInterval)
		}
	}()
}

func (n *Notifier) next() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.busy, n.again = n.again, false
	return n.busy
}
