package drain

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/bench/habeas"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// outbox implements queue with the outbox of habeas. Each job is an outbox entry.
type outbox struct {
	url     string
	db      *bun.DB
	stack   app.Stack
	workers int
	called  atomic.Int64 // calls to the external system
	ids     system.IDs
	filled  int64 // number of outbox entries, and of subjects, so far
}

// desk is an external system that responds immediately and counts its calls.
type desk struct {
	habeas.Desk
	called *atomic.Int64
}

func (d desk) EraseSubject(context.Context, domain.SubjectRef, domain.ErasureCall) (alreadyAbsent bool, err error) {
	d.called.Add(1)
	return false, nil
}

func openHabeas(ctx context.Context, c Config, setting Setting) (_ queue, err error) {
	o := &outbox{workers: setting.Workers}
	name := fmt.Sprintf("drain_%d_%d", setting.Batch, setting.Workers)
	if o.url, err = shop.CreateAs(ctx, c.ServerURL, name, 0); err != nil {
		return nil, err
	}
	if o.db, err = habeas.Open(o.url, c.Pool); err != nil {
		return nil, err
	}
	config := habeas.Config(o.db)
	config.Resolvers = []ports.Resolver{desk{called: &o.called}}
	config.Saga.Batch = setting.Batch
	gdpr, err := app.New(config) //nolint:contextcheck // app.New takes no context
	if err != nil {
		o.close()
		return nil, err
	}
	o.stack = gdpr.Stack()
	return o, nil
}

func (o *outbox) databaseURL() string { return o.url }

func (o *outbox) close() { _ = o.db.Close() }

// fill adds the given number of outbox entries, each for a new subject. The entries equal those that an erasure adds.
func (o *outbox) fill(ctx context.Context, entries int) error {
	const together = 1000
	for entries > 0 {
		n := min(entries, together)
		entries -= n
		err := o.stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
			batch := make([]domain.OutboxEntry, n)
			for i := range batch {
				subject, err := habeas.Subject(o.filled + int64(i) + 1)
				if err != nil {
					return err
				}
				batch[i] = domain.OutboxEntry{
					EntryID: o.ids.NewID(), SubjectID: subject.ID, Resolver: subject.Refs[0].Kind, Ref: subject.Refs[0],
					Operation: domain.OperationErase, Status: domain.OutboxPending, EnqueuedAt: domain.Instant(time.Now()),
				}
			}
			return s.Outbox().Enqueue(ctx, batch...)
		})
		if err != nil {
			return err
		}
		o.filled += int64(n)
	}
	return nil
}

// counted is an observer of a worker that reports completed outbox entries to the clock. After the last entry, or after
// a failure, it sends to c.ended.
type counted struct {
	clock *clock
	ended chan<- error // has a buffer for one value
}

func (counted) Start(ctx context.Context, _ observation.Activity) (context.Context, func(observation.ActivityEnd)) {
	return ctx, nil
}

func (c counted) Observe(_ context.Context, seen observation.Observation) {
	poll, ok := seen.(observation.PollObserved)
	if !ok {
		return
	}
	var err error
	if poll.Outcome != domain.OutcomeOK {
		err = fmt.Errorf("a batch ended with the outcome %s", poll.Outcome)
	}
	if all := c.clock.settled(poll.Settled, time.Now()); err != nil || all {
		select {
		case c.ended <- err:
		default:
		}
	}
}

func (o *outbox) drain(ctx context.Context, clock *clock) (err error) {
	ended := make(chan error, 1)
	w, err := worker.New(o.stack.Runner, worker.Options{Workers: o.workers, Observer: counted{clock, ended}})
	if err != nil {
		return err
	}
	w.Start() //nolint:contextcheck // the worker runs until it is stopped
	defer func() { err = errors.Join(err, w.Stop(0)) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = ctx.Err()
	}
	return err
}

func (o *outbox) verify(ctx context.Context) error {
	if called := o.called.Load(); called != o.filled {
		return fmt.Errorf("%d calls for %d entries", called, o.filled)
	}
	return expect(ctx, o.url, o.filled, `
		SELECT 'entries that succeeded', count(*) FROM habeas_outbox WHERE status = 'succeeded' AND attempts = 1
		UNION ALL SELECT 'entries', count(*) FROM habeas_outbox
		UNION ALL SELECT 'steps on the audit trail', count(*)
			FROM habeas_audit_events WHERE event_type = 'erasure_step_succeeded' AND payload ->> 'external' = 'true'
		UNION ALL SELECT 'completions', count(*) FROM habeas_audit_events WHERE event_type = 'erasure_completed'
		UNION ALL SELECT 'subjects completed', count(DISTINCT subject_ref)
			FROM habeas_audit_events WHERE event_type = 'erasure_completed'`)
}

// expect runs a statement that returns names and counts. It returns an error if a count differs from want.
func expect(ctx context.Context, databaseURL string, want int64, statement string) error {
	connection, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close(context.WithoutCancel(ctx)) }()
	rows, err := connection.Query(ctx, statement)
	if err != nil {
		return err
	}
	var name string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error {
		if n != want {
			return fmt.Errorf("%s: %d, want %d", name, n, want)
		}
		return nil
	})
	return err
}
