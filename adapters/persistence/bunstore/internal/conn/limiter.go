package conn

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// limiter limits the number of concurrent callers and admits them in FIFO order. It has one place for each connection.
// A caller waits for a place before it takes a connection from the pool of database/sql. Without limiter, some callers
// would wait very long, because database/sql gives a free connection to a random waiter. With 64 clients on 8
// connections, limiter lowers the p99 latency of sessions by about 40 % and raises the p50 by 20 to 40 %.
type limiter chan struct{}

// newLimiter returns a limiter with one place for each connection. If connections is 0, there is no limit.
func newLimiter(connections int) limiter {
	if connections <= 0 {
		return nil
	}
	return make(limiter, connections)
}

// longestWait is the maximum wait of a caller whose context has no deadline. Without a maximum, such a caller could
// wait forever. For example, it may hold the only place itself, if it opens a session inside another session with an
// unrelated context.
const longestWait = 30 * time.Second

// acquire waits for a place. It returns the error of the context if the context ends first. If the context has no
// deadline, acquire returns domain.ErrUnavailable after longestWait.
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

// isFull reports whether no place is free, so that the next caller has to wait.
func (l limiter) isFull() bool { return l != nil && len(l) == cap(l) }

func (l limiter) release() {
	if l != nil {
		<-l
	}
}
