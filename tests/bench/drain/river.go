package drain

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/habeas-data/habeas/tests/bench/shop"
)

// jobs implements queue with the job queue of River.
type jobs struct {
	url      string
	pool     *pgxpool.Pool
	workers  *river.Workers
	inserted int64
}

// nothing is an empty job.
type nothing struct{}

func (nothing) Kind() string { return "nothing" }

// idler executes empty jobs.
type idler struct{ river.WorkerDefaults[nothing] }

func (idler) Work(context.Context, *river.Job[nothing]) error { return nil }

func openRiver(ctx context.Context, c Config) (_ queue, err error) {
	j := &jobs{workers: river.NewWorkers()}
	river.AddWorker(j.workers, idler{})
	if j.url, err = shop.Empty(ctx, c.ServerURL, "drain_river"); err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(j.url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(c.Pool)
	if j.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(j.pool), &rivermigrate.Config{Logger: silent})
	if err == nil {
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err != nil {
		j.close()
		return nil, err
	}
	return j, nil
}

var silent = slog.New(slog.DiscardHandler)

func (j *jobs) databaseURL() string { return j.url }

func (j *jobs) close() { j.pool.Close() }

// client returns a client with the settings of River's own benchmark. The default settings would fetch jobs only every
// 100 ms.
func (j *jobs) client() (*river.Client[pgx.Tx], error) {
	return river.NewClient(riverpgxv5.New(j.pool), &river.Config{
		FetchCooldown:     2 * time.Millisecond,
		FetchPollInterval: 20 * time.Millisecond,
		Logger:            silent,
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: riverWorkers}},
		Workers:           j.workers,
	})
}

const riverWorkers = 1000

func (j *jobs) fill(ctx context.Context, entries int) error {
	client, err := j.client()
	if err != nil {
		return err
	}
	const together = 1000
	for entries > 0 {
		batch := make([]river.InsertManyParams, min(entries, together))
		for i := range batch {
			batch[i].Args = nothing{}
		}
		n, err := client.InsertManyFast(ctx, batch)
		if err != nil {
			return err
		}
		entries -= n
		j.inserted += int64(n)
	}
	return nil
}

func (j *jobs) drain(ctx context.Context, clock *clock) (err error) {
	client, err := j.client()
	if err != nil {
		return err
	}
	// River sends an event after it has stored the outcome of a job.
	events, unsubscribe := client.SubscribeConfig(&river.SubscribeConfig{
		ChanSize: clock.work,
		Kinds:    []river.EventKind{river.EventKindJobCompleted, river.EventKindJobFailed},
	})
	defer unsubscribe()
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Stop(context.WithoutCancel(ctx))) }()
	for {
		select {
		case event := <-events:
			if event.Kind != river.EventKindJobCompleted {
				return errors.New("a job failed")
			}
			if clock.settled(1, time.Now()) {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (j *jobs) verify(ctx context.Context) error {
	return expect(ctx, j.url, j.inserted, `
		SELECT 'jobs that were completed', count(*) FROM river_job WHERE state = 'completed' AND attempt = 1
		UNION ALL SELECT 'jobs', count(*) FROM river_job`)
}
