// Package drain measures the rate at which the runner of habeas drains an outbox. For comparison, it measures River, a
// pure job queue, with empty jobs on the same server. The runs of habeas and River alternate.
package drain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/perf/benchfmt"

	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/results"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// Setting contains the settings of the runner of habeas.
type Setting struct {
	Batch   int // app.Config.Saga.Batch
	Workers int // app.Config.Workers
}

// Default is the setting of app.New.
var Default = Setting{Batch: saga.DefaultBatch, Workers: worker.DefaultWorkers}

// Best is the setting of habeas that is compared with River. More workers or larger batches gain little. River runs
// with the settings of its own benchmark.
var Best = Setting{Batch: 200, Workers: 8}

// Config describes the measurement.
type Config struct {
	ServerURL     string // PostgreSQL server
	ServerProcess int    // main process of the server, 0 if unknown
	Pool          int    // database connections of habeas, and of River
	Settings      []Setting
	Pairs         int // runs of each setting and of River
	Entries       int // outbox entries or jobs of each run
	// Progress is called before each step.
	Progress func(text string)
}

// queue is the job queue of River, or the outbox of habeas with one Setting. Each run fills the queue with jobs and
// then drains it.
type queue interface {
	// fill adds the given number of jobs to an empty queue.
	fill(ctx context.Context, entries int) error
	// drain processes all jobs. It notifies the clock after it has stored the outcomes of jobs.
	drain(ctx context.Context, clock *clock) error
	// verify fails unless every job was done exactly once.
	verify(ctx context.Context) error
	databaseURL() string
	close()
}

// Name is the name of the results.
const Name = "Drain"

// River is the value of the key "side" in the results of River. In the results of habeas, the value is the name of the
// Setting.
const River = "River"

// String returns the name of the setting, such as "8x200" for 8 workers and batches of 200.
func (s Setting) String() string { return fmt.Sprintf("%dx%d", s.Workers, s.Batch) }

// Measure returns one result for each run of River, and one for each run of each setting of habeas.
func Measure(ctx context.Context, config Config) (all results.Set, err error) {
	queues, err := config.open(ctx)
	if err != nil {
		return nil, err
	}
	sides := []string{River}
	for _, setting := range config.Settings {
		sides = append(sides, setting.String())
	}
	order := make([]int, len(queues))
	for i, q := range queues {
		defer q.close()
		order[i] = i
	}
	for pair := range config.Pairs {
		config.Progress(fmt.Sprintf("draining %d entries with River and %d settings of habeas, pair %d of %d",
			config.Entries, len(config.Settings), pair+1, config.Pairs))
		for _, i := range order {
			values, err := config.run(ctx, queues[i])
			if err != nil {
				return nil, fmt.Errorf("drain, %s: %w", sides[i], err)
			}
			all.Add(Name, config.Entries, values, "side", sides[i])
		}
		slices.Reverse(order)
	}
	for i, q := range queues {
		if err := q.verify(ctx); err != nil {
			return nil, fmt.Errorf("drain, %s: %w", sides[i], err)
		}
	}
	return all, nil
}

func (c Config) open(ctx context.Context) ([]queue, error) {
	river, err := openRiver(ctx, c)
	if err != nil {
		return nil, err
	}
	queues := []queue{river}
	for _, setting := range c.Settings {
		habeas, err := openHabeas(ctx, c, setting)
		if err != nil {
			for _, q := range queues {
				q.close()
			}
			return nil, err
		}
		queues = append(queues, habeas)
	}
	return queues, nil
}

// run fills the queue, vacuums the database and writes a checkpoint, so that the server is idle. It then drains the
// queue.
func (c Config) run(ctx context.Context, q queue) ([]benchfmt.Value, error) {
	if err := q.fill(ctx, c.Entries); err != nil {
		return nil, err
	}
	for _, statement := range []string{"VACUUM ANALYZE", "CHECKPOINT"} {
		if err := shop.Execute(ctx, q.databaseURL(), statement); err != nil {
			return nil, err
		}
	}
	before := process.UsedBy(os.Getpid(), c.ServerProcess)
	clock := &clock{work: c.Entries}
	if err := q.drain(ctx, clock); err != nil {
		return nil, err
	}
	if clock.rate() == 0 {
		return nil, errors.New("there was too little to measure")
	}
	return append([]benchfmt.Value{results.Value(clock.rate(), "entries/s")},
		process.UsedBy(os.Getpid(), c.ServerProcess).Since(before, c.Entries)...), nil
}
