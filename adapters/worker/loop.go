package worker

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// run drains and rests until ctx ends. Nothing else ends it.
func (w *SagaWorker) run(ctx context.Context) {
	for {
		healthy := w.drain(ctx)
		if !w.rest(ctx, healthy) {
			return
		}
	}
}

// drain runs batches until one has nothing to settle. It is not healthy when a batch failed, even one that settled a
// part: what cannot be written now is not helped by claiming more.
//
// A batch in which other workers settled everything first, or whose entries were all given back, counts as one that
// had nothing: whatever is due then waits for the next wake or poll, and cannot keep the loop spinning.
func (w *SagaWorker) drain(ctx context.Context) (healthy bool) {
	for ctx.Err() == nil {
		w.spendWake()
		settled, succeeded := w.batch(ctx)
		if !succeeded || settled == 0 {
			return succeeded
		}
		if !w.full && w.options.Workers > 1 {
			w.next()
		}
	}
	return true
}

// spendWake takes the wake that is waiting, because the claim that comes next answers it.
func (w *SagaWorker) spendWake() {
	select {
	case <-w.wakes:
	default:
	}
}

// batch runs one batch and logs its failure.
func (w *SagaWorker) batch(ctx context.Context) (settled int, succeeded bool) {
	w.polls.looked(time.Now())
	w.pulse.begin(w.options.Clock.Now())
	outcome := domain.OutcomePanic // unless it returns
	succeeded = w.contain(ctx, func() (err error) {
		settled, err = w.runner.RunOnce(ctx)
		outcome = domain.OutcomeOf(err)
		if err != nil {
			w.logFailure(ctx, settled, err)
		}
		return err
	})
	now := w.options.Clock.Now()
	w.pulse.end(now, succeeded)
	if w.options.Observer != nil {
		ports.Observe(ctx, w.options.Observer, domain.PollObserved{At: now, Outcome: outcome, Settled: settled})
	}
	return settled, succeeded
}

// contain gives the runner a goroutine of its own, so that not even one that ends its goroutine ends the worker's.
func (w *SagaWorker) contain(ctx context.Context, run func() error) (succeeded bool) {
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
		err = run()
		returned = true
	}()
	<-ended
	return returned && err == nil
}

// purge removes what is kept no longer, every hour until ctx ends. Its failure is logged, and heals with the next time.
func (w *SagaWorker) purge(ctx context.Context, runner purger) {
	w.every(ctx, firstPurge, purgeInterval, func() error {
		_, err := runner.Purge(ctx)
		if err != nil {
			w.logRest(ctx, "habeas: purge of the outbox failed", purgeInterval, err)
		}
		return err
	})
}

// observe has the runner observe the outbox, now and every minute until ctx ends. Its failure is logged, and heals with
// the next time.
func (w *SagaWorker) observe(ctx context.Context, runner outboxObserver) {
	w.every(ctx, 0, observeInterval, func() error {
		err := runner.ObserveOutbox(ctx)
		if err != nil {
			w.logRest(ctx, "habeas: the outbox could not be observed", observeInterval, err)
		}
		return err
	})
}

// every calls a function after first, and then at each interval, until ctx ends.
func (w *SagaWorker) every(ctx context.Context, first, interval time.Duration, call func() error) {
	timer := time.NewTimer(first)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		w.contain(ctx, call)
		timer.Reset(interval)
	}
}

// rest sleeps until no loop has looked for PollInterval. A wake ends it only where the last batch was healthy: a
// database that is failing is not asked more often because there is more to do; the wake is then answered with the next
// batch. It reports false when ctx has ended.
func (w *SagaWorker) rest(ctx context.Context, healthy bool) bool {
	wake := w.wakes
	if !healthy {
		wake = nil // never ready
	}
	w.polls.looked(time.Now())
	timer := time.NewTimer(w.options.PollInterval)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			wait := w.polls.wait(time.Now(), w.options.PollInterval)
			if wait <= 0 {
				return ctx.Err() == nil
			}
			timer.Reset(wait)
		case <-wake:
			return ctx.Err() == nil
		case <-ctx.Done():
			return false
		}
	}
}
