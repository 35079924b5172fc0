package badday

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Sample has the durations of the claims in one interval, and the number of open outbox entries at the end of the
// interval. A claim is the statement with which a worker takes a batch of outbox entries.
type Sample struct {
	After          time.Duration
	P50, P99, Most time.Duration // durations of claims
	Claims         int
	Backlog        int // open outbox entries
	Enqueued       int // outbox entries added since the start
}

// Churn adds the given number of outbox entries per second, while a worker with default settings processes them. It
// returns a sample for every interval. If snapshot is true, a transaction stays open during the complete run, so that
// PostgreSQL cannot remove the old versions of the processed entries.
func Churn(
	ctx context.Context, c Config, perSecond int, d, interval time.Duration, snapshot bool,
) (samples []Sample, err error) {
	w, err := c.open(ctx, fmt.Sprintf("churn_%t", snapshot))
	if err != nil {
		return nil, err
	}
	defer w.close()
	if snapshot {
		holder, err := pgx.Connect(ctx, w.url)
		if err != nil {
			return nil, err
		}
		defer func() { _ = holder.Close(context.WithoutCancel(ctx)) }()
		const look = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM habeas_outbox"
		if _, err := holder.Exec(ctx, look); err != nil {
			return nil, err
		}
	}
	timed := &timedStore{SessionFactory: w.store}
	runner, err := w.runner(timed, desk{"desk", func(context.Context) error { return nil }})
	if err != nil {
		return nil, err
	}
	work, err := worker.New(runner, worker.Options{})
	if err != nil {
		return nil, err
	}
	work.Start() //nolint:contextcheck // the worker runs until it is stopped
	defer func() { err = errors.Join(err, work.Stop(time.Minute)) }()
	begin, sampled, enqueued := time.Now(), time.Now(), 0
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for time.Since(begin) < d {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return samples, ctx.Err()
		}
		if due := int(time.Since(begin).Seconds()*float64(perSecond)) - enqueued; due > 0 {
			if err := w.enqueue(ctx, "desk", due); err != nil {
				return samples, err
			}
			enqueued += due
			work.Wake()
		}
		if time.Since(sampled) >= interval {
			sampled = time.Now()
			sample := timed.sample()
			sample.After, sample.Enqueued = time.Since(begin), enqueued
			if sample.Backlog, err = w.openEntries(ctx); err != nil {
				return samples, err
			}
			samples = append(samples, sample)
			c.Progress(sample.String())
		}
	}
	return samples, nil
}

func (s Sample) String() string {
	return "after " + s.After.Round(time.Second).String() + ": claims p50 " + s.P50.String() + ", p99 " + s.P99.String() +
		", most " + s.Most.String()
}

func (w *world) openEntries(ctx context.Context) (n int, err error) {
	err = w.db.NewRaw("SELECT count(*) FROM habeas_outbox WHERE stage = 0").Scan(ctx, &n)
	return n, err
}

// timedStore measures the duration of each claim statement, without the beginning and the commit of its transaction.
type timedStore struct {
	ports.SessionFactory
	mu     sync.Mutex
	claims durations
}

type timedSession struct {
	ports.Session
	*timedStore
}

type timedOutbox struct {
	ports.Outbox
	*timedStore
}

func (t *timedStore) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return t.SessionFactory.Do(ctx,
		func(ctx context.Context, s ports.Session) error { return fn(ctx, timedSession{s, t}) })
}

func (s timedSession) Outbox() ports.Outbox { return timedOutbox{s.Session.Outbox(), s.timedStore} }

func (o timedOutbox) Claim(ctx context.Context, query domain.ClaimQuery) ([]domain.OutboxEntry, error) {
	begin := time.Now()
	claimed, err := o.Outbox.Claim(ctx, query)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.claims = append(o.claims, time.Since(begin))
	return claimed, err
}

func (t *timedStore) sample() Sample {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Sample{
		P50: t.claims.quantile(0.5), P99: t.claims.quantile(0.99), Most: t.claims.quantile(1), Claims: len(t.claims),
	}
	t.claims = nil
	return s
}
