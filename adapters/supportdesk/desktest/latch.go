package desktest

import (
	"net/http"
	"sync"
)

// Latch makes requests to a desk wait, so that a test can simulate a slow desk without a fixed delay. A request with
// the Fault Hold waits until Open is called or its client has disconnected.
type Latch struct {
	entered chan struct{}
	left    chan struct{}
	opened  chan struct{}
	once    sync.Once
}

// latchCapacity is the capacity of the channels that Entered and Left return. If one of these channels is full, Hold
// blocks until a value is received from it.
const latchCapacity = 1024

// NewLatch returns a closed latch.
func NewLatch() *Latch {
	return &Latch{
		entered: make(chan struct{}, latchCapacity),
		left:    make(chan struct{}, latchCapacity),
		opened:  make(chan struct{}),
	}
}

// Entered returns a channel that receives a value for each request that begins to wait in Hold.
func (l *Latch) Entered() <-chan struct{} { return l.entered }

// Left returns a channel that receives a value for each request whose client disconnects before Open is called.
func (l *Latch) Left() <-chan struct{} { return l.left }

// Open ends the waiting of all requests, including later requests. The desk then executes them. Open may be called more
// than once.
func (l *Latch) Open() { l.once.Do(func() { close(l.opened) }) }

// Hold is a Fault that makes a request wait until Open is called or its client has disconnected.
func (l *Latch) Hold(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	l.entered <- struct{}{}
	select {
	case <-l.opened:
		regular(w, r)
	case <-r.Context().Done():
		l.left <- struct{}{}
	}
}
