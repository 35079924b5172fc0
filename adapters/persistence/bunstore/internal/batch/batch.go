// Package batch runs items in batches. Items that arrive while other batches run share the next batch.
package batch

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
	// maxInFlight is the number of batches that may run concurrently. Two batches overlap: one executes in the database
	// while the other one is sent. Further items wait.
	maxInFlight = 2
	maxBatch    = 16
)

// Batcher runs items in batches. While fewer than maxInFlight batches are in flight, an item runs immediately, in a
// separate batch. Other items wait until a batch ends, and then run in one batch of at most maxBatch items. An item
// never joins a batch that is already in flight. A Batcher is safe for concurrent use. Its exported fields are
// required, and must be set before the first call.
type Batcher[T any] struct {
	// Run runs a batch of one or more items.
	Run func(ctx context.Context, items ...T) error

	// Keep prepares an item so that Run may use the item after the caller of Do has returned, for example by copying its
	// strings. Batcher calls Keep before an item waits.
	Keep func(item T) error

	// RetryAlone reports whether err, an error of Run, guarantees that Run had no effect. The items of the failed batch
	// then run one by one, so that one bad item does not fail the others.
	RetryAlone func(err error) bool

	mu       sync.Mutex
	inFlight int
	waiting  []*member[T]
}

// member is an item that waits for a batch or is part of a batch.
type member[T any] struct {
	item T
	// ctx is the context of the batch for this member. It has the deadline, the cancellation and the values of the
	// caller's context, but only until the caller returns. Afterwards, the caller's context may belong to another
	// request, while the batch still runs.
	ctx     context.Context //nolint:containedctx // lives as long as the waiting call of Do
	release func()
	result  chan result
}

// result is the result of a batch for a member.
type result struct {
	err      error
	alone    bool // the batch had no effect; the caller must run the item alone
	panicked any  // the value of a panic of Run; Do panics with it
}

// Waiting returns the number of waiting items.
func (b *Batcher[T]) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting)
}

// Do runs an item, alone or in a batch. If ctx ends first, Do returns the error of ctx. In this case, it may be unknown
// whether the item was run.
func (b *Batcher[T]) Do(ctx context.Context, item T) error {
	m, err := b.wait(ctx, item)
	if err != nil {
		return err
	}
	if m == nil {
		defer b.runNext()
		return b.Run(ctx, item)
	}
	defer m.release()
	select {
	case r := <-m.result:
		if r.panicked != nil {
			panic(r.panicked)
		}
		if r.alone {
			return b.Run(ctx, item)
		}
		return r.err
	case <-ctx.Done():
		b.leave(m)
		return ctx.Err()
	}
}

// wait adds an item to the waiting items, and returns the member that holds the item. If the caller may run the item
// immediately, wait does not add it and returns nil.
func (b *Batcher[T]) wait(ctx context.Context, item T) (*member[T], error) {
	if b.enter() {
		return nil, nil
	}
	if err := b.Keep(item); err != nil {
		return nil, err
	}
	lent, release := detach.New(ctx)
	m := &member[T]{item, lent, release, make(chan result, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inFlight < maxInFlight { // a batch has ended meanwhile
		b.inFlight++
		release()
		return nil, nil
	}
	b.waiting = append(b.waiting, m)
	return m, nil
}

func (b *Batcher[T]) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inFlight == maxInFlight {
		return false
	}
	b.inFlight++
	return true
}

func (b *Batcher[T]) leave(m *member[T]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = slices.DeleteFunc(b.waiting, func(other *member[T]) bool { return other == m })
}

// runNext must be called when a batch has ended. It starts the next batch in a new goroutine, if items wait.
func (b *Batcher[T]) runNext() {
	if next := b.next(); next != nil {
		go func() {
			defer b.runNext()
			b.runBatch(next)
		}()
	}
}

// next removes the next batch from the waiting items. If no items wait, it decrements the number of batches in flight.
func (b *Batcher[T]) next() []*member[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.waiting), maxBatch)
	if n == 0 {
		b.inFlight--
		return nil
	}
	next := slices.Clone(b.waiting[:n])
	b.waiting = slices.Delete(b.waiting, 0, n)
	return next
}

func (b *Batcher[T]) runBatch(members []*member[T]) {
	r := result{err: &domain.Error{Op: "batch", Message: "ended without a result"}} // after runtime.Goexit
	defer func() {
		r.panicked = recover()
		for _, m := range members {
			m.result <- r
		}
	}()
	ctx, cancel := contextOf(members)
	defer cancel()
	items := make([]T, len(members))
	for i, m := range members {
		items[i] = m.item
	}
	err := b.Run(ctx, items...)
	r = result{err: err, alone: err != nil && b.RetryAlone(err)}
}

// contextOf returns the context of a batch. For a single member, the context ends when the member's context ends.
// Otherwise, it ends when the contexts of all members have ended.
func contextOf[T any](members []*member[T]) (context.Context, context.CancelFunc) {
	if len(members) == 1 {
		return context.WithCancel(members[0].ctx)
	}
	ctx, cancel := context.WithoutCancel(members[0].ctx), context.CancelFunc(nil)
	if last, limited := lastDeadline(members); limited { // some drivers observe only the deadline of a context
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

// lastDeadline returns the latest deadline of the members. It returns false if a member has no deadline.
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
