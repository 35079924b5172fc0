package endpoints

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/habeas-data/habeas/tests/bench/load"
	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// The sides.
const (
	Floor  = "floor"
	Habeas = "habeas"
)

// Config is what is measured, and where.
type Config struct {
	ServerURL     string        // of PostgreSQL, where shop.Create has been
	ServerProcess int           // its main process; 0 where that is not known
	Users         int           // who are in the shop
	Connections   []int         // from the load to each server
	Pairs         int           // runs of both sides
	Warmup        time.Duration // before each run; longer before the first
	Duration      time.Duration // of one run
	// Start starts the server of a side.
	Start func(ctx context.Context, side, databaseURL string) (*process.Server, error)
	// Progress is told what comes next.
	Progress func(text string)
}

// Measure returns a result for each number of connections and each endpoint, in that order.
func Measure(ctx context.Context, config Config) ([]Result, error) {
	var results []Result
	for _, connections := range config.Connections {
		level, err := config.level(ctx, connections)
		if err != nil {
			return nil, fmt.Errorf("with %d connections: %w", connections, err)
		}
		results = append(results, level...)
	}
	return results, nil
}

// side is one of both while it is measured.
type side struct {
	Config
	name     string
	database string
	server   *process.Server
	before   rows
	answered map[string]int // requests, by endpoint
}

// level measures all endpoints with so many connections, on databases that nobody has used.
func (c Config) level(ctx context.Context, connections int) (results []Result, err error) {
	sides := map[string]*side{}
	defer func() {
		for _, side := range sides {
			err = errors.Join(err, side.server.Stop())
		}
	}()
	c.Progress(fmt.Sprintf("a new shop for each side, connections: %d", connections))
	for _, name := range []string{Floor, Habeas} {
		opened, err := c.open(ctx, name, fmt.Sprintf("%s_%d", name, connections))
		if err != nil {
			return nil, err
		}
		sides[name] = opened
	}
	// Both sides begin where a checkpoint has just been, wherever the copying has left the server.
	if err := shop.Execute(ctx, c.ServerURL, "CHECKPOINT"); err != nil {
		return nil, err
	}
	for _, endpoint := range All() {
		c.Progress(fmt.Sprintf("%s, connections: %d", endpoint.Title, connections))
		result := Result{Endpoint: endpoint, Connections: connections}
		for pair := range c.Pairs {
			first, second := Floor, Habeas
			if pair%2 == 1 {
				first, second = second, first
			}
			for _, name := range []string{first, second} {
				run, err := sides[name].run(ctx, endpoint, connections, pair)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", name, endpoint.Title, err)
				}
				result.add(name, run)
			}
		}
		results = append(results, result)
	}
	for _, side := range sides {
		after, err := count(ctx, side.database)
		if err == nil {
			err = verify(side.before, after, side.answered)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", side.name, err)
		}
	}
	return results, nil
}

func (c Config) open(ctx context.Context, name, database string) (*side, error) {
	s := &side{Config: c, name: name, answered: map[string]int{}}
	var err error
	if s.database, err = shop.Copy(ctx, c.ServerURL, database); err != nil {
		return nil, err
	}
	if s.before, err = count(ctx, s.database); err != nil {
		return nil, err
	}
	s.server, err = c.Start(ctx, name, s.database)
	return s, err
}

// run warms up the side and measures it. A run that consumes users has its own, of which the warm-up takes a few.
func (s *side) run(ctx context.Context, endpoint Endpoint, connections, pair int) (Run, error) {
	all := span{1, int64(s.Users)}
	warmup, measured := all, all
	if endpoint.consumes {
		own := all.part(pair, s.Pairs)
		warmup = own.part(0, 10)
		measured = span{warmup.last + 1, own.last}
	}
	seed := uint64(2 * pair)
	if _, err := s.load(ctx, endpoint, connections, s.warmup(pair), warmup, seed); err != nil {
		return Run{}, err
	}
	before := s.processorTime()
	result, err := s.load(ctx, endpoint, connections, s.Duration, measured, seed+1)
	if err != nil {
		return Run{}, err
	}
	if len(result.Latencies) == 0 {
		return Run{}, errors.New("nothing was answered in time")
	}
	return newRun(result, before, s.processorTime()), nil
}

// warmup is how long a run warms up: the first one on its new connections, for each of which the database prepares every
// statement and plans it five times before it keeps the plan.
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
	s.answered[endpoint.Name] += result.Answered
	return result, err
}

// processorTime is what the side's server and PostgreSQL have used so far; 0 where that is not known.
type processorTime struct{ server, postgres time.Duration }

func (s *side) processorTime() processorTime {
	var used processorTime
	if server, err := s.server.CPU(); err == nil {
		used.server = server
	}
	if family, err := process.CPUOfFamily(s.ServerProcess); err == nil && s.ServerProcess != 0 {
		used.postgres = family
	}
	return used
}
