package desktest

import (
	"net/http"
	"sync"
)

// Gate makes a desk slow, without anybody having to guess how slow: requests that meet Hold wait until Open is called,
// or until their client has left.
type Gate struct {
	entered chan struct{}
	left    chan struct{}
	opened  chan struct{}
	once    sync.Once
}

// gateCapacity is how many requests can be held without anybody listening to Entered or Left.
const gateCapacity = 1024

// NewGate returns a closed gate.
func NewGate() *Gate {
	return &Gate{
		entered: make(chan struct{}, gateCapacity),
		left:    make(chan struct{}, gateCapacity),
		opened:  make(chan struct{}),
	}
}

// Entered receives a value for every request that came to the gate.
func (g *Gate) Entered() <-chan struct{} { return g.entered }

// Left receives a value for every request whose client left before the gate was opened.
func (g *Gate) Left() <-chan struct{} { return g.left }

// Open lets the requests go on, those that are held and those that will come. They are answered regularly.
func (g *Gate) Open() { g.once.Do(func() { close(g.opened) }) }

// Hold is the fault that makes requests wait at the gate.
func (g *Gate) Hold(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	g.entered <- struct{}{}
	select {
	case <-g.opened:
		regular(w, r)
	case <-r.Context().Done():
		g.left <- struct{}{}
	}
}
