// Package detach creates contexts that stop using their parent at a chosen time. Use such a context for work that may
// outlive a request. A web framework may use one object as the context of a request, and reuse the object for the next
// request. After the end of the request, no goroutine may use that object, not even to read a value or to call Err.
//
// context.WithCancel and context.WithTimeout are not sufficient. The method Value of their contexts calls the parent
// even after a cancellation. These functions also start a goroutine if the type of the parent is not from package
// context. The goroutine may call Done of the parent after the end of the request.
package detach

import (
	"context"
	"sync"
	"time"
)

// New returns a context with the deadline, values and cancellation of parent, and a function that detaches the context
// from parent. The caller must call release before parent becomes invalid, preferably with defer. If parent can be
// cancelled, a goroutine runs until release is called or parent ends.
//
// After release returns, ctx and contexts derived from ctx no longer call methods of parent. Value then returns nil and
// Done is closed. Err returns the error of parent if parent ended before the release, and context.Canceled otherwise.
// Deadline returns the deadline that parent had in the call of New. A value that Value returned earlier may belong to
// parent. The caller of Value must not use it after parent has become invalid.
//
// New calls methods of parent, so parent must be valid. ctx is safe for concurrent use. Any goroutine can call release,
// any number of times. release waits only for running calls of parent's methods.
func New(parent context.Context) (ctx context.Context, release func()) {
	c := &detached{parent: parent, done: make(chan struct{})}
	c.deadline, c.hasDeadline = parent.Deadline()
	parentDone := parent.Done() // not in the goroutine, which may start after release
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

	mu     sync.RWMutex    // a reader holds it during calls of parent's methods
	parent context.Context // nil after release
	err    error           // not nil if and only if done is closed
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

// Value implements context.Context. For an unexported key of package context, it may return a cancellable ancestor of
// parent. Package context attaches a context derived from c to that ancestor only if Done of the ancestor and Done of c
// return the same channel. Here, these channels differ.
func (c *detached) Value(key any) any {
	c.mu.RLock()
	defer c.mu.RUnlock() // deferred, because Value may panic
	if c.parent == nil {
		return nil
	}
	return c.parent.Value(key)
}

// String prevents package fmt from reading the fields of the parent.
func (c *detached) String() string { return "detached context" }

// follow is called when the parent has ended. It ends c with the error of the parent, unless c is released.
func (c *detached) follow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parent == nil {
		return
	}
	err := c.parent.Err()
	if err == nil { // violates the contract of context.Context
		err = context.Canceled
	}
	c.end(err)
}

func (c *detached) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parent = nil // before done is closed, because a derived context then calls Value for the cause
	c.end(context.Canceled)
}

// end closes the channel c.done if it is open. The caller must hold the lock c.mu.
func (c *detached) end(err error) {
	if c.err == nil {
		c.err = err
		close(c.done)
	}
}
