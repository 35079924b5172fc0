package worker

import (
	"context"
	"time"
)

// loop is one of a worker's.
type loop struct {
	*SagaWorker
	wake chan struct{}
}

// run drains and rests until ctx ends. Nothing else ends it.
func (l loop) run(ctx context.Context) {
	for {
		healthy := l.drain(ctx)
		if !l.rest(ctx, healthy) {
			return
		}
	}
}

// drain runs batches until one has nothing to settle. It is not healthy when a batch failed, even one that settled a
// part: what cannot be written now is not helped by claiming more.
//
// A batch in which other workers settled everything first, or whose entries were all given back, counts as one that
// had nothing: whatever is due then waits for the next wake or poll, and cannot keep the loop spinning.
func (l loop) drain(ctx context.Context) (healthy bool) {
	for ctx.Err() == nil {
		l.spendWake()
		settled, succeeded := l.batch(ctx)
		if !succeeded || settled == 0 {
			return succeeded
		}
	}
	return true
}

// spendWake takes the wake that is waiting, because the claim that comes next answers it.
func (l loop) spendWake() {
	select {
	case <-l.wake:
	default:
	}
}

// batch runs one batch and logs its failure. The runner has a goroutine of its own, so that not even one that ends its
// goroutine ends the loop.
func (w *SagaWorker) batch(ctx context.Context) (settled int, succeeded bool) {
	ended := make(chan struct{})
	returned := false
	var err error
	go func() {
		defer close(ended)
		defer func() {
			if !returned {
				w.logPanic(ctx, recover())
			}
		}()
		settled, err = w.runner.RunOnce(ctx)
		returned = true
	}()
	<-ended
	if err != nil {
		w.logFailure(ctx, settled, err)
	}
	return settled, returned && err == nil
}

// rest sleeps for PollInterval. A wake ends it only where the last batch was healthy: a database that is failing is
// not asked more often because there is more to do; the wake is then answered with the next batch. It reports false
// when ctx has ended.
func (l loop) rest(ctx context.Context, healthy bool) bool {
	wake := l.wake
	if !healthy {
		wake = nil // never ready
	}
	timer := time.NewTimer(l.options.PollInterval)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
