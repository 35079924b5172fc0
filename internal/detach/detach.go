// Package detach makes contexts that end their use of a parent at a known moment. Work that may outlive a request gets
// one: a framework can make a context of an object that it uses again for the next request, so no goroutine may touch
// that object after the request's end, not even to read a value or to ask whether the context has ended.
//
// context.WithCancel and context.WithTimeout are not enough. Their contexts pass Value to the parent for ever, and for
// a parent that is not of package context they start a goroutine that calls its Done at some later time.
package detach

import (
	"context"
	"sync"
	"time"
)

// New returns a context with the parent's deadline, values and cancellation, and the function that ends it. The caller
// must call release, by defer at best, before the parent becomes invalid. Until then the context holds one goroutine
// if the parent can be cancelled.
//
// After release has returned, no method of ctx touches parent, nor does a context made from ctx: Value returns nil,
// Done is closed, Err returns context.Canceled or the error with which the parent had ended before, and Deadline
// returns the deadline that the parent had when New was called. Values that were read before stay with their reader,
// which must make sure that they outlive the request.
//
// New calls methods of parent, so parent must be valid. ctx is safe for concurrent use. release can be called any
// number of times and from any goroutine. It waits for calls of parent's methods that run at that time, and for nothing
// else.
func New(parent context.Context) (ctx context.Context, release func()) {
	c := &detached{parent: parent, done: make(chan struct{})}
	c.deadline, c.hasDeadline = parent.Deadline()
	parentDone := parent.Done() // here, and not in the goroutine, which may run after release
	if parentDone == nil {
		return c, c.release
	}
	select {
	case <-parentDone:
		c.follow()
		return c, c.release
	default:
	}
	go func() {
		select {
		case <-parentDone:
			c.follow()
		case <-c.done:
		}
	}()
	return c, c.release
}

// detached is the context that New returns.
type detached struct {
	deadline    time.Time
	hasDeadline bool
	done        chan struct{}

	mu     sync.RWMutex    // held while a method of parent runs
	parent context.Context // nil after release
	err    error           // not nil exactly if done is closed
}

// Deadline implements context.Context.
func (c *detached) Deadline() (time.Time, bool) { return c.deadline, c.hasDeadline }

// Done implements context.Context.
func (c *detached) Done() <-chan struct{} { return c.done }

// Err implements context.Context.
func (c *detached) Err() error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.err
}

// Value implements context.Context. A context that is made from c may ask for a key of package context's own and gets
// the parent's context of that package. That one is never used again by a framework, and its Done is not c's, so the
// new context does not attach itself to it.
func (c *detached) Value(key any) any {
	c.mu.RLock()
	defer c.mu.RUnlock() // deferred, for a Value that panics
	if c.parent == nil {
		return nil
	}
	return c.parent.Value(key)
}

// String keeps package fmt from reading the parent.
func (c *detached) String() string { return "detached context" }

// follow ends c as its parent has ended.
func (c *detached) follow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parent == nil {
		return
	}
	err := c.parent.Err()
	if err == nil { // against the contract of a context
		err = context.Canceled
	}
	c.end(err)
}

func (c *detached) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parent = nil // before done is closed: a context made from c asks for the cause at once
	c.end(context.Canceled)
}

// end closes done, once. The caller holds mu.
func (c *detached) end(err error) {
	if c.err == nil {
		c.err = err
		close(c.done)
	}
}
