// Package saga carries out erasures and rectifications at external systems. Each entry of the outbox is a call that
// must be made. A Runner claims outbox entries, calls the resolver (the adapter of the external system) and settles the
// entry, that is, it writes the outcome. A resolver may be called several times for an entry: after a failed call, and
// if an outcome was not written. See the example of [Runner.RunOnce].
package saga

import (
	"cmp"
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/ports"
)

// The default values of Options.
const (
	DefaultBatch        = 200
	DefaultConcurrency  = 10
	DefaultCallTimeout  = 30 * time.Second
	DefaultLease        = 5 * time.Minute
	DefaultGiveUpAfter  = 7 * 24 * time.Hour
	DefaultFirstBackoff = 30 * time.Second
	DefaultMaxBackoff   = time.Hour
	DefaultRetention    = 30 * 24 * time.Hour
)

// breakAfter is the number of consecutive failures that opens the circuit breaker of a system. While the breaker is
// open, the entries of the system stay in the outbox, without attempts and without events. After FirstBackoff, the
// runner tries one entry. If this call fails too, the wait doubles, up to longestBreak. Any response, even a refusal,
// closes the breaker.
const breakAfter = 10

// longestBreak is the longest time that a circuit breaker stays open, unless FirstBackoff is longer.
const longestBreak = 5 * time.Minute

// leaseMargin is the minimum difference between Lease (the duration of a claim) and CallTimeout. It is the time for the
// claim itself. A runner starts a call only if at least CallTimeout of the lease remains. If Lease were equal to
// CallTimeout, the runner would claim entries and return them to the outbox forever.
const leaseMargin = time.Second

// clockMargin is the tolerated difference between the clocks of two processes. If the next attempt of an entry is
// further away than the longest wait plus clockMargin, a wrong clock has set it. A claim then takes the entry
// immediately.
const clockMargin = time.Minute

// Options limit the calls to external systems. A zero field means the default. No number may be negative.
type Options struct {
	Batch        int           // maximum number of entries per claim; default 200
	Concurrency  int           // maximum number of concurrent calls to each system, over all batches; default 10
	CallTimeout  time.Duration // limit of one call; default 30 s
	Lease        time.Duration // lease of a claimed batch; at least CallTimeout plus one second; default 5 min
	GiveUpAfter  time.Duration // limit of trying, from the first attempt; default 7 days
	MaxAttempts  int           // an entry is also abandoned after this number of attempts; default unlimited
	FirstBackoff time.Duration // wait before the second attempt, doubled for each further attempt; default 30 s
	MaxBackoff   time.Duration // upper limit of the backoff; default 1 h

	// Jitter spreads the retries of entries that failed at the same time. It returns a number from 0 up to 1. The backoff
	// is shortened by that number times half of the backoff. For example, the number 0.5 shortens the backoff by a
	// quarter. Jitter must be safe for concurrent use. Default: no jitter, but package app/stack sets a random one.
	Jitter func() float64
	// Systems holds limits of single systems, keyed by resolver name. Default: none.
	Systems map[string]SystemLimits
	// Retention is the age from which Purge removes succeeded entries. The age counts from the time of the enqueue. The
	// default is 30 days.
	Retention time.Duration
}

// IsZero reports whether all limits have their defaults.
func (o Options) IsZero() bool {
	return cmp.Or(o.Batch, o.Concurrency, o.MaxAttempts) == 0 && o.Jitter == nil && len(o.Systems) == 0 &&
		cmp.Or(o.CallTimeout, o.Lease, o.GiveUpAfter, o.FirstBackoff, o.MaxBackoff, o.Retention) == 0
}

// Config holds the dependencies and the options of a Runner. Sessions, Clock and IDs are required.
type Config struct {
	Sessions  ports.SessionFactory
	Clock     ports.Clock
	IDs       ports.IDSource
	Resolvers []ports.Resolver // the external systems; default none
	Observer  ports.Observer   // receives calls, circuit breaker states and backlogs; default none
	Options

	// OnAbandoned is called with each entry that the runner has abandoned, after the commit. If the process ends before
	// the call, the call is lost. Such an entry has the status abandoned, and its LastError is the class of the failure.
	//
	// OnAbandoned is also called with an entry that has been due for a day without a claim. An example is an entry whose
	// resolver is registered nowhere. Such an entry has the LastError domain.LastErrorUnclaimed. It is not abandoned and
	// can still be claimed. While it has this LastError, OnAbandoned is not called with it again.
	//
	// Do not log the SubjectID and the Ref of the entry, because they identify a person. A field that cannot be read is
	// empty (domain.LastErrorUnreadable). OnAbandoned must not block. It may be called concurrently if several batches are
	// in progress. Its panics are recovered and ignored. Default: no call.
	OnAbandoned func(ctx context.Context, entry domain.OutboxEntry)

	// Completed is called when all entries of an erasure or a rectification are done, in the session that settles or
	// discards the last one, after its audit events. If it returns an error, the session rolls back: the entries of this
	// session are not settled, and are claimed again when their leases end. It may be called again for the same operation
	// after a rollback. It is not called for an operation without entries. Default: no call.
	Completed func(ctx context.Context, s ports.Session, subject domain.SubjectID, operationID string) error
}

