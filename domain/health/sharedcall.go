package health

import (
	"context"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// sharedCall runs a function at most once at a time. All checks that wait concurrently get the same result. Even if
// probes are frequent or the database does not respond, at most one call is in progress. sharedCall is safe for
// concurrent use.
type sharedCall[T any] struct {
	mu      sync.Mutex
	current *call[T] // the call in progress, or nil
	kept    *T
	keptAt  time.Time // time of the kept result
}

// call is a call in progress.
type call[T any] struct {
	ended  chan struct{} // closed at the end
	result T             // valid after ended is closed
	failed bool          // the call has no result
}

// errPanicked is the error of a probe that panicked.
var errPanicked = &domain.Error{Op: "health", Message: "the store panicked"}

// begin returns the call in progress, or starts a new call whose context ends after the timeout. The context is not
// derived from the context of a request, because other requests may wait for the same call.
func (f *sharedCall[T]) begin(timeout time.Duration, run func(context.Context) T) *call[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current != nil {
		return f.current
	}
	begun := &call[T]{ended: make(chan struct{}), failed: true}
	f.current = begun
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

func (f *sharedCall[T]) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = nil
}

// wait returns the result of a call. It returns false if ctx ends earlier or the call has no result.
func (f *sharedCall[T]) wait(ctx context.Context, c *call[T]) (result T, ok bool) {
	select {
	case <-c.ended:
		return c.result, !c.failed
	case <-ctx.Done():
		return result, false
	}
}

func (f *sharedCall[T]) store(result T, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept, f.keptAt = &result, at
}

func (f *sharedCall[T]) load() (result T, at time.Time, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept == nil {
		return result, time.Time{}, false
	}
	return *f.kept, f.keptAt, true
}

// recent returns the result that was last stored. If this result is older than the interval, or there is none, recent
// first begins another call, and waits for its end at most a quarter of the timeout of a check. The call may continue,
// and a later check uses its result. recent begins no call if the check of the database failed.
func recent[T any](
	ctx context.Context, c *Checker, f *sharedCall[T], database CheckStatus, interval time.Duration,
	run func(context.Context) T,
) (result T, ok bool) {
	result, at, ok := f.load()
	if ok && c.config.Clock.Now().Sub(at) < interval || database != CheckOK {
		return result, ok
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout/4)
	defer cancel()
	if read, ended := f.wait(ctx, f.begin(readTimeout, run)); ended {
		return read, true
	}
	return result, ok
}
