// Package drain measures how fast an outbox is worked off: by the runner of habeas, and, beside it in alternating pairs
// on the same server, jobs that do nothing by River, which is a queue and nothing else.
package drain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain/saga"
	"golang.org/x/perf/benchfmt"

	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/results"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// Setting is how the runner of habeas is used.
type Setting struct {
	Batch   int // app.Config.Saga.Batch
	Workers int // app.Config.Workers
}

// Default is what app.New gives an application.
var Default = Setting{Batch: saga.DefaultBatch, Workers: worker.DefaultWorkers}

// Best is about where more of either gains little, as River is set to what its own benchmark found best for River.
var Best = Setting{Batch: 200, Workers: 8}

// Settings are all that are worth looking at.
func Settings() []Setting {
	return []Setting{
		{Batch: 50, Workers: 1},
		{Batch: 50, Workers: 4},
		{Batch: 100, Workers: 4},
		{Batch: 200, Workers: 1},
		Default,
		Best,
	}
}

// Config is what is measured, and where.
type Config struct {
	ServerURL     string // of PostgreSQL
	ServerProcess int    // its main process; 0 where that is not known
	Driver        string // under habeas
	Pool          int    // connections to the database, of each side
	Settings      []Setting
	Pairs         int // runs of each setting, and of River
	Entries       int // of each run
	// Progress is told what comes next.
	Progress func(text string)
}

// queue is a side: work that is there beforehand, and is then worked off.
type queue interface {
	// fill adds so much work to an empty queue.
	fill(ctx context.Context, entries int) error
	// drain works all of it off, and tells the clock of each outcome once it is in the database.
	drain(ctx context.Context, clock *clock) error
	// verify fails unless all work that was ever added has been done, once.
	verify(ctx context.Context) error
	// databaseURL is where it is.
	databaseURL() string
	close()
}

// Name is that of the results.
const Name = "Drain"

// River is the side beside those of habeas, which are Settings.
const River = "River"

// String is the setting as the name of a side: workers and batch.
func (s Setting) String() string { return fmt.Sprintf("%dx%d", s.Workers, s.Batch) }

// Measure returns a result for each run of River and of each setting.
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

// run fills the queue, lets the server come to rest, and drains it.
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
