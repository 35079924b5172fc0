package health

import (
	"context"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// flight runs one call at a time and shares its result among all waiting checks. Frequent probes, or a database that
// does not respond, therefore cannot pile up calls. flight is safe for concurrent use.
type flight[T any] struct {
	mu    sync.Mutex
	now   *call[T] // the call in progress, or nil
	kept  *T
	since time.Time // time of kept
}

// call is a call in progress.
type call[T any] struct {
	ended  chan struct{} // closed at the end
	result T             // valid after ended is closed
	failed bool          // the call has no result
}

// errPanicked is the error of a probe that panicked.
var errPanicked = &domain.Error{Op: "health", Message: "the store panicked"}

// begin returns the call in progress, or starts a call whose context ends after the timeout. The context of the call
// does not derive from a request, because other requests wait for the call too.
func (f *flight[T]) begin(timeout time.Duration, run func(context.Context) T) *call[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now != nil {
		return f.now
	}
	begun := &call[T]{ended: make(chan struct{}), failed: true}
	f.now = begun
	go func() {
		defer close(begun.ended)
		defer f.end()
		defer func() { _ = recover() }()
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		begun.result = run(ctx)
		begun.failed = false
	}()
	return begun
}

func (f *flight[T]) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = nil
}

// wait returns the result of a call. It returns false if ctx ends earlier or the call has no result.
func (f *flight[T]) wait(ctx context.Context, c *call[T]) (result T, ok bool) {
	select {
	case <-c.ended:
		return c.result, !c.failed
	case <-ctx.Done():
		return result, false
	}
}

// keep stores a result and its time for last.
func (f *flight[T]) keep(result T, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept, f.since = &result, at
}

func (f *flight[T]) last() (result T, at time.Time, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept == nil {
		return result, time.Time{}, false
	}
	return *f.kept, f.since, true
}
