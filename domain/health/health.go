// Package health checks whether a process can serve requests, and whether a person should look at its outbox.
package health

import (
	"context"
	"errors"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// The defaults of Options and Config.
const (
	DefaultTimeout      = time.Second
	DefaultPolls        = 3
	DefaultLateAfter    = 24 * time.Hour
	DefaultPollInterval = 5 * time.Second
)

const (
	// outboxInterval is how often the outbox is read at most: orchestrators probe more often than it changes.
	outboxInterval = 30 * time.Second
	// outboxTimeout bounds that. A check does not wait for it that long.
	outboxTimeout = 10 * time.Second
)

// Options change what a Checker does by default. A zero stands for the default. No number may be negative.
type Options struct {
	Timeout   time.Duration // of a check as a whole; 1 s, which is the default of Kubernetes for its probes
	Polls     int           // poll intervals without a sign of life after which a worker has failed; 3
	LateAfter time.Duration // the age from which an open entry of the outbox is late; 1 day
}

// Config is what a Checker is made of. Sessions and Clock are required.
type Config struct {
	// Sessions is the store. Without ports.Prober, a read of the outbox takes the place of the probe, and it is not known
	// whether migrations are pending. Without ports.OutboxOperations, the state of the outbox is not known.
	Sessions ports.SessionFactory
	Clock    ports.Clock

	Worker       ports.Heartbeat // the worker of this process, none by default
	PollInterval time.Duration   // of the worker; 5 s

	Options
}

// Checker checks the health of a process. It is safe for concurrent use.
type Checker struct {
	config Config
	store  flight[storeState]
	outbox flight[outboxState]
}

// storeState is what a probe says about the store.
type storeState struct{ database, migrations domain.HealthCheck }

// outboxState is what the outbox says about its entries.
type outboxState struct{ abandoned, late domain.HealthCheck }

// New returns a checker. Returns domain.ErrConfiguration if a field is missing or wrong.
func New(c Config) (*Checker, error) {
	if c.Sessions == nil || c.Clock == nil {
		return nil, domain.Misconfigured("health", "Sessions and Clock are required")
	}
	if c.Timeout < 0 || c.Polls < 0 || c.LateAfter < 0 || c.PollInterval < 0 {
		return nil, domain.Misconfigured("health", "no field may be negative")
	}
	c.Timeout = orDefault(c.Timeout, DefaultTimeout)
	c.Polls = orDefault(c.Polls, DefaultPolls)
	c.LateAfter = orDefault(c.LateAfter, DefaultLateAfter)
	c.PollInterval = orDefault(c.PollInterval, DefaultPollInterval)
	return &Checker{config: c}, nil
}

func orDefault[T int | time.Duration](value, fallback T) T {
	if value == 0 {
		return fallback
	}
	return value
}

// Check makes all checks. It returns within Options.Timeout, or earlier if ctx ends, also if the database does not
// respond. Checks that are made at the same time share a probe of the database. The outbox is read every 30 s at most,
// and a check waits for it no longer than a quarter of the timeout: Ready does not depend on it.
func (c *Checker) Check(ctx context.Context) domain.Health {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	store := c.checkStore(ctx)
	outbox := c.checkOutbox(ctx, store.database.Status)
	return domain.NewHealth(store.database, store.migrations, c.checkWorker(), outbox.abandoned, outbox.late)
}

func (c *Checker) checkStore(ctx context.Context) storeState {
	state, ok := c.store.wait(ctx, c.store.begin(c.config.Timeout, c.probe))
	switch {
	case ok:
		return state
	case ctx.Err() != nil:
		return storeOf(ctx.Err())
	default:
		return storeOf(errPanicked)
	}
}

// probe asks the store.
func (c *Checker) probe(ctx context.Context) storeState {
	prober, ok := c.config.Sessions.(ports.Prober)
	if ok {
		return storeOf(prober.Probe(ctx))
	}
	state := storeOf(c.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		_, err := s.Outbox().Abandoned(ctx, nil, 1)
		return err
	}))
	if state.migrations.Status == domain.CheckOK {
		state.migrations.Status = domain.CheckUnknown
	}
	return state
}

// storeOf is what the error of a probe says. The database has responded if it is one of the store's other errors.
func storeOf(err error) storeState {
	state := storeState{
		domain.HealthCheck{Name: domain.CheckDatabase, Status: domain.CheckOK},
		domain.HealthCheck{Name: domain.CheckMigrations, Status: domain.CheckOK},
	}
	switch {
	case err == nil:
	case errors.Is(err, domain.ErrUnavailable), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, context.Canceled), errors.Is(err, errPanicked):
		state.database.Status, state.database.Err = domain.CheckFailed, err
		state.migrations.Status = domain.CheckUnknown
	default:
		state.migrations.Status, state.migrations.Err = domain.CheckFailed, err
	}
	return state
}

// checkWorker checks the worker, unless it is not running: it may run in another process.
func (c *Checker) checkWorker() domain.HealthCheck {
	check := domain.HealthCheck{Name: domain.CheckWorker, Status: domain.CheckOff}
	if c.config.Worker == nil {
		return check
	}
	last, running := c.config.Worker.Heartbeat()
	switch {
	case !running:
	case c.config.Clock.Now().Sub(last) > time.Duration(c.config.Polls)*c.config.PollInterval:
		check.Status = domain.CheckFailed
	default:
		check.Status = domain.CheckOK
	}
	return check
}
