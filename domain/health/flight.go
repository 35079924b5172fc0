package health

import (
	"context"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// flight runs one call at a time, for all who wait for it: probes that come often, or a database that does not respond,
// must not pile up calls. It is safe for concurrent use.
type flight[T any] struct {
	mu    sync.Mutex
	now   *call[T] // under way, or nil
	kept  *T
	since time.Time // of kept
}

// call is a call under way.
type call[T any] struct {
	ended  chan struct{} // closed at the end
	result T             // not to be read before
	failed bool          // there is no result
}

// errPanicked is the result of a probe that panicked.
var errPanicked = &domain.Error{Op: "health", Message: "the store panicked"}

// begin returns the call that is under way, or begins one, whose context ends after the timeout. The call belongs to
// nobody's request: the requests of others wait for it as well.
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

// wait returns the result of a call, unless ctx ends first, or the call had none.
func (f *flight[T]) wait(ctx context.Context, c *call[T]) (result T, ok bool) {
	select {
	case <-c.ended:
		return c.result, !c.failed
	case <-ctx.Done():
		return result, false
	}
}

// keep keeps a result of some instant, which last returns.
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
