package bunstore

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/detach"
)

const (
	// mostRunning is how many statements of a kind run at once before those that come wait for one of them to end: while
	// the database works on one, another is on its way.
	mostRunning = 2
	// mostTogether bounds how many share a statement.
	mostTogether = 16
)

// combiner lets what comes at the same time share a statement. While few run, each runs at once, by itself. Others wait
// until one of those has ended, and then run together: never in a statement that was sent before they came.
type combiner[T any] struct {
	// run runs items in one statement.
	run func(ctx context.Context, items ...T) error
	// keep makes an item fit to be used when its caller no longer waits.
	keep func(item T) error
	// undone reports whether an error of run says that nothing was done. Items that failed together are then run one by
	// one, so that each fails for reasons of its own only.
	undone func(err error) bool

	mu      sync.Mutex
	running int
	waiting []*member[T]
}

// member is an item that waits, or is part of a statement.
type member[T any] struct {
	item T
	// ctx stands for the caller's until the caller leaves. The statement may go on for others, at a time when the caller's
	// context, as a part of a request, is used for another request already.
	ctx     context.Context //nolint:containedctx // lives as long as the call of do that waits
	release func()
	result  chan result
}

// result is what came of a statement.
type result struct {
	err      error
	undone   bool // the item must run by itself
	panicked any  // a panic of the application's query hook, to be continued where the application can recover
}

// do runs an item, alone or together with others. When ctx ends it may be unknown whether the item was run, as it is for
// any statement.
func (c *combiner[T]) do(ctx context.Context, item T) error {
	m, err := c.wait(ctx, item)
	if err != nil {
		return err
	}
	if m == nil {
		defer c.goOn()
		return c.run(ctx, item)
	}
	defer m.release()
	select {
	case r := <-m.result:
		if r.panicked != nil {
			panic(r.panicked)
		}
		if r.undone {
			return c.run(ctx, item)
		}
		return r.err
	case <-ctx.Done():
		c.leave(m)
		return ctx.Err()
	}
}

// wait returns an item as one that waits, or nil when it may run.
func (c *combiner[T]) wait(ctx context.Context, item T) (*member[T], error) {
	if c.enters() {
		return nil, nil
	}
	if err := c.keep(item); err != nil {
		return nil, err
	}
	lent, release := detach.New(ctx)
	m := &member[T]{item, lent, release, make(chan result, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running < mostRunning { // one has ended in between
		c.running++
		release()
		return nil, nil
	}
	c.waiting = append(c.waiting, m)
	return m, nil
}

func (c *combiner[T]) enters() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == mostRunning {
		return false
	}
	c.running++
	return true
}

func (c *combiner[T]) leave(m *member[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = slices.DeleteFunc(c.waiting, func(other *member[T]) bool { return other == m })
}

// goOn is called when a statement has ended. What waits then runs, in a goroutine that goes on in the same way.
func (c *combiner[T]) goOn() {
	if next := c.next(); next != nil {
		go func() {
			defer c.goOn()
			c.runTogether(next)
		}()
	}
}

// next takes what is to run next, or notes that nothing is.
func (c *combiner[T]) next() []*member[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.waiting), mostTogether)
	if n == 0 {
		c.running--
		return nil
	}
	next := slices.Clone(c.waiting[:n])
	c.waiting = slices.Delete(c.waiting, 0, n)
	return next
}

// runTogether runs members and tells them what came of it.
func (c *combiner[T]) runTogether(members []*member[T]) {
	r := result{err: &domain.Error{Op: "statement", Message: "ended without a result"}} // by runtime.Goexit
	defer func() {
		r.panicked = recover()
		for _, m := range members {
			m.result <- r
		}
	}()
	ctx, cancel := together(members)
	defer cancel()
	items := make([]T, len(members))
	for i, m := range members {
		items[i] = m.item
	}
	err := c.run(ctx, items...)
	r = result{err: err, undone: err != nil && c.undone(err)}
}

// together is the context of members: that of a single one, or else one that ends with the last of theirs.
func together[T any](members []*member[T]) (context.Context, context.CancelFunc) {
	if len(members) == 1 {
		return context.WithCancel(members[0].ctx)
	}
	ctx, cancel := context.WithoutCancel(members[0].ctx), context.CancelFunc(nil)
	if last, limited := lastDeadline(members); limited { // for drivers that look at nothing else
		ctx, cancel = context.WithDeadline(ctx, last)
	} else {
		ctx, cancel = context.WithCancel(ctx)
	}
	var left atomic.Int64
	left.Store(int64(len(members)))
	stops := make([]func() bool, len(members))
	for i, m := range members {
		stops[i] = context.AfterFunc(m.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// lastDeadline is when the last of the members' contexts ends by itself, if all of them do.
func lastDeadline[T any](members []*member[T]) (last time.Time, limited bool) {
	for _, m := range members {
		deadline, limited := m.ctx.Deadline()
		if !limited {
			return time.Time{}, false
		}
		if deadline.After(last) {
			last = deadline
		}
	}
	return last, true
}
