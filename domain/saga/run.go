package saga

import (
	"context"
	"errors"
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
	first, err := r.claim(ctx, nil, false)
	for err == nil && first.isEmpty() && r.scans.hasWindow() && len(r.wakes) == 0 && ctx.Err() == nil {
		first, err = r.claim(ctx, nil, true)
	}
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
	if full := r.isFull(first); err == nil && r.unclaimed.isDue(r.config.Clock.Now(), full) {
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
		next, err := n.claim(ctx, n.isBusy, false)
		if err != nil {
			n.add(0, err)
			continue
		}
		interval := sideInterval
		if len(next.entries)+len(next.unreadable) > 0 {
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
}

func (b batch) isEmpty() bool { return len(b.entries)+len(b.unreadable) == 0 }

// claimTargets returns the targets of a claim, and the number of entries that the claim may take per system. A target
// is an external system with an operation. The targets are those of all systems that may be called now and are not
// busy. Each claim begins with another system, so that no system is always the last.
func (r *Runner) claimTargets(now time.Time, busy func(system string) bool) ([]domain.OutboxTarget, map[string]int) {
	var targets []domain.OutboxTarget
	names, systems := r.resolvers.Names(), map[string]int{}
	turn := int((r.turns.Add(1) - 1) % uint64(max(1, len(names)))) //nolint:gosec // below the number of systems
	for i := range names {
		name := names[(turn+i)%len(names)]
		if busy != nil && busy(name) {
			continue
		}
		limit := r.throttles[name].admit(now)
		if limit == 0 {
			continue
		}
		systems[name] = limit
		for _, target := range r.targets {
			if target.Resolver == name {
				if limit < r.config.Batch {
					target.Limit = limit
				}
				targets = append(targets, target)
			}
		}
	}
	return targets, systems
}

// claim claims a batch of outbox entries. It waits for the database for at most CallTimeout. The store abandons entries
// that cannot be read, and claim records an audit event for each of them in the same transaction. The parameter
// afterEmpty is true if the previous claim found no entry but did not scan all due times. claim then scans only the
// next interval (window) of the due times that are not yet scanned.
func (r *Runner) claim(ctx context.Context, busy func(system string) bool, afterEmpty bool) (batch, error) {
	began := r.config.Clock.Now()
	targets, systems := r.claimTargets(began, busy)
	if len(targets) == 0 {
		return batch{}, nil
	}
	planned := r.scans.plan(began, targets, afterEmpty)
	var b batch
	returned := false
	defer func() {
		for name, reserved := range systems {
			r.throttles[name].claimed(reserved, countOf(b.entries, name))
			r.reportBreaker(ctx, name)
		}
		if !returned {
			r.scans.failed(planned)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, r.config.CallTimeout)
	defer cancel()
	var claiming batch
	var inWindow []domain.OutboxEntry
	var took time.Duration // duration of the scan of the window
	err := r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		now := domain.Instant(r.config.Clock.Now())
		claiming = batch{leaseUntil: now.Add(r.config.Lease), token: r.config.IDs.NewID()} // Do may call the function again
		inWindow = nil
		if planned.window {
			begin := r.config.Clock.Now()
			if err := r.take(ctx, s, &claiming, now, within(targets, planned)); err != nil {
				return err
			}
			took, inWindow = r.config.Clock.Now().Sub(begin), claiming.entries
		}
		if planned.window && !planned.recent {
			return nil
		}
		return r.take(ctx, s, &claiming, now, rest(targets, claiming.entries))
	})
	if err != nil {
		return batch{}, err
	}
	b, returned = claiming, true
	r.progressed()
	now := r.config.Clock.Now()
	if planned.window {
		r.scans.recordWindow(planned, took, now, targets, r.config.Batch, inWindow)
	}
	if planned.full {
		r.scans.recordFull(now.Sub(began), now)
	}
	if planned.full || planned.recent {
		r.scans.recordRecent(began, targets, r.config.Batch, b.entries)
	}
	if r.isFull(b) {
		if full := r.full.Load(); full != nil {
			(*full)()
		}
	}
	return b, nil
}

// take claims due entries of the targets (pairs of a system and an operation) and adds them to the batch, up to the
// size limit of the batch.
func (r *Runner) take(
	ctx context.Context, s ports.Session, b *batch, now time.Time, targets []domain.OutboxTarget,
) error {
	room := r.config.Batch - len(b.entries) - len(b.unreadable)
	if room <= 0 || len(targets) == 0 {
		return nil
	}
	claimed, err := s.Outbox().Claim(ctx, room, now, b.leaseUntil, b.token, targets...)
	if err != nil {
		return err
	}
	for _, entry := range claimed {
		if entry.Status != domain.OutboxAbandoned {
			b.entries = append(b.entries, entry)
			continue
		}
		b.unreadable = append(b.unreadable, entry)
		if err := r.recordFailure(ctx, s, entry, domain.LastErrorUnreadable, true); err != nil {
			return err
		}
	}
	return nil
}

// within returns copies of the targets that select only the entries whose due times are in the window of the planned
// scan.
func within(targets []domain.OutboxTarget, planned scan) []domain.OutboxTarget {
	limited := slices.Clone(targets)
	for i := range limited {
		limited[i].DueFrom, limited[i].DueUntil = planned.from, planned.until
	}
	return limited
}

// rest returns the targets from which a claim may take further entries. It subtracts from the limit of each target the
// number of outbox entries that the claim has already taken for the external system of this target.
func rest(targets []domain.OutboxTarget, taken []domain.OutboxEntry) []domain.OutboxTarget {
	if len(taken) == 0 {
		return targets
	}
	var left []domain.OutboxTarget
	for _, target := range targets {
		if target.Limit > 0 {
			if target.Limit -= countOf(taken, target.Resolver); target.Limit <= 0 {
				continue
			}
		}
		left = append(left, target)
	}
	return left
}

// isFull reports whether a batch has the maximum size, so that more entries may be due.
func (r *Runner) isFull(b batch) bool { return len(b.entries)+len(b.unreadable) >= r.config.Batch }

// OnFull sets a function that is called after each claim that returns a full batch. More due entries may then exist,
// and other runners can claim them. The function must return immediately. A worker sets it.
func (r *Runner) OnFull(call func()) { r.full.Store(&call) }

// countOf returns the number of entries of a system.
func countOf(entries []domain.OutboxEntry, name string) (n int) {
	for _, entry := range entries {
		if entry.Resolver == name {
			n++
		}
	}
	return n
}
