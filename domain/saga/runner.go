// Package saga carries erasures and rectifications to external systems: it claims entries of the outbox, calls the
// resolvers they are for, and settles what came of it. An entry is called at least once, and settled exactly once.
package saga

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/ports"
)

// The defaults of Options.
const (
	DefaultBatch        = 200
	DefaultConcurrency  = 10
	DefaultCallTimeout  = 30 * time.Second
	DefaultLease        = 5 * time.Minute
	DefaultGiveUpAfter  = 7 * 24 * time.Hour
	DefaultFirstBackoff = 30 * time.Second
	DefaultMaxBackoff   = time.Hour
	DefaultBreakAfter   = 10
	DefaultRetention    = 30 * 24 * time.Hour
)

// longestBreak is the longest that a circuit breaker waits before it tries another call, unless FirstBackoff is longer.
const longestBreak = 5 * time.Minute

// leaseMargin is what a claim may take until its first call begins. With less, entries would be claimed and given back
// for ever.
const leaseMargin = time.Second

// clockMargin is by how much the clocks of two processes may differ before one of them takes the longest waits of the
// other for a mistake.
const clockMargin = time.Minute

// Options are the limits of the calls to external systems. A zero stands for the default. No number may be negative.
type Options struct {
	Batch        int           // entries claimed at once; 200
	Concurrency  int           // calls at once to each system, over all batches; 10
	CallTimeout  time.Duration // for one call; 30 s
	Lease        time.Duration // for a whole batch, a second longer than CallTimeout at least; 5 min
	GiveUpAfter  time.Duration // an entry that fails is abandoned once it is that old; 7 days
	MaxAttempts  int           // an entry is abandoned after that many, too; the default is any number
	FirstBackoff time.Duration // before the second attempt, doubled for each further one; 30 s
	MaxBackoff   time.Duration // at most; 1 h

	// Jitter spreads retries that failed together: it returns a number from 0 up to 1, and the wait is shorter by up to
	// half of that part of it. It must be safe for concurrent use. The default is none.
	Jitter func() float64
	// Systems are the limits of single systems, by the names of their resolvers. The default is none.
	Systems map[string]SystemLimits
	// BreakAfter is after how many failures in a row a system is left alone: its entries stay in the outbox, and cost
	// neither attempts nor events. After FirstBackoff, doubled each time up to five minutes, one entry is tried, and the
	// others follow once that has had a response, even a refusal. The default is 10.
	BreakAfter int

	// Retention is how long entries that succeeded are kept, from when they were enqueued; Purge removes older ones. The
	// default is 30 days.
	Retention time.Duration

	// LateAfter is the age from which an open entry is late. The default is 1 day.
	LateAfter time.Duration
	// OnLate is called by Purge, which a worker calls every hour, with each resolver that has late entries, whether they
	// fail, wait, or are taken by no process: long before they are given up, and long before the month is over that a
	// controller has (Art. 12(3) GDPR). Its panics are contained. The default is nothing.
	OnLate func(ctx context.Context, backlog domain.OutboxBacklog)
}

// IsDefault reports whether every option is left out.
func IsDefault(o Options) bool {
	return o.Batch == 0 && o.Concurrency == 0 && o.CallTimeout == 0 && o.Lease == 0 && o.GiveUpAfter == 0 &&
		o.MaxAttempts == 0 && o.FirstBackoff == 0 && o.MaxBackoff == 0 && o.Jitter == nil && o.Systems == nil &&
		o.BreakAfter == 0 && o.Retention == 0 && o.LateAfter == 0 && o.OnLate == nil
}

// Config is what a Runner is made of. Sessions, Clock and IDs are required.
type Config struct {
	Sessions  ports.SessionFactory
	Clock     ports.Clock
	IDs       ports.IDSource
	Resolvers []ports.Resolver // the external systems, none by default
	Observer  ports.Observer   // is told of calls, circuit breakers and the outbox, none by default
	Options

	// OnAbandoned is called with each entry that was abandoned, after that is committed. The entry has the status
	// abandoned, and its last error says why. It is also called, once, with an entry that no process took for a day,
	// such as one for a resolver that is registered nowhere: that has the last error domain.LastErrorUnclaimed, another
	// status, and can still be claimed. The subject and the ref of an entry may be empty where they cannot be read
	// (domain.LastErrorUnreadable). The hook must not block, and may be called concurrently where several batches are;
	// its panics are contained. The default is nothing.
	OnAbandoned func(ctx context.Context, entry domain.OutboxEntry)
}

