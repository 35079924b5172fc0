// Package growth measures the cost of operations in databases of different sizes, and for subjects with different
// numbers of rows. The cost of an operation on one subject or on one batch should not depend on the size of the
// database.
package growth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/results"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// Config describes the measurement.
type Config struct {
	ServerURL string // PostgreSQL server
	Driver    string // driver of habeas
	Pool      int    // connections to each database
	Sizes     []int  // rows of each large table, ascending
	Rounds    int    // number of rounds, each of which measures all sizes
	Subjects  []int  // rows of one subject, ascending
	Each      int    // number of subjects of each size
	// Start starts a measured server. The side is its name: endpoints.Floor (hand-written) or endpoints.Habeas.
	Start func(ctx context.Context, side, databaseURL string) (*process.Server, error)
	// Progress is called before each step.
	Progress func(text string)
}

// SmallestSize returns the smallest permitted number of rows in a large table. The users of a smaller shop would not be
// enough for the given number of measurement rounds, because each round erases some of them.
func SmallestSize(rounds int) int { return 8 * (rounds + 1) * erasuresInRound * ordersOfUser }

// Names of the results. The results Growth show the effect of larger tables. The results Subject show the effect of
// more rows of one subject.
const (
	Tables  = "Growth"
	Subject = "Subject"
)

// Topics of the measurements with larger tables. Each topic has its own chart.
const (
	Claims   = "claims"
	Consents = "consent"
	Shop     = "tables"
)

// Measure measures operations with larger tables, and operations on a subject with more rows.
func Measure(ctx context.Context, config Config) (all results.Set, err error) {
	if err := config.measureTables(ctx, &all); err != nil {
		return nil, fmt.Errorf("growth of the tables: %w", err)
	}
	if err := config.measureSubjects(ctx, &all); err != nil {
		return nil, fmt.Errorf("growth of a subject: %w", err)
	}
	return all, nil
}

func (c Config) measureTables(ctx context.Context, all *results.Set) (err error) {
	var worlds []*world
	for _, size := range c.Sizes {
		c.Progress(fmt.Sprintf("making tables of %d rows", size))
		w, err := c.newWorld(ctx, size)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.close()) }()
		worlds = append(worlds, w)
	}
	// Without this checkpoint, PostgreSQL would write the new tables to disk during the first measured operation.
	if err := shop.Execute(ctx, c.ServerURL, "CHECKPOINT"); err != nil {
		return err
	}
	for _, topic := range []struct {
		name       string
		operations []operation
	}{{Claims, claims}, {Consents, onBothSides(consents)}, {Shop, onBothSides(subjects)}} {
		for _, operation := range topic.operations {
			c.Progress(operation.name + ", " + operation.side)
			if err := c.measure(ctx, topic.name, operation, worlds, all); err != nil {
				return fmt.Errorf("%s: %w", operation.name, err)
			}
		}
	}
	return nil
}

// measure measures an operation in several rounds. The first round is a warm-up, and its results are dropped. Each
// round measures all sizes of tables, so that a temporarily slower machine affects all sizes equally.
func (c Config) measure(ctx context.Context, topic string, o operation, worlds []*world, all *results.Set) error {
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
				all.Add(Tables, o.samples, []benchfmt.Value{results.Seconds(median, "sec/op")},
					"topic", topic, "operation", o.name, "side", o.side, "rows", worlds[i].size)
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
	return results.Median(times), nil
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
