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
	// patience is how long a batch may take before other systems are served beside it.
	patience = 50 * time.Millisecond
	// sideInterval is how often a run that waits for slow systems looks for entries of others, unless it is woken.
	sideInterval = 250 * time.Millisecond
)

// RunOnce claims a batch, makes its calls, at most Concurrency at once to each system and outside of any transaction,
// and settles them. It returns the number of entries it settled, including those that could not be read: 0 with a nil
// error means that no entry was due, or that all entries were given back, or were taken over by another runner
// meanwhile.
//
// While it waits for systems that are slow, RunOnce goes on to claim and settle entries of the others, so that a system
// that hangs holds none of them up. It returns once all that it has claimed is done with.
//
// When ctx ends, no further call is started, and entries that were not tried are given back; calls in flight are
// finished, within CallTimeout, and settled. An entry whose outcome cannot be written stays in flight until its lease
// expires and is then called again. RunOnce tries to write outcomes no longer than the leases and another CallTimeout
// last, even where the store does not answer.
//
// At most once an hour it also looks for entries that no process took for a day, and reports them.
func (r *Runner) RunOnce(ctx context.Context) (settled int, err error) {
	select {
	case <-r.wakes: // the claim that comes next answers it
	default:
	}
	first, err := r.claim(ctx, nil, false)
	for err == nil && first.isEmpty() && r.looks.underWay() && len(r.wakes) == 0 && ctx.Err() == nil {
		first, err = r.claim(ctx, nil, true)
	}
	if err != nil {
		return 0, err
	}
	run := &run{Runner: r, began: r.config.Clock.Now(), busy: map[string]int{}, ended: make(chan struct{}, 1)}
	if len(r.throttles) == 1 || len(first.entries) == 0 {
		run.carry(ctx, first)
	} else {
		run.serve(ctx, first)
	}
	settled, err = run.settled, run.err
	if full := r.isFull(first); err == nil && r.unclaimed.isDue(r.config.Clock.Now(), full) {
		err = r.reportUnclaimed(ctx)
	}
	return settled, err
}

// Wake signals that there may be work. A RunOnce that waits for slow systems then looks at once for entries of other
// systems. Wake never blocks, and may be called at any time.
func (r *Runner) Wake() {
	select {
	case r.wakes <- struct{}{}:
	default: // one is waiting already
	}
}

// run is a RunOnce under way.
type run struct {
	*Runner
	began time.Time
	ended chan struct{} // holds that a batch has ended, until that was heeded

	mu       sync.Mutex
	busy     map[string]int // entries of each system that are not done with
	batches  int            // under way beside each other
	settled  int
	err      error
	panicked any
}

// serve carries out a batch and, for as long as that or another takes too long, further ones of other systems.
func (n *run) serve(ctx context.Context, first batch) {
	n.start(ctx, first)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for n.underWay() {
		select {
		case <-n.ended:
		case <-n.wakes:
		case <-timer.C:
		}
		if !n.underWay() || ctx.Err() != nil || n.failed() {
			continue // and wait for what is under way
		}
		next, err := n.claim(ctx, n.isBusy, false)
		if err != nil {
			n.add(0, err)
			continue
		}
		interval := sideInterval
		if len(next.entries)+len(next.unreadable) > 0 {
			n.start(ctx, next)
			interval = patience
		}
		timer.Reset(interval)
	}
	if n.panicked != nil {
		panic(n.panicked)
	}
}

// start carries out a batch in a goroutine of its own. Its panic is that of RunOnce.
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
		n.carry(ctx, b)
		returned = true
	}()
}

// errEnded is what comes of a store or a hook that ends its goroutine.
var errEnded = &domain.Error{Op: "saga", Message: "the goroutine of a batch was ended"}

