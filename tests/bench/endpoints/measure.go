package endpoints

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/habeas-data/habeas/tests/bench/load"
	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/results"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// The sides are the measured servers.
const (
	Floor  = "floor"
	Habeas = "habeas" // habeas with its defaults
)

// Config describes the measurement.
type Config struct {
	Name          string    // name of the results
	Sides         []string  // servers, measured in turn
	Shop          shop.Shop // each server gets a copy
	ServerProcess int       // main process of PostgreSQL, 0 if unknown or absent
	Connections   []int     // numbers of client connections to measure
	Pairs         int       // number of runs of each server
	Warmup        time.Duration
	Duration      time.Duration // duration of one run
	// Start starts a measured server. The side is its name, such as Floor (the hand-written server).
	Start func(ctx context.Context, side, databaseURL string) (*process.Server, error)
	// Progress is called before each step.
	Progress func(text string)
}

// Measure returns one result for each run. A run measures one endpoint of one server with one number of connections.
func Measure(ctx context.Context, config Config) (all results.Set, err error) {
	for _, connections := range config.Connections {
		if err := config.level(ctx, connections, &all); err != nil {
			return nil, fmt.Errorf("%s with %d connections: %w", config.Name, connections, err)
		}
	}
	return all, nil
}

// side is a running server with the results of its requests.
type side struct {
	Config
	name      string
	database  string
	server    *process.Server
	before    rows
	completed map[string]int // number of completed requests by endpoint
}

// level measures all endpoints of all servers with the given number of connections. Each server gets a new database.
func (c Config) level(ctx context.Context, connections int, all *results.Set) (err error) {
	var sides []*side
	defer func() {
		for _, side := range sides {
			err = errors.Join(err, side.server.Stop())
		}
	}()
	c.Progress(fmt.Sprintf("%s: a new shop for each side, connections: %d", c.Name, connections))
	for _, name := range c.Sides {
		opened, err := c.open(ctx, name, connections)
		if err != nil {
			return err
		}
		sides = append(sides, opened)
	}
	// Without this checkpoint, PostgreSQL would write the new databases to disk during the first run.
	if err := c.Shop.Checkpoint(ctx); err != nil {
		return err
	}
	for _, endpoint := range All() {
		c.Progress(fmt.Sprintf("%s: %s, connections: %d", c.Name, endpoint.Name, connections))
		turns := slices.Clone(sides)
		for pair := range c.Pairs {
			for _, side := range turns {
				values, n, err := side.run(ctx, endpoint, connections, pair)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", side.name, endpoint.Name, err)
				}
				all.Add(c.Name, n, values, "endpoint", endpoint.Name, "conns", connections, "side", side.name)
			}
			slices.Reverse(turns)
		}
	}
	for _, side := range sides {
		after, err := count(ctx, side.database)
		if err == nil {
			err = verify(side.before, after, side.completed)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", side.name, err)
		}
	}
	return nil
}

func (c Config) open(ctx context.Context, name string, connections int) (*side, error) {
	s := &side{Config: c, name: name, completed: map[string]int{}}
	var err error
	if s.database, err = c.Shop.Copy(ctx, fmt.Sprintf("%s_%d", name, connections)); err != nil {
		return nil, err
	}
	if s.before, err = count(ctx, s.database); err != nil {
		return nil, err
	}
	s.server, err = c.Start(ctx, name, s.database)
	return s, err
}

// run sends requests to a server without measuring them (the warm-up), and then measures further requests. If the
// endpoint consumes users, each run uses a different part of the users, and the warm-up uses the first tenth of this
// part.
func (s *side) run(ctx context.Context, endpoint Endpoint, connections, pair int) ([]benchfmt.Value, int, error) {
	all := span{1, int64(s.Shop.Users)}
	warmup, measured := all, all
	if endpoint.consumes {
		own := all.part(pair, s.Pairs)
		warmup = own.part(0, 10)
		measured = span{warmup.last + 1, own.last}
	}
	seed := uint64(2 * pair)
	if _, err := s.load(ctx, endpoint, connections, s.warmup(pair), warmup, seed); err != nil {
		return nil, 0, err
	}
	before := process.UsedBy(s.server.Process(), s.ServerProcess)
	result, err := s.load(ctx, endpoint, connections, s.Duration, measured, seed+1)
	if err != nil {
		return nil, 0, err
	}
	if result.InTime == 0 {
		return nil, 0, errors.New("no response arrived in time")
	}
	return append([]benchfmt.Value{
		results.Value(result.Rate(), "req/s"),
		results.Seconds(result.Percentile(50), "p50-sec"),
		results.Seconds(result.Percentile(99), "p99-sec"),
	}, process.UsedBy(s.server.Process(), s.ServerProcess).Since(before, result.Responses)...), result.Responses, nil
}

// warmup returns the duration of the warm-up before a run. The first warm-up is longer, because its connections are
// new. On each new connection, PostgreSQL prepares every statement, and plans it five times before it reuses a plan.
func (c Config) warmup(pair int) time.Duration {
	if pair == 0 {
		return 5 * c.Warmup
	}
	return c.Warmup
}

func (s *side) load(
	ctx context.Context, endpoint Endpoint, connections int, duration time.Duration, users span, seed uint64,
) (load.Result, error) {
	result, err := load.Run(ctx, load.Plan{
		Address:     s.server.Address,
		Connections: connections,
		Duration:    duration,
		Requests:    endpoint.requests(users, seed),
	})
	s.completed[endpoint.Name] += result.Responses
	return result, err
}
