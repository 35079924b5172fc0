package desktest

import (
	"net/http"
	"sync"
)

// Latch makes requests to a desk wait, and so simulates a slow desk without fixed delays. A request with the Fault Hold
// waits until Open is called or its client has left.
type Latch struct {
	entered chan struct{}
	left    chan struct{}
	opened  chan struct{}
	once    sync.Once
}

// latchCapacity is the number of requests that Hold accepts without a receiver of Entered or Left.
const latchCapacity = 1024

// NewLatch returns a closed latch.
func NewLatch() *Latch {
	return &Latch{
		entered: make(chan struct{}, latchCapacity),
		left:    make(chan struct{}, latchCapacity),
		opened:  make(chan struct{}),
	}
}

// Entered returns a channel that gets a value for every request that reaches Hold.
func (l *Latch) Entered() <-chan struct{} { return l.entered }

// Left returns a channel that gets a value for every request whose client leaves before Open is called.
func (l *Latch) Left() <-chan struct{} { return l.left }

// Open releases all waiting and later requests. The desk carries them out. Open may be called more than once.
func (l *Latch) Open() { l.once.Do(func() { close(l.opened) }) }

// Hold is a Fault that makes a request wait until Open is called or its client has left.
func (l *Latch) Hold(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	l.entered <- struct{}{}
	select {
	case <-l.opened:
		regular(w, r)
	case <-r.Context().Done():
		l.left <- struct{}{}
	}
}
