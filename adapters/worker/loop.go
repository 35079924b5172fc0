package worker

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// run is one loop: it runs batches and sleeps, until ctx ends.
func (w *SagaWorker) run(ctx context.Context) {
	for {
		healthy := w.drain(ctx)
		if !w.rest(ctx, healthy) {
			return
		}
	}
}

// drain runs batches until a batch fails or settles no entry. It returns false if a batch failed, even if the batch
// settled some entries: if the store cannot record outcomes, claiming more entries does not help.
//
// A batch settles no entry also if other workers settled its entries before, or if it released all of them. Entries
// that are due then wait for the next wake or poll, so that the loop cannot spin.
func (w *SagaWorker) drain(ctx context.Context) (healthy bool) {
	for ctx.Err() == nil {
		w.takeWake()
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

// takeWake removes the pending wake, if any, because the batch that follows serves it.
func (w *SagaWorker) takeWake() {
	select {
	case <-w.wakes:
	default:
	}
}

// batch runs one batch and logs its failure.
func (w *SagaWorker) batch(ctx context.Context) (settled int, succeeded bool) {
	w.polls.looked(time.Now())
	w.pulse.begin(w.options.Clock.Now())
	outcome := domain.OutcomePanic // unless RunOnce returns
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

// contain calls run in a new goroutine and waits for it. A panic or a runtime.Goexit of run does not end the loop.
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

// purge calls the Purge method of the runner every hour until ctx ends. It logs an error. The next call retries.
func (w *SagaWorker) purge(ctx context.Context, runner purger) {
	w.every(ctx, firstPurge, purgeInterval, func() error {
		_, err := runner.Purge(ctx)
		if err != nil {
			w.logRest(ctx, "habeas: purge of the outbox failed", purgeInterval, err)
		}
		return err
	})
}

// observe calls the ObserveOutbox method of the runner immediately and then every minute until ctx ends. It logs an
// error. The next call retries.
func (w *SagaWorker) observe(ctx context.Context, runner outboxObserver) {
	w.every(ctx, 0, observeInterval, func() error {
		err := runner.ObserveOutbox(ctx)
		if err != nil {
			w.logRest(ctx, "habeas: the outbox could not be observed", observeInterval, err)
		}
		return err
	})
}

// every calls a function after the duration first, and then again an interval after each call, until ctx ends.
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

// rest sleeps until no loop has begun a batch for PollInterval, and returns true. If the last batch was healthy, a wake
// ends the sleep. If the last batch failed, the wake stays pending until the next batch, so that wakes do not load a
// database that fails. rest returns false if ctx has ended.
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
