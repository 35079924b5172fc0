package desktest

import (
	"net/http"
	"sync"
)

// Gate makes requests to a desk wait, and so simulates a slow desk without fixed delays. A request with the Fault Hold
// waits until Open is called or its client has left.
type Gate struct {
	entered chan struct{}
	left    chan struct{}
	opened  chan struct{}
	once    sync.Once
}

// gateCapacity is the number of requests that Hold accepts without a receiver of Entered or Left.
const gateCapacity = 1024

// NewGate returns a closed gate.
func NewGate() *Gate {
	return &Gate{
		entered: make(chan struct{}, gateCapacity),
		left:    make(chan struct{}, gateCapacity),
		opened:  make(chan struct{}),
	}
}

// Entered returns a channel that gets a value for every request that reaches Hold.
func (g *Gate) Entered() <-chan struct{} { return g.entered }

// Left returns a channel that gets a value for every request whose client leaves before Open is called.
func (g *Gate) Left() <-chan struct{} { return g.left }

// Open releases all waiting and later requests. The desk carries them out. Open may be called more than once.
func (g *Gate) Open() { g.once.Do(func() { close(g.opened) }) }

// Hold is a Fault that makes a request wait until Open is called or its client has left.
func (g *Gate) Hold(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	g.entered <- struct{}{}
	select {
	case <-g.opened:
		regular(w, r)
	case <-r.Context().Done():
		g.left <- struct{}{}
	}
}
