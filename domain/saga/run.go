package saga

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
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
// outcomes of the calls. It makes at most Concurrency concurrent calls to each system, outside of any transaction.
//
// RunOnce returns the number of settled entries. This includes unreadable entries, which the store abandons. The number
// is 0, without an error, in three cases:
//
//   - No entry was due.
//   - RunOnce has returned all entries to the outbox, without a call.
//   - The leases of all entries expired, and other runners have claimed the entries.
//
// While RunOnce waits for slow systems, it claims and settles entries of other systems. A system that hangs therefore
// delays no other system. RunOnce returns when all entries that it has claimed are settled or returned to the outbox.
//
// When ctx ends, RunOnce starts no further call. It returns the untried entries to the outbox. It waits for the calls
// in flight, at most CallTimeout each, and settles their entries. If an outcome cannot be written, the entry stays
// in flight until its lease expires. Then a runner calls the resolver again. RunOnce stops trying to write the outcomes
// of a batch after Lease plus CallTimeout, even if the store does not respond.
//
// At most once an hour, RunOnce also searches for entries that have been due for a day without a claim, and reports
// these entries.
func (r *Runner) RunOnce(ctx context.Context) (settled int, err error) {
	select {
	case <-r.wakes: // the next claim takes the entries for which Wake was called
	default:
	}
	first, err := r.claim(ctx, nil)
	if err != nil {
		return 0, err
	}
	run := &run{Runner: r, began: r.config.Clock.Now(), busy: map[string]int{}, ended: make(chan struct{}, 1)}
	if len(r.throttles) == 1 || len(first.entries) == 0 {
		run.process(ctx, first)
	} else {
		run.serve(ctx, first)
	}
	settled, err = run.settled, run.err
	if err == nil && r.unclaimed.isDue(r.config.Clock.Now(), first.full) {
		err = r.reportUnclaimed(ctx)
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
	began time.Time
	ended chan struct{} // holds one signal that a batch has ended

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
		n.reportEntry(ctx, entry, nil)
	}
	n.add(len(b.unreadable), nil)
	if len(b.entries) == 0 {
		return
	}
	settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.config.Lease+n.config.CallTimeout)
	defer cancel()
	n.add(n.settle(settling, n.dispatch(ctx, b), len(b.entries)))
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

// batch holds the entries of one claim.
type batch struct {
	entries    []domain.OutboxEntry
	unreadable []domain.OutboxEntry // abandoned by the store
	leaseUntil time.Time
	token      string
	full       bool // more entries may be due, and the batch had no room for them
}

func (b batch) size() int { return len(b.entries) + len(b.unreadable) }

// admitted returns the systems that may be called now and are not busy, with the number of entries that a claim may take
// of each.
func (r *Runner) admitted(now time.Time, busy func(system string) bool) map[string]int {
	limits := map[string]int{}
	for _, name := range r.resolvers.Names() {
		if busy != nil && busy(name) {
			continue
		}
		if limit := r.throttles[name].admit(now); limit > 0 {
			limits[name] = limit
		}
	}
	return limits
}

// claim claims a batch of outbox entries of systems that are not busy. It waits for the database for at most
// CallTimeout. The store abandons entries that cannot be read, and claim records an audit event for each of them in the
// same transaction.
func (r *Runner) claim(ctx context.Context, busy func(system string) bool) (b batch, err error) {
	limits := r.admitted(r.config.Clock.Now(), busy)
	if len(limits) == 0 {
		return batch{}, nil
	}
	defer func() {
		for name, reserved := range limits {
			r.throttles[name].claimed(reserved, countOf(b.entries, name))
			r.reportBreaker(ctx, name)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, r.config.CallTimeout)
	defer cancel()
	var claimed batch
	var streams []*stream
	err = r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		streams = r.shares.of(limits) // Do may call the function again
		claimed, err = r.take(ctx, s, streams, limits)
		return err
	})
	if err != nil {
		return batch{}, err
	}
	b = claimed
	r.shares.record(streams)
	r.progressed()
	if full := r.full.Load(); full != nil && b.full {
		(*full)()
	}
	return b, nil
}

// take claims due entries of the streams. If it finds less than three quarters of the entries that the batch has room
// for, it asks the streams that may have more once again, until it has asked each of them.
func (r *Runner) take(
	ctx context.Context, s ports.Session, streams []*stream, limits map[string]int,
) (b batch, err error) {
	now := domain.Instant(r.config.Clock.Now())
	b = batch{leaseUntil: now.Add(r.config.Lease), token: r.config.IDs.NewID()}
	query := domain.ClaimQuery{
		Now: now, LeaseUntil: b.leaseUntil, LeaseToken: b.token,
		LongestWait: max(r.config.MaxBackoff, r.config.Lease, domain.LongestWait) + clockMargin,
	}
	left, room := maps.Clone(limits), 0
	for _, limit := range limits {
		room = min(room+limit, r.config.Batch)
	}
	for 4*b.size() < 3*room {
		query.Takes = deal(room-b.size(), unanswered(streams), left)
		if len(query.Takes) == 0 {
			break
		}
		claimed, err := s.Outbox().Claim(ctx, query)
		if err != nil {
			return batch{}, err
		}
		took(streams, query.Takes, claimed)
		for _, entry := range claimed {
			left[entry.Resolver]--
			if entry.Status != domain.OutboxAbandoned {
				b.entries = append(b.entries, entry)
				continue
			}
			b.unreadable = append(b.unreadable, entry)
			if err := r.recordFailure(ctx, s, entry, domain.LastErrorUnreadable, true); err != nil {
				return batch{}, err
			}
		}
	}
	asked := map[string]int{}
	for _, s := range streams {
		asked[s.system] += s.asked
	}
	b.full = slices.ContainsFunc(streams, func(s *stream) bool {
		limit := limits[s.system]
		return s.asked > 0 && s.more && (limit >= r.config.Batch || asked[s.system] < limit)
	})
	return b, nil
}

// countOf returns the number of entries of a system.
func countOf(entries []domain.OutboxEntry, name string) (n int) {
	for _, entry := range entries {
		if entry.Resolver == name {
			n++
		}
	}
	return n
}