// SystemLimits are how much one system is asked by this process.
type SystemLimits struct {
	Concurrency int     // calls at once, over all batches, in place of Options.Concurrency; 0 for that
	Rate        float64 // calls per second, 0 for any number
	Burst       int     // calls that may come together at that rate, after a pause; 1
}

// Runner drains the outbox. It is safe for concurrent use, and several runners, in several processes, share one
// outbox. A runner takes only entries whose resolver and operation it knows, so that processes of different versions
// can share it. The clocks of processes that share an outbox must differ by less than a lease.
type Runner struct {
	config    Config
	audit     audit.Stamper
	resolvers *resolvers.Set
	targets   []domain.OutboxTarget
	throttles map[string]*throttle // of each system
	turns     atomic.Uint64        // claims so far
	wakes     chan struct{}        // holds the one wake that was not answered yet
	full      atomic.Pointer[func()]
	progress  atomic.Pointer[func()]
	failures  atomic.Pointer[func(context.Context, domain.OutboxEntry, error)]
	looks     looks
	unclaimed watch
}

// NewRunner returns a runner. Returns domain.ErrConfiguration if a field is missing or wrong.
func NewRunner(c Config) (*Runner, error) {
	if c.Sessions == nil || c.Clock == nil || c.IDs == nil {
		return nil, domain.Misconfigured("saga", "Sessions, Clock and IDs are required")
	}
	set, err := resolvers.NewSet(c.Resolvers...)
	if err != nil {
		return nil, err
	}
	if c.Batch < 0 || c.Concurrency < 0 || c.MaxAttempts < 0 || c.BreakAfter < 0 ||
		c.CallTimeout < 0 || c.Lease < 0 || c.FirstBackoff < 0 || c.MaxBackoff < 0 || c.GiveUpAfter < 0 ||
		c.Retention < 0 || c.LateAfter < 0 {
		return nil, domain.Misconfigured("saga", "no field may be negative")
	}
	for name, limits := range c.Systems {
		if _, known := set.Get(name); !known {
			return nil, domain.Misconfigured("saga", "Systems names a resolver that is not registered: "+name)
		}
		if limits.Concurrency < 0 || limits.Burst < 0 || !(limits.Rate >= 0) {
			return nil, domain.Misconfigured("saga", "no limit of a system may be negative")
		}
	}
	c.Batch = orDefault(c.Batch, DefaultBatch)
	c.Concurrency = orDefault(c.Concurrency, DefaultConcurrency)
	c.CallTimeout = orDefault(c.CallTimeout, DefaultCallTimeout)
	c.Lease = orDefault(c.Lease, DefaultLease)
	c.GiveUpAfter = orDefault(c.GiveUpAfter, DefaultGiveUpAfter)
	c.Retention = orDefault(c.Retention, DefaultRetention)
	c.LateAfter = orDefault(c.LateAfter, unclaimedAfter)
	c.BreakAfter = orDefault(c.BreakAfter, DefaultBreakAfter)
	c.FirstBackoff = orDefault(c.FirstBackoff, DefaultFirstBackoff)
	c.MaxBackoff = orDefault(c.MaxBackoff, DefaultMaxBackoff)
	if c.Lease < c.CallTimeout+leaseMargin {
		return nil, domain.Misconfigured("saga", "Lease must be longer than CallTimeout, by a second at least")
	}
	r := &Runner{
		config: c, audit: audit.Stamper{Clock: c.Clock, IDs: c.IDs}, resolvers: set, targets: set.Targets(),
		throttles: map[string]*throttle{}, wakes: make(chan struct{}, 1),
	}
	for _, name := range set.Names() {
		r.throttles[name] = &throttle{
			limits: c.Systems[name], breakAt: c.BreakAfter, first: c.FirstBackoff,
			longest: max(c.FirstBackoff, longestBreak), batch: c.Batch,
			lanes: make(chan struct{}, orDefault(c.Systems[name].Concurrency, c.Concurrency)),
		}
	}
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
