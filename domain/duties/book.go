// Package duties keeps the state of the background duties (see domain.Duty), so that a person learns of a journal, a
// sweep, a verification or a worker that fails, although nothing else fails with it. See [Book] and [Findings].
package duties

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

// storeInterval is the shortest time between two writes of the same news about a duty, because some duties run every
// few seconds.
const storeInterval = 30 * time.Second

// Config holds the dependencies of a Book. Sessions and Clock are required.
type Config struct {
	Sessions ports.SessionFactory
	Clock    ports.Clock
	Observer ports.Observer // receives a observation.DutyObserved after each run; default none

	// Duties are the pauses of the duties that a worker of this process has. A duty without a pause belongs to no worker
	// of this process.
	Duties map[domain.DutyName]time.Duration
	// NeedsWorker reports that the application has external systems or duties, so that a worker must run in some process.
	// The default is false.
	NeedsWorker bool
}

// Book records the runs of the duties. It keeps them in memory, and stores them in the database for other processes, at
// most every 30 s unless the news differ. If the database refuses them, the memory of this process still has them, and
// the other processes see that no run succeeds. A Book is safe for concurrent use.
type Book struct {
	config Config

	mu     sync.Mutex
	local  map[domain.DutyName]domain.Duty // what this process knows
	stored map[domain.DutyName]news        // what this process has stored last
}

// news is the last state of a duty that a process has stored.
type news struct {
	at      time.Time // zero if the next run must be stored
	outcome domain.Outcome
}

// New returns a book. It returns domain.ErrConfiguration if a field is missing or a pause is negative.
func New(c Config) (*Book, error) {
	if c.Sessions == nil || c.Clock == nil {
		return nil, domain.Misconfigured("duties", "Sessions and Clock are required")
	}
	b := &Book{config: c, local: map[domain.DutyName]domain.Duty{}, stored: map[domain.DutyName]news{}}
	for name, every := range c.Duties {
		if every < 0 || !slices.Contains(domain.DutyNames(), name) {
			return nil, domain.Misconfigured("duties", "each duty needs a known name and a pause that is not negative")
		}
	}
	return b, nil
}

// Begin stores the duties of this process in the session. The worker calls it when it starts. A duty that this process
// does not have is no longer reported, because the application has ended it.
func (b *Book) Begin(ctx context.Context, s ports.Session) error {
	now := domain.Instant(b.config.Clock.Now())
	for _, name := range domain.DutyNames() {
		duty := domain.Duty{Name: name, Every: b.config.Duties[name]}
		if duty.Every > 0 {
			duty.Began = &now
		}
		if err := s.Installation().Duties().Begin(ctx, duty); err != nil {
			return err
		}
	}
	for _, duty := range b.began(now) {
		ports.Emit(ctx, b.config.Observer, observation.DutyObserved{Duty: duty})
	}
	return nil
}

// began notes the begin of the duties in memory, and returns them.
func (b *Book) began(now time.Time) (all []domain.Duty) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, every := range b.config.Duties {
		if _, known := b.local[name]; !known && every > 0 {
			b.local[name] = domain.Duty{Name: name, Every: every, Began: &now}
		}
		if duty, known := b.local[name]; known {
			all = append(all, duty)
		}
	}
	return all
}

// Hurry makes the next Ended of a duty store its run immediately, because the run has found something.
func (b *Book) Hurry(name domain.DutyName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.stored, name)
}

// Ended records that a run of a duty has ended, and stores it unless the same news were stored recently. It ignores
// duties that this process does not have. It returns the error of the database. The memory of this process then has the
// run nevertheless, and a success of domain.DutyWorker counts as a failure, unless ctx has ended: the worker stops.
func (b *Book) Ended(ctx context.Context, name domain.DutyName, outcome domain.Outcome) error {
	every := b.config.Duties[name]
	if every <= 0 {
		return nil
	}
	now := domain.Instant(b.config.Clock.Now())
	isDue := b.note(domain.Duty{Name: name, Every: every}, now, outcome)
	var err error
	if isDue {
		err = b.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
			return b.write(ctx, s, name)
		})
	}
	if err != nil && ctx.Err() == nil && outcome == domain.OutcomeOK && name == domain.DutyWorker {
		outcome = domain.OutcomeOf(err) // a worker that cannot write to the database cannot work either
		b.note(domain.Duty{Name: name, Every: every}, now.Add(time.Microsecond), outcome)
	}
	b.mu.Lock()
	if isDue && err == nil {
		b.stored[name] = news{now, outcome}
	}
	observed := b.local[name]
	b.mu.Unlock()
	ports.Emit(ctx, b.config.Observer, observation.DutyObserved{Duty: observed, Outcome: outcome})
	return err
}

// note notes a run in memory, and reports whether it must be stored.
func (b *Book) note(run domain.Duty, now time.Time, outcome domain.Outcome) (isDue bool) {
	if outcome == domain.OutcomeOK {
		run.LastSuccess = &now
	} else {
		run.LastFailure, run.LastError = &now, outcome
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.local[run.Name]
	known.Name = run.Name
	b.local[run.Name] = known.Merge(run)
	last, stored := b.stored[run.Name]
	return !stored || last.outcome != outcome || now.Sub(last.at) >= storeInterval || now.Before(last.at)
}

// write stores what this process knows about a duty, and reads what other processes know.
func (b *Book) write(ctx context.Context, s ports.Session, name domain.DutyName) error {
	b.mu.Lock()
	known := b.local[name]
	b.mu.Unlock()
	if err := s.Installation().Duties().Ended(ctx, known); err != nil {
		return err
	}
	all, err := read(ctx, s)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, stored := range all {
		if stored.Name == name {
			b.local[name] = stored.Merge(b.local[name])
		}
	}
	return nil
}
