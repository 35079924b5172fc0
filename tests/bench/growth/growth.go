// Package growth measures what habeas costs as the tables grow, and as one subject does: what concerns one subject, or one
// batch of work, should cost the same in a large database as in a small one.
package growth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/report"
	"github.com/habeas-data/habeas/tests/bench/shop"
	"github.com/habeas-data/habeas/tests/bench/stats"
)

// Config is what is measured, and where.
type Config struct {
	ServerURL string // of PostgreSQL
	Driver    string // under habeas
	Pool      int    // connections to each database
	Sizes     []int  // rows of each large table, in order of size
	Rounds    int    // in which all sizes are measured one after the other
	Subjects  []int  // rows of one subject, in order of size
	Each      int    // subjects of each of these
	// Start starts the server of a side, endpoints.Floor or endpoints.Habeas.
	Start func(ctx context.Context, side, databaseURL string) (*process.Server, error)
	// Progress is told what comes next.
	Progress func(text string)
}

// SmallestSize is the smallest number of rows that has a user for each erasure of so many rounds, and as many who stay.
func SmallestSize(rounds int) int { return 8 * (rounds + 1) * erasuresInRound * ordersOfUser }

// Series is what an operation cost a side, by size.
type Series struct {
	Operation string
	Side      string
	Rounds    [][]time.Duration // medians of each round, by size
}

// median is what the operation cost at a size, by its place among the sizes.
func (s Series) median(size int) time.Duration { return stats.Median(s.Rounds[size]) }

// Factor is the cost at the largest size by that at the smallest, round by round: flat is 1.
func (s Series) Factor() stats.Spread {
	largest, smallest := s.Rounds[len(s.Rounds)-1], s.Rounds[0]
	return stats.SpreadOf(stats.Ratios(nanoseconds(largest), nanoseconds(smallest)))
}

func nanoseconds(durations []time.Duration) []float64 {
	numbers := make([]float64, len(durations))
	for i, d := range durations {
		numbers[i] = float64(d)
	}
	return numbers
}

// Measure measures everything and shows it.
func Measure(ctx context.Context, config Config) ([]report.Section, error) {
	series, err := config.measureTables(ctx)
	if err != nil {
		return nil, fmt.Errorf("growth of the tables: %w", err)
	}
	large, err := config.measureSubjects(ctx)
	if err != nil {
		return nil, fmt.Errorf("growth of a subject: %w", err)
	}
	return append(config.tableSections(series), config.subjectSections(large)...), nil
}

// measureTables returns a series for each operation, by the topic that it belongs to.
func (c Config) measureTables(ctx context.Context) (all map[string][]Series, err error) {
	var worlds []*world
	for _, size := range c.Sizes {
		c.Progress(fmt.Sprintf("making tables of %s rows", report.Rate(float64(size))))
		w, err := c.newWorld(ctx, size)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, w.close()) }()
		worlds = append(worlds, w)
	}
	// Or what is measured first would write what making the tables has left in memory.
	if err := shop.Execute(ctx, c.ServerURL, "CHECKPOINT"); err != nil {
		return nil, err
	}
	all = map[string][]Series{}
	for _, topic := range topics {
		for _, operation := range topic.operations {
			series := Series{Operation: operation.name, Side: operation.side, Rounds: make([][]time.Duration, len(worlds))}
			c.Progress(operation.name + ", " + operation.side)
			if err := c.measure(ctx, operation, worlds, series); err != nil {
				return nil, fmt.Errorf("%s: %w", operation.name, err)
			}
			all[topic.name] = append(all[topic.name], series)
		}
	}
	return all, nil
}

// measure runs the rounds of an operation. The first one warms up and is not kept. All sizes have their turn in each
// round, so that a machine that slows down does so for all of them.
func (c Config) measure(ctx context.Context, o operation, worlds []*world, series Series) error {
	turns := make([]int, len(worlds))
	for i := range turns {
		turns[i] = i
	}
	for round := range c.Rounds + 1 {
		for _, i := range turns {
			median, err := o.median(ctx, worlds[i])
			if err != nil {
				return fmt.Errorf("with %d rows: %w", worlds[i].size, err)
			}
			if round > 0 {
				series.Rounds[i] = append(series.Rounds[i], median)
			}
		}
		slices.Reverse(turns)
	}
	return nil
}

func (o operation) median(ctx context.Context, w *world) (time.Duration, error) {
	if o.due > 0 {
		if err := w.provide(ctx, o.due); err != nil {
			return 0, err
		}
	}
	times := make([]time.Duration, o.samples)
	for i := range times {
		var err error
		if times[i], err = o.sample(ctx, w); err != nil {
			return 0, err
		}
	}
	return stats.Median(times), nil
}

func (o operation) sample(ctx context.Context, w *world) (time.Duration, error) {
	var user int64
	if o.whom != nil {
		user = o.whom(w)
	}
	if o.before != nil {
		if err := o.before(ctx, w, user); err != nil {
			return 0, err
		}
	}
	return o.once(ctx, w, user)
}
