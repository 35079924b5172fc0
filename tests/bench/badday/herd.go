package badday

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/pgxlisten"
	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Herd is the cost of many processes that wait for entries of one outbox.
type Herd struct {
	PerErasure     float64 // claims by all processes per erasure
	P50, P99, Most time.Duration
}

// MeasureHerd adds outbox entries one by one, at the given rate. Several processes handle these entries, each with the
// given number of workers. MeasureHerd counts the statements with which all processes look for entries, and measures
// the time from the commit of an entry to the call of the external system.
func MeasureHerd(
	ctx context.Context, c Config, processes, workers, perSecond int, d time.Duration,
) (h Herd, err error) {
	first, err := c.open(ctx, "herd")
	if err != nil {
		return Herd{}, err
	}
	defer first.close()
	called := make(chan time.Time, 1000)
	system := desk{"desk", func(context.Context) error {
		called <- time.Now()
		return nil
	}}
	var claims atomic.Int64
	ctx, cancel := context.WithCancel(ctx)
	var listening sync.WaitGroup
	defer listening.Wait()
	defer cancel()
	var works []*worker.SagaWorker
	for range processes {
		w, err := c.join(first.url)
		if err != nil {
			return Herd{}, err
		}
		defer w.close()
		runner, err := w.runner(&countedStore{w.store, &claims}, system)
		if err != nil {
			return Herd{}, err
		}
		work, err := worker.New(runner, worker.Options{Workers: workers})
		if err != nil {
			return Herd{}, err
		}
		config, err := pgx.ParseConfig(first.url)
		if err != nil {
			return Herd{}, err
		}
		listener, err := pgxlisten.New(config, work.Wake, pgxlisten.Options{})
		if err != nil {
			return Herd{}, err
		}
		listening.Go(func() { listener.Run(ctx) })
		work.Start() //nolint:contextcheck // the worker runs until it is stopped
		defer func() { err = errors.Join(err, work.Stop(time.Minute)) }()
		works = append(works, work)
	}
	time.Sleep(2 * time.Second) // until all processes listen, and have looked for entries once
	claims.Store(0)
	var latencies durations
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	n := 0
	for begin := time.Now(); time.Since(begin) < d; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return Herd{}, ctx.Err()
		}
		if err := first.enqueue(ctx, "desk", 1); err != nil {
			return Herd{}, err
		}
		committed := time.Now()
		works[n%len(works)].Wake() // the process that enqueued the entry
		select {
		case at := <-called:
			latencies = append(latencies, at.Sub(committed))
		case <-time.After(10 * time.Second):
			return Herd{}, errors.New("the system was not called")
		}
	}
	return Herd{
		PerErasure: float64(claims.Load()) / float64(n),
		P50:        latencies.quantile(0.5), P99: latencies.quantile(0.99), Most: latencies.quantile(1),
	}, nil
}

// countedStore counts the statements with which workers look for outbox entries.
type countedStore struct {
	ports.SessionFactory
	claimed *atomic.Int64
}

type countedSession struct {
	ports.Session
	*countedStore
}

type countedOutbox struct {
	ports.Outbox
	*countedStore
}

func (t *countedStore) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return t.SessionFactory.Do(ctx,
		func(ctx context.Context, s ports.Session) error { return fn(ctx, countedSession{s, t}) })
}

func (s countedSession) Outbox() ports.Outbox {
	return countedOutbox{s.Session.Outbox(), s.countedStore}
}

func (o countedOutbox) Claim(ctx context.Context, query domain.ClaimQuery) ([]domain.OutboxEntry, error) {
	o.claimed.Add(1)
	return o.Outbox.Claim(ctx, query)
}
