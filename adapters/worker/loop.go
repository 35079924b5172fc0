package worker

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

// run is one loop: it runs batches of outbox entries and sleeps, until ctx ends.
func (w *SagaWorker) run(ctx context.Context) {
	woken, pause := false, time.Duration(0)
	for {
		settled, healthy := w.drain(ctx)
		pause = min(longestPause, max(shortestPause, 2*pause))
		if !woken || settled > 0 {
			pause = 0
		}
		var goesOn bool
		if woken, goesOn = w.sleep(ctx, healthy, pause); !goesOn {
			return
		}
	}
}

// A loop pauses after a batch to which Wake led and which settled nothing, twice as long each time. Any role of the
// database can make a listener call Wake, as often as it likes.
const (
	shortestPause = time.Millisecond
	longestPause  = 100 * time.Millisecond
)

// drain runs batches until a batch fails or settles no entry, and returns the number of settled entries. It returns
// false if a batch failed, even if this batch settled some entries. The store may then be unable to record outcomes, so
// drain does not claim more entries.
//
// A batch settles no entry if no entry is due, if other workers settled its entries first, or if it returned all its
// entries to the outbox. In the last two cases, entries may still be due. drain ends nevertheless, because further
// batches would probably have no effect. The entries wait for the next poll or call of Wake.
func (w *SagaWorker) drain(ctx context.Context) (all int, healthy bool) {
	for ctx.Err() == nil {
		w.consumeWake()
		settled, succeeded := w.batch(ctx)
		all += settled
		if !succeeded || settled == 0 {
			return all, succeeded
		}
	}
	return all, true
}

// consumeWake removes the signal of a call of Wake, if there is one. The batch that follows takes the entries for which
// Wake was called.
func (w *SagaWorker) consumeWake() {
	select {
	case <-w.wakes:
	default:
	}
}

// batch runs one batch and logs its failure.
func (w *SagaWorker) batch(ctx context.Context) (settled int, succeeded bool) {
	w.polls.record(time.Now())
	w.pulse.begin(w.options.Clock.Now())
	outcome := domain.OutcomePanic // replaced if RunWith returns
	succeeded = w.runSafely(ctx, func() (err error) {
		if err = w.begun.wait(ctx, w.options.Begin); err == nil {
			settled, err = w.runner.RunWith(ctx, w.events())
		}
		outcome = domain.OutcomeOf(err)
		if err != nil {
			w.logFailure(ctx, settled, err)
		}
		return err
	})
	now := w.options.Clock.Now()
	w.pulse.end(now, succeeded)
	if w.options.Observer != nil {
		ports.Emit(ctx, w.options.Observer, observation.PollObserved{At: now, Outcome: outcome, Settled: settled})
	}
	return settled, succeeded
}

// runSafely calls a function in a new goroutine and waits until it ends, so that a panic or a runtime.Goexit of the
// function does not end the loop. It returns true if the function returned nil.
func (w *SagaWorker) runSafely(ctx context.Context, run func() error) (succeeded bool) {
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

// purge removes old entries of the outbox.
func (w *SagaWorker) purge(ctx context.Context) error {
	_, err := w.runner.Purge(ctx)
	return err
}

// every calls a function repeatedly until ctx ends, and logs its errors with the message. It waits for delay before the
// first call, and for interval after each call.
func (w *SagaWorker) every(
	ctx context.Context, delay, interval time.Duration, message string, call func(context.Context) error,
) {
	schedule(ctx, delay, func() time.Duration {
		w.runSafely(ctx, func() error {
			err := call(ctx)
			if err != nil {
				w.logPeriodic(ctx, message, interval, err)
			}
			return err
		})
		return interval
	})
}

// schedule calls a function repeatedly until ctx ends. It waits for delay before the first call, and then for the
// result of each call.
func schedule(ctx context.Context, delay time.Duration, call func() time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		timer.Reset(call())
	}
}

// sleep waits until the loop must run the next batch, and reports whether Wake is the reason. It returns false as the
// second result if ctx has ended. The loop must run a batch in two cases:
//
//   - No loop has begun a batch for PollInterval.
//   - Wake was called, and the parameter healthy is true. After a failed batch, healthy is false, so that calls of Wake
//     do not load a database that fails. The signal of Wake stays until the next batch. sleep does not look for it
//     before the end of the pause.
func (w *SagaWorker) sleep(ctx context.Context, healthy bool, pause time.Duration) (woken, goesOn bool) {
	if pause > 0 {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	wake := w.wakes
	if !healthy {
		wake = nil // never ready
	}
	w.polls.record(time.Now())
	timer := time.NewTimer(w.options.PollInterval)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			wait := w.polls.wait(time.Now(), w.options.PollInterval)
			if wait <= 0 {
				return false, ctx.Err() == nil
			}
			timer.Reset(wait)
		case <-wake:
			return true, ctx.Err() == nil
		case <-ctx.Done():
			return false, false
		}
	}
}
