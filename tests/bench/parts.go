package main

import (
	"context"
	"os"
	"strconv"

	"github.com/habeas-data/habeas/tests/bench/badday"
	"github.com/habeas-data/habeas/tests/bench/drain"
	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/results"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// The parts of the benchmark, and the names of the results for which no package defines a name.
const (
	partEndpoints = "endpoints"
	partSQLite    = "sqlite"
	partDrain     = "drain"
	partBadDay    = "badday"

	nameEndpoints = "Endpoint"
	nameSQLite    = "SQLite"
)

var allParts = []string{partEndpoints, partSQLite, partDrain, partBadDay}

// place describes the environment of a part.
type place struct {
	options
	serverURL     string
	serverProcess int
	progress      func(text string)
}

var measurements = map[string]func(context.Context, place) (results.Set, error){
	partEndpoints: measureEndpoints,
	partSQLite:    measureSQLite,
	partDrain:     measureDrain,
	partBadDay:    measureBadDay,
}

func measureEndpoints(ctx context.Context, p place) (results.Set, error) {
	p.progress("making a shop with " + strconv.Itoa(p.users) + " users")
	made, err := shop.Create(ctx, p.serverURL, p.users)
	if err != nil {
		return nil, err
	}
	config := p.endpoints(nameEndpoints, made, p.connections, p.pairs, endpoints.Floor, endpoints.Habeas)
	config.ServerProcess = p.serverProcess
	return endpoints.Measure(ctx, config)
}

func measureSQLite(ctx context.Context, p place) (results.Set, error) {
	directory, err := os.MkdirTemp("", "habeas-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(directory) }()
	p.progress("making a shop on SQLite with " + strconv.Itoa(p.sqliteUsers) + " users")
	made, err := shop.CreateSQLite(ctx, directory, p.sqliteUsers)
	if err != nil {
		return nil, err
	}
	return endpoints.Measure(ctx,
		p.endpoints(nameSQLite, made, p.sqliteConns, p.sqlitePairs, endpoints.Floor, endpoints.Habeas))
}

func (p place) endpoints(name string, made shop.Shop, connections []int, pairs int, sides ...string) endpoints.Config {
	return endpoints.Config{
		Name:        name,
		Sides:       sides,
		Shop:        made,
		Connections: connections,
		Pairs:       pairs,
		Warmup:      p.warmup,
		Duration:    p.duration,
		Start:       p.start,
		Progress:    p.progress,
	}
}

func measureDrain(ctx context.Context, p place) (results.Set, error) {
	return drain.Measure(ctx, drain.Config{
		ServerURL:     p.serverURL,
		ServerProcess: p.serverProcess,
		Pool:          p.pool,
		Settings:      []drain.Setting{drain.Default, drain.Best},
		Pairs:         p.drains,
		Entries:       p.entries,
		Progress:      p.progress,
	})
}

func measureBadDay(ctx context.Context, p place) (results.Set, error) {
	config := badday.Config{ServerURL: p.serverURL, Pool: p.pool, Progress: p.progress}
	return badday.Measure(ctx, config, badday.Sizes{
		Backlog:   p.backlog,
		Rounds:    p.claims,
		Entries:   p.neighbours,
		Neighbour: p.neighbour,
	})
}

// start starts a measured server (hand-written, or with habeas) as a separate process on a database.
func (o options) start(ctx context.Context, side, databaseURL string) (*process.Server, error) {
	return process.Start(ctx, "serve", "-side", side, "-database", databaseURL,
		"-pool", strconv.Itoa(o.pool))
}
