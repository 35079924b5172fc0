// Package health checks whether a process can serve requests, and whether a person should act. See the example of
// [New].
package health

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// The default values of Options and Config.
const (
	DefaultTimeout      = time.Second
	DefaultPolls        = 3
	DefaultLateAfter    = 24 * time.Hour
	DefaultPollInterval = 5 * time.Second
)

const (
	// outboxInterval is the minimum time between two reads of the outbox, because orchestrators probe more often than the
	// state of the outbox changes.
	outboxInterval = 30 * time.Second
	// livesInterval is the minimum time between two counts of unknown lives. A count reads the marks of all erasures.
	livesInterval = time.Hour
	// readTimeout is the time limit of a read of the outbox or the duties, and of a count.
	readTimeout = 10 * time.Second
)

// Options change the defaults of a Checker. A zero field means the default. No number may be negative.
type Options struct {
	Timeout   time.Duration // limit of a complete check; default 1 s, as for Kubernetes probes
	Polls     int           // poll intervals without a heartbeat after which the worker counts as failed; default 3
	LateAfter time.Duration // the age from which an open outbox entry is late; default 1 day
}

// Config holds the dependencies and the options of a Checker. Sessions and Clock are required.
type Config struct {
	// Name is the name of the data map, which Health.Map has. The default is "". New does not check it.
	Name string

	// Sessions is the store.
	Sessions ports.SessionFactory
	Clock    ports.Clock

	// UnknownLives counts the erased ids with a row of which nothing tells whose it is, see lives.Count. It runs at most
	// once an hour, and for at most 10 seconds. The default is none.
	UnknownLives func(context.Context) (int64, error)

	// Duties is the state of the background duties. Check reads it at most once every 30 s, and adds what this process
	// knows to the result. The default is none.
	Duties Duties

	Worker       ports.Heartbeat // the worker of this process; default none
	PollInterval time.Duration   // poll interval of the worker; default 5 s

	Options
}

// Checker checks the health of a process. It is safe for concurrent use.
type Checker struct {
	config Config
	store  sharedCall[storeState]
	outbox sharedCall[outboxState]
	lives  sharedCall[Check]
	duties sharedCall[[]domain.Duty]
}

// storeState is the result of a probe of the store.
type storeState struct {
	database, migrations Check
	limits               []Check // CheckWritable or CheckVersion, if it failed
}

// outboxState is the result of a read of the outbox.
type outboxState struct{ abandoned, late Check }

// New returns a checker. It returns domain.ErrConfiguration if a field is missing or negative.
func New(c Config) (*Checker, error) {
	if c.Sessions == nil || c.Clock == nil {
		return nil, domain.Misconfigured("health", "Sessions and Clock are required")
	}
	if c.Timeout < 0 || c.Polls < 0 || c.LateAfter < 0 || c.PollInterval < 0 {
		return nil, domain.Misconfigured("health", "Timeout, Polls, LateAfter and PollInterval must not be negative")
	}
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.Polls = cmp.Or(c.Polls, DefaultPolls)
	c.LateAfter = cmp.Or(c.LateAfter, DefaultLateAfter)
	c.PollInterval = cmp.Or(c.PollInterval, DefaultPollInterval)
	return &Checker{config: c}, nil
}

// Check carries out all checks. It returns within Options.Timeout or when ctx ends, even if the database does not
// respond. Concurrent checks share one probe of the database. Check reads the outbox at most once every 30 s. It waits
// at most a quarter of the timeout for this read, because Health.Ready does not depend on the outbox.
func (c *Checker) Check(ctx context.Context) Health {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	store := c.checkStore(ctx)
	outbox := c.checkOutbox(ctx, store.database.Status)
	checks := []Check{store.database, store.migrations, c.checkWorker(), outbox.abandoned, outbox.late}
	checks = append(checks, store.limits...)
	if lives := c.checkLives(ctx, store.database.Status); lives.Status == CheckFailed {
		checks = append(checks, lives)
	}
	state := NewHealth(append(checks, c.checkDuties(ctx, store.database.Status)...)...)
	state.Map = c.config.Name
	return state
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

// probe probes the store.
func (c *Checker) probe(ctx context.Context) storeState {
	return storeOf(c.config.Sessions.Probe(ctx))
}

// storeOf returns the state of the store for the error of a probe. If the error reports pending migrations, the check
// of the database has succeeded, because the database has responded.
func storeOf(err error) storeState {
	state := storeState{
		database:   Check{Name: CheckDatabase, Status: CheckOK},
		migrations: Check{Name: CheckMigrations, Status: CheckOK},
	}
	switch {
	case err == nil:
	case errors.Is(err, domain.ErrReadOnlyDatabase):
		state.limits = []Check{{Name: CheckWritable, Status: CheckFailed, Err: err}}
	case errors.Is(err, domain.ErrNewerTables):
		state.limits = []Check{{Name: CheckVersion, Status: CheckFailed, Err: err}}
	case errors.Is(err, domain.ErrConfiguration):
		state.migrations.Status, state.migrations.Err = CheckFailed, err
	default:
		state.database.Status, state.database.Err = CheckFailed, err
		state.migrations.Status = CheckUnknown
	}
	return state
}

// checkWorker checks the worker. If no worker runs in this process, the check does not fail, because a worker may run
// in another process.
func (c *Checker) checkWorker() Check {
	check := Check{Name: CheckWorker, Status: CheckOff}
	if c.config.Worker == nil {
		return check
	}
	last, running := c.config.Worker.Heartbeat()
	switch {
	case !running:
	case c.config.Clock.Now().Sub(last) > time.Duration(c.config.Polls)*c.config.PollInterval:
		check.Status = CheckFailed
	default:
		check.Status = CheckOK
	}
	return check
}
