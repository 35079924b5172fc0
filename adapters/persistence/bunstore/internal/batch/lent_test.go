package batch

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// lentContext is the context of a call of Do. It fails the test if it is used after this call has returned.
type lentContext struct {
	context.Context
	t    *testing.T
	over atomic.Bool
}

func (l *lentContext) check() {
	if l.over.Load() {
		l.t.Error("the context of a request is used after the request")
	}
}

func (l *lentContext) Value(key any) any {
	l.check()
	return l.Context.Value(key)
}

func (l *lentContext) Done() <-chan struct{} {
	l.check()
	return l.Context.Done()
}

func (l *lentContext) Err() error {
	l.check()
	return l.Context.Err()
}

func (l *lentContext) Deadline() (time.Time, bool) {
	l.check()
	return l.Context.Deadline()
}

func TestABatchUsesNoContextOfACallerThatHasLeft(t *testing.T) {
	for name, members := range map[string]int{"alone": 1, "with others": 3} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := newJournal()
				j.start(t.Context(), "a", "b") // occupy all batches in flight
				var leaves []context.CancelFunc
				var lent []*lentContext
				var left sync.WaitGroup
				for range members {
					inner, leave := context.WithCancel(t.Context())
					ctx := &lentContext{Context: inner, t: t}
					leaves, lent = append(leaves, leave), append(lent, ctx)
					left.Go(func() {
						_ = j.Do(ctx, "member")
						ctx.over.Store(true)
					})
					synctest.Wait()
				}
				defer func() { leaves[members-1]() }()
				j.release <- nil // for the first batch: the members run
				synctest.Wait()
				running := j.contexts[len(j.contexts)-1]
				for i := range members - 1 {
					leaves[i]()
					synctest.Wait()
					_, _ = running.Value("key"), context.Cause(running)
					if !lent[i].over.Load() || running.Err() != nil {
						t.Errorf("%d: over %v, %v", i, lent[i].over.Load(), running.Err())
					}
				}
				leaves[members-1]()
				left.Wait()
				synctest.Wait()
				_, limited := running.Deadline()
				if running.Value("key") != nil || running.Err() == nil || limited {
					t.Error("the batch continues without callers")
				}
				j.release <- nil
				synctest.Wait()
			})
		})
	}
}
