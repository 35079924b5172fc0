package conn

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// limiter admits a limited number of callers concurrently, in FIFO order. It stands in front of the pool of
// database/sql, with one place per connection. database/sql hands a free connection to a random waiter, which starves
// some waiters. With 64 clients on 8 connections, limiter lowers the p99 latency of sessions by about 40 % and raises
// the p50 by 20 to 40 %.
type limiter chan struct{}

// newLimiter returns a limiter with a number of places; 0 means no limit.
func newLimiter(connections int) limiter {
	if connections <= 0 {
		return nil
	}
	return make(limiter, connections)
}

// longestWait bounds the wait of a caller whose context has no deadline. Such a wait may never end: the caller may
// itself hold the place, if it opens a session inside another session with an unrelated context.
const longestWait = 30 * time.Second

// acquire waits for a place until the context ends. If the context has no deadline, it returns domain.ErrUnavailable
// after longestWait.
func (l limiter) acquire(ctx context.Context) error {
	if l == nil {
		return nil
	}
	select {
	case l <- struct{}{}:
		return nil
	default:
	}
	var tooLong <-chan time.Time
	if _, limited := ctx.Deadline(); !limited {
		timer := time.NewTimer(longestWait)
		defer timer.Stop()
		tooLong = timer.C
	}
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-tooLong:
		return &domain.Error{Code: domain.ErrUnavailable, Op: "session", Message: "waited too long for a free connection"}
	}
}

// full reports whether the next caller has to wait.
func (l limiter) full() bool { return l != nil && len(l) == cap(l) }

func (l limiter) release() {
	if l != nil {
		<-l
	}
}
