package saga

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
)

const (
	// sideDelay is how long a call of RunOnce waits for a batch. After this time, RunOnce also claims entries of other
	// systems while the batch is in progress.
	sideDelay = 50 * time.Millisecond
	// sideInterval is the interval between claims for other systems while RunOnce waits for slow systems. A call of Wake
	// causes an earlier claim.
	sideInterval = 250 * time.Millisecond
)

// RunOnce claims a batch of outbox entries, calls the resolvers and settles the entries, that is, it writes the
// outcomes of the calls. It makes the calls outside of any transaction.
//
// RunOnce returns the number of settled entries. This includes unreadable entries, which the store abandons. The number
// is 0, without an error, in three cases:
//
//   - No entry was due, or the systems of the due entries may not be called now, for example because a circuit breaker
//     is open.
//   - RunOnce has returned all entries to the outbox, without a call.
//   - The leases of all entries expired, and other runners have claimed the entries.
//
// While RunOnce waits for slow systems, it claims and settles entries of other systems. A system that hangs therefore
// does not block other systems. RunOnce returns when all entries that it has claimed are settled or returned to the
// outbox, or this has failed.
//
// When ctx ends, RunOnce starts no further call. It returns the untried entries to the outbox. It waits for the calls
// in flight, at most CallTimeout each, and settles their entries. If an outcome cannot be written, the entry stays in
// flight until its lease expires. Then a runner can claim the entry again. RunOnce stops trying to write the outcomes
// of a batch after Lease plus CallTimeout, even if the store does not respond.
//
// At most once an hour, RunOnce also searches for entries that have been due for a day without a claim, and reports
// these entries.
func (r *Runner) RunOnce(ctx context.Context) (settled int, err error) {
	return r.RunWith(ctx, Events{})
}

// RunWith does the same as RunOnce, and calls the functions of events.
func (r *Runner) RunWith(ctx context.Context, events Events) (settled int, err error) {
	select {
	case <-r.wakes: // the next claim takes the entries for which Wake was called
	default:
	}
	n := &run{
		Runner: r, events: events, began: r.config.Clock.Now(), busy: map[string]int{}, ended: make(chan struct{}, 1),
	}
	first, err := n.claim(ctx, nil)
	if err != nil {
		return 0, err
	}
	if len(r.throttles) == 1 || len(first.entries) == 0 {
		n.process(ctx, first)
	} else {
		n.serve(ctx, first)
	}
	settled, err = n.settled, n.err
	if err == nil && r.unclaimed.isDue(r.config.Clock.Now(), first.full) {
		err = n.reportUnclaimed(ctx)
	}
	return settled, err
}

// Wake signals that there may be work. If RunOnce is waiting for slow systems, it then immediately claims entries of
// other systems. Wake never blocks. It is safe for concurrent use.
func (r *Runner) Wake() {
	select {
	case r.wakes <- struct{}{}:
	default: // an earlier call of Wake has not been consumed yet
	}
}

// run is the state of one RunOnce in progress.
type run struct {
	*Runner
	events Events
	began  time.Time
	ended  chan struct{} // holds one signal that a batch has ended

	mu       sync.Mutex
	busy     map[string]int // unfinished entries per system
	batches  int            // batches in progress
	settled  int
	err      error
	panicked any
}

// serve runs a batch. If the batch is still in progress after sideDelay, serve also claims and runs batches of other
// systems.
func (n *run) serve(ctx context.Context, first batch) {
	n.start(ctx, first)
	timer := time.NewTimer(sideDelay)
	defer timer.Stop()
	for n.underWay() {
		select {
		case <-n.ended:
		case <-n.wakes:
		case <-timer.C:
		}
		if !n.underWay() || ctx.Err() != nil || n.failed() {
			continue // the loop ends when the batches in progress have ended
		}
		next, err := n.claim(ctx, n.isBusy)
		if err != nil {
			n.add(0, err)
			continue
		}
		interval := sideInterval
		if next.size() > 0 {
			n.start(ctx, next)
			interval = sideDelay
		}
		timer.Reset(interval)
	}
	if n.panicked != nil {
		panic(n.panicked)
	}
}

// start runs a batch in a new goroutine. If the batch panics, RunOnce panics with the same value.
func (n *run) start(ctx context.Context, b batch) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.batches++
	for _, entry := range b.entries {
		n.busy[entry.Resolver]++
	}
	go func() {
		returned := false
		defer func() {
			value := recover()
			n.mu.Lock()
			defer n.mu.Unlock()
			n.batches--
			if !returned && value == nil {
				n.err = errors.Join(n.err, errEnded)
			}
			if value != nil {
				n.panicked = value
			}
			select {
			case n.ended <- struct{}{}:
			default:
			}
		}()
		n.process(ctx, b)
		returned = true
	}()
}

// errEnded is the error of a batch whose goroutine was ended by the store or a hook with runtime.Goexit.
var errEnded = &domain.Error{Op: "saga", Message: "the goroutine of a batch was ended"}

// process calls the resolvers of a batch and settles the outcomes.
func (n *run) process(ctx context.Context, b batch) {
	for _, entry := range b.unreadable {
		n.report(ctx, entry, nil)
	}
	n.add(len(b.unreadable), nil)
	if len(b.entries) == 0 {
		return
	}
	settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.config.Lease+n.config.CallTimeout)
	defer cancel()
	n.add(n.settle(settling, n.dispatch(ctx, b, n.lost(ctx, b.entries)), len(b.entries)))
}

func (n *run) add(settled int, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.settled += settled
	n.err = errors.Join(n.err, err)
}

// done records that the processing of an entry of a system has ended.
func (n *run) done(system string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.busy[system]--
}

func (n *run) underWay() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.batches > 0
}

func (n *run) failed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.err != nil || n.panicked != nil
}

// isBusy reports whether a run must not claim more entries of a system now. A run is one call of RunOnce. A system is
// busy in two cases:
//
//   - The run has unfinished entries of the system.
//   - The system is slow, and the run already lasts longer than a lease. The run then claims no entries of this system,
//     so that the run ends.
func (n *run) isBusy(system string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.busy[system] > 0 || n.config.Clock.Now().Sub(n.began) > n.config.Lease && n.throttles[system].isSlow()
}
