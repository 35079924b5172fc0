package conn

import (
	"sync"
	"time"
)

// notifyInterval is the minimum time between two notifications.
const notifyInterval = 10 * time.Millisecond

// Notifier combines requests that follow each other within notifyInterval into one notification. Fewer notifications
// raise the throughput, because each notification is a separate transaction, and PostgreSQL cannot commit two
// transactions with notifications concurrently. The zero value is ready for use. A Notifier is safe for concurrent use.
type Notifier struct {
	mu    sync.Mutex
	busy  bool
	again bool
}

// Request schedules a call of notify and returns immediately. Requests that arrive before the next call cause no
// further calls.
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