// SystemLimits limit the calls of a runner to one system.
type SystemLimits struct {
	Concurrency int     // maximum number of concurrent calls, over all batches; 0 means Options.Concurrency
	Rate        float64 // calls per second; 0 means unlimited
	Burst       int     // calls that may start at the same time after a pause; default 1
}

// Runner processes the entries of the outbox. It is safe for concurrent use. Several runners in several processes can
// share one outbox. A runner claims only entries whose resolver and operation it knows, so processes of different
// versions can share an outbox.
//
// The clocks of processes that share an outbox must agree as closely as possible. A process whose clock is ahead by a
// minute takes an entry a minute before the end of its lease. If the other worker still processes the entry, both call
// the resolver, and only the later claim can settle the entry.
type Runner struct {
	config    Config
	audit     audit.Stamper
	resolvers *resolvers.Set
	throttles map[string]*throttle // by system
	wakes     chan struct{}        // holds a wake that no claim has consumed yet
	shares    shares
	unclaimed schedule
}

// NewRunner returns a runner. It returns domain.ErrConfiguration if a field is missing or invalid.
func NewRunner(c Config) (*Runner, error) {
	if c.Sessions == nil || c.Clock == nil || c.IDs == nil {
		return nil, domain.Misconfigured("saga", "Sessions, Clock and IDs are required")
	}
	set, err := resolvers.NewSet(c.Resolvers...)
	if err != nil {
		return nil, err
	}
	if field := c.negative(); field != "" {
		return nil, domain.Misconfigured("saga", field+" must not be negative")
	}
	for name, limits := range c.Systems {
		if _, known := set.Get(name); !known {
			return nil, domain.Misconfigured("saga", "Systems names a resolver that is not registered: "+name)
		}
		if limits.Concurrency < 0 || limits.Burst < 0 || !(limits.Rate >= 0) {
			return nil, domain.Misconfigured("saga", "Systems has a negative limit for the resolver "+name)
		}
	}
	c.Batch = cmp.Or(c.Batch, DefaultBatch)
	c.Concurrency = cmp.Or(c.Concurrency, DefaultConcurrency)
	c.CallTimeout = cmp.Or(c.CallTimeout, DefaultCallTimeout)
	c.Lease = cmp.Or(c.Lease, DefaultLease)
	c.GiveUpAfter = cmp.Or(c.GiveUpAfter, DefaultGiveUpAfter)
	c.Retention = cmp.Or(c.Retention, DefaultRetention)
	c.FirstBackoff = cmp.Or(c.FirstBackoff, DefaultFirstBackoff)
	c.MaxBackoff = cmp.Or(c.MaxBackoff, DefaultMaxBackoff)
	if c.Lease < c.CallTimeout+leaseMargin {
		return nil, domain.Misconfigured("saga", "Lease must be longer than CallTimeout, by a second at least")
	}
	r := &Runner{
		config: c, audit: audit.Stamper{Clock: c.Clock, IDs: c.IDs}, resolvers: set,
		throttles: map[string]*throttle{}, wakes: make(chan struct{}, 1),
	}
	for _, name := range set.Names() {
		r.throttles[name] = &throttle{
			limits: c.Systems[name], first: c.FirstBackoff, longest: max(c.FirstBackoff, longestBreak), batch: c.Batch,
			slots: make(chan struct{}, cmp.Or(c.Systems[name].Concurrency, c.Concurrency)),
		}
		for _, operation := range set.OperationsOf(name) {
			r.shares.add(name, operation)
		}
	}
	return r, nil
}

// negative returns the name of the first field that is negative, or "".
func (o Options) negative() string {
	for _, field := range []struct {
		name  string
		value int64
	}{
		{"Batch", int64(o.Batch)},
		{"Concurrency", int64(o.Concurrency)},
		{"CallTimeout", int64(o.CallTimeout)},
		{"Lease", int64(o.Lease)},
		{"GiveUpAfter", int64(o.GiveUpAfter)},
		{"MaxAttempts", int64(o.MaxAttempts)},
		{"FirstBackoff", int64(o.FirstBackoff)},
		{"MaxBackoff", int64(o.MaxBackoff)},
		{"Retention", int64(o.Retention)},
	} {
		if field.value < 0 {
			return field.name
		}
	}
	return ""
}
