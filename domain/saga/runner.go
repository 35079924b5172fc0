// Package saga carries erasures and rectifications to external systems: it claims entries of the outbox, calls the
// resolvers they are for, and settles what came of it. An entry is called at least once, and settled exactly once.
package saga

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/audit"
	"github.com/habeas-data/habeas/domain/resolvers"
	"github.com/habeas-data/habeas/ports"
)

// The defaults of Options.
const (
	DefaultBatch        = 50
	DefaultConcurrency  = 10
	DefaultCallTimeout  = 30 * time.Second
	DefaultLease        = 5 * time.Minute
	DefaultMaxAttempts  = 8
	DefaultFirstBackoff = 30 * time.Second
	DefaultMaxBackoff   = time.Hour
)

// leaseMargin is what a claim may take until its first call begins. With less, entries would be claimed and given back
// for ever.
const leaseMargin = time.Second

// clockMargin is by how much the clocks of two processes may differ before one of them takes the longest waits of the
// other for a mistake.
const clockMargin = time.Minute

// Options are the limits of the calls to external systems. A zero stands for the default. No field may be negative.
type Options struct {
	Batch        int           // how many entries are claimed at once. The default is 50
	Concurrency  int           // how many calls of a batch run at once. The default is 10
	CallTimeout  time.Duration // bounds each call. The default is 30 s
	Lease        time.Duration // bounds a batch; at least a second longer than CallTimeout. The default is 5 min
	MaxAttempts  int           // how many failed attempts abandon an entry. The default is 8
	FirstBackoff time.Duration // the wait before the second attempt, doubled for each further one. The default is 30 s
	MaxBackoff   time.Duration // the longest wait between two attempts. The default is 1 h
}

// IsZero reports whether every option is the default.
func (o Options) IsZero() bool { return o == Options{} }

// Config is what a Runner is made of. Sessions, Clock, IDs and Resolvers are required.
type Config struct {
	Sessions  ports.SessionFactory
	Clock     ports.Clock
	IDs       ports.IDSource
	Resolvers *resolvers.Set
	Options

	// OnAbandoned is called with each entry that was abandoned, after that is committed. The entry has the status
	// abandoned, and its last error says why. It is also called, once, with an entry that no process took for a day,
	// such as one for a resolver that is registered nowhere: that has the last error domain.LastErrorUnclaimed, another
	// status, and can still be claimed. The subject and the ref of an entry may be empty where they cannot be read
	// (domain.LastErrorUnreadable). The hook must not block, and may be called concurrently where several batches are;
	// its panics are contained. The default is nothing.
	OnAbandoned func(ctx context.Context, entry domain.OutboxEntry)
}

// Runner drains the outbox. It is safe for concurrent use, and several runners, in several processes, share one
// outbox. A runner takes only entries whose resolver and operation it knows, so that processes of different versions
// can share it. The clocks of processes that share an outbox must differ by less than a lease.
type Runner struct {
	config    Config
	audit     audit.Stamper
	targets   []domain.OutboxTarget
	unclaimed watch
}

// NewRunner returns a runner. A field that is missing or wrong is domain.ErrConfiguration.
func NewRunner(c Config) (*Runner, error) {
	if c.Sessions == nil || c.Clock == nil || c.IDs == nil || c.Resolvers == nil {
		return nil, configurationError("Sessions, Clock, IDs and Resolvers are required")
	}
	if c.Batch < 0 || c.Concurrency < 0 || c.MaxAttempts < 0 ||
		c.CallTimeout < 0 || c.Lease < 0 || c.FirstBackoff < 0 || c.MaxBackoff < 0 {
		return nil, configurationError("no field may be negative")
	}
	c.Batch = orDefault(c.Batch, DefaultBatch)
	c.Concurrency = orDefault(c.Concurrency, DefaultConcurrency)
	c.CallTimeout = orDefault(c.CallTimeout, DefaultCallTimeout)
	c.Lease = orDefault(c.Lease, DefaultLease)
	c.MaxAttempts = orDefault(c.MaxAttempts, DefaultMaxAttempts)
	c.FirstBackoff = orDefault(c.FirstBackoff, DefaultFirstBackoff)
	c.MaxBackoff = orDefault(c.MaxBackoff, DefaultMaxBackoff)
	if c.Lease < c.CallTimeout+leaseMargin {
		return nil, configurationError("Lease must be longer than CallTimeout, by a second at least")
	}
	r := &Runner{config: c, audit: audit.Stamper{Clock: c.Clock, IDs: c.IDs}, targets: c.Resolvers.Targets()}
	for i := range r.targets {
		r.targets[i].LongestWait = max(domain.LongestWait, c.MaxBackoff, c.Lease) + clockMargin
	}
	return r, nil
}

func orDefault[T int | time.Duration](value, fallback T) T {
	if value == 0 {
		return fallback
	}
	return value
}

func configurationError(message string) error {
	return &domain.Error{Code: domain.ErrConfiguration, Op: "saga", Message: message}
}

// RunOnce claims a batch, makes its calls, at most Concurrency at once and outside of any transaction, and settles
// them. It returns how many entries it settled, those that could not be read included: 0 with a nil error means that
// nothing was due, or that all of it was given back, or taken over by another runner meanwhile.
//
// When ctx ends, no further call is started, and entries that were not tried are given back; calls in flight are
// finished, within CallTimeout, and settled. An entry whose outcome cannot be written stays in flight until its lease
// expires and is then called again. RunOnce tries to write outcomes no longer than the leases and another CallTimeout
// last, even where the store does not answer.
//
// At most once an hour it also looks for entries that no process took for a day, and reports them.
func (r *Runner) RunOnce(ctx context.Context) (settled int, err error) {
	batch, err := r.claim(ctx)
	if err != nil {
		return 0, err
	}
	for _, entry := range batch.unreadable {
		r.tell(ctx, entry)
	}
	if len(batch.entries) > 0 {
		settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.config.Lease+r.config.CallTimeout)
		defer cancel()
		settled, err = r.settle(settling, r.dispatch(ctx, batch), len(batch.entries))
	}
	settled += len(batch.unreadable)
	if full := len(batch.entries)+len(batch.unreadable) >= r.config.Batch; err == nil && r.unclaimed.isDue(r.config.Clock.Now(), full) {
		err = r.reportUnclaimed(ctx)
	}
	return settled, err
}

// batch is what was claimed together.
type batch struct {
	entries    []domain.OutboxEntry
	unreadable []domain.OutboxEntry // which the store has abandoned
	leaseUntil time.Time
}

// claim does not wait for a database that does not answer any longer than for a call. The events of entries that
// cannot be read are part of the claim, which settles them.
func (r *Runner) claim(ctx context.Context) (batch, error) {
	if len(r.targets) == 0 {
		return batch{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.config.CallTimeout)
	defer cancel()
	var b batch
	err := r.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		now := domain.Instant(r.config.Clock.Now())
		b = batch{leaseUntil: now.Add(r.config.Lease)} // the function may run again
		claimed, err := s.Outbox().Claim(ctx, r.config.Batch, now, b.leaseUntil, r.config.IDs.NewID(), r.targets...)
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
	})
	if err != nil {
		return batch{}, err
	}
	return b, nil
}