// carry makes the calls of a batch and settles them.
func (n *run) carry(ctx context.Context, b batch) {
	for _, entry := range b.unreadable {
		n.tell(ctx, entry, nil)
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

// done says that an entry of a system has its outcome.
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

// isBusy reports whether a system must wait: it has calls under way here. After a lease's time it is also one that is
// slow, so that the run comes to an end.
func (n *run) isBusy(system string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.busy[system] > 0 || n.config.Clock.Now().Sub(n.began) > n.config.Lease && n.throttles[system].isSlow()
}

// batch is what was claimed together.
type batch struct {
	entries    []domain.OutboxEntry
	unreadable []domain.OutboxEntry // which the store has abandoned
	leaseUntil time.Time
	token      string
}

func (b batch) isEmpty() bool { return len(b.entries)+len(b.unreadable) == 0 }

// admitted are the targets of a claim: the systems that may be called now and are not busy, with the number of entries
// of each system. Systems take turns at being the first.
func (r *Runner) admitted(now time.Time, busy func(system string) bool) ([]domain.OutboxTarget, map[string]int) {
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

// claim does not wait for a database that does not answer any longer than for a call. The events of entries that
// cannot be read are part of the claim, which settles them. If again is set, the claim follows one that found nothing.
func (r *Runner) claim(ctx context.Context, busy func(system string) bool, again bool) (batch, error) {
	began := r.config.Clock.Now()
	targets, systems := r.admitted(began, busy)
	if len(targets) == 0 {
		return batch{}, nil
	}
	planned := r.looks.plan(began, targets, again)
	var b batch
	returned := false
	defer func() {
		for name, admitted := range systems {
			r.throttles[name].claimed(admitted, of(b.entries, name))
			r.turned(ctx, name)
		}
		if !returned {
			r.looks.failed(planned)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, r.config.CallTimeout)
	defer cancel()
	var claiming batch
	var spanned []domain.OutboxEntry
	var took time.Duration // of the look at a span
	err := r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		now := domain.Instant(r.config.Clock.Now())
		claiming = batch{leaseUntil: now.Add(r.config.Lease), token: r.config.IDs.NewID()} // the function may run again
		spanned = nil
		if planned.span {
			begin := r.config.Clock.Now()
			if err := r.take(ctx, s, &claiming, now, spanOf(targets, planned)); err != nil {
				return err
			}
			took, spanned = r.config.Clock.Now().Sub(begin), claiming.entries
		}
		if planned.span && !planned.lately {
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
	if planned.span {
		r.looks.lookedAt(planned, took, now, targets, r.config.Batch, spanned)
	}
	if planned.everything {
		r.looks.lookedAll(now.Sub(began), now)
	}
	if planned.everything || planned.lately {
		r.looks.looked(began, targets, r.config.Batch, b.entries)
	}
	if r.isFull(b) {
		if full := r.full.Load(); full != nil {
			(*full)()
		}
	}
	return b, nil
}

// take claims what is due of targets, in so far as the batch has room.
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

// spanOf are targets within the bounds of a span.
func spanOf(targets []domain.OutboxTarget, planned look) []domain.OutboxTarget {
	within := slices.Clone(targets)
	for i := range within {
		within[i].DueFrom, within[i].DueUntil = planned.from, planned.until
	}
	return within
}

// rest are targets with what is left of their limits.
func rest(targets []domain.OutboxTarget, taken []domain.OutboxEntry) []domain.OutboxTarget {
	if len(taken) == 0 {
		return targets
	}
	var left []domain.OutboxTarget
	for _, target := range targets {
		if target.Limit > 0 {
			if target.Limit -= of(taken, target.Resolver); target.Limit <= 0 {
				continue
			}
		}
		left = append(left, target)
	}
	return left
}

// isFull reports whether there may be more of what is due.
func (r *Runner) isFull(b batch) bool { return len(b.entries)+len(b.unreadable) >= r.config.Batch }

// OnFull sets a function that is called whenever a claim comes back full, so that there may be work for others. It must
// return at once. A worker sets it.
func (r *Runner) OnFull(call func()) { r.full.Store(&call) }

// of is how many entries of a system there are.
func of(entries []domain.OutboxEntry, name string) (n int) {
	for _, entry := range entries {
		if entry.Resolver == name {
			n++
		}
	}
	return n
}
