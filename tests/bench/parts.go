package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/tests/bench/drain"
	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/growth"
	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/report"
	"github.com/habeas-data/habeas/tests/bench/shop"
	"github.com/habeas-data/habeas/tests/bench/wakeup"
)

// The parts of a measurement.
const (
	partEndpoints = "endpoints"
	partDrain     = "drain"
	partGrowth    = "growth"
)

var allParts = []string{partEndpoints, partDrain, partGrowth}

// place is where a part is measured, and how.
type place struct {
	options
	serverURL     string
	serverProcess int
	progress      func(text string)
}

// measurements return what there is to show, and lines for programs.
var measurements = map[string]func(context.Context, place) ([]report.Section, string, error){
	partEndpoints: measureEndpoints,
	partDrain:     measureDrain,
	partGrowth:    measureGrowth,
}

func measureEndpoints(ctx context.Context, p place) ([]report.Section, string, error) {
	p.progress("making a shop with " + strconv.Itoa(p.users) + " users")
	if err := shop.Create(ctx, p.serverURL, p.users); err != nil {
		return nil, "", err
	}
	config := endpoints.Config{
		ServerURL:     p.serverURL,
		ServerProcess: p.serverProcess,
		Users:         p.users,
		Connections:   p.connections,
		Pairs:         p.pairs,
		Warmup:        p.warmup,
		Duration:      p.duration,
		Start:         p.start,
		Progress:      p.progress,
	}
	results, err := endpoints.Measure(ctx, config)
	if err != nil {
		return nil, "", err
	}
	section := endpoints.Section(results, config)
	section.Notes = append(section.Notes, fmt.Sprintf("Each side has %d database connections; habeas' driver: %s.", p.pool, p.driver))
	return []report.Section{section}, endpoints.Verdict(results), nil
}

func measureDrain(ctx context.Context, p place) ([]report.Section, string, error) {
	settings := []drain.Setting{drain.Default, drain.Best}
	if p.everySetting {
		settings = drain.Settings()
	}
	draining := drain.Config{
		ServerURL:     p.serverURL,
		ServerProcess: p.serverProcess,
		Driver:        p.driver,
		Pool:          p.pool,
		Settings:      settings,
		Pairs:         p.drains,
		Entries:       p.entries,
		Progress:      p.progress,
	}
	drained, err := drain.Measure(ctx, draining)
	if err != nil {
		return nil, "", err
	}
	waking := wakeup.Config{
		ServerURL: p.serverURL,
		Driver:    p.driver,
		Pool:      p.pool,
		Erasures:  p.wakeups,
		Polled:    p.polls,
		Poll:      time.Second,
		Progress:  p.progress,
	}
	woken, err := wakeup.Measure(ctx, waking)
	if err != nil {
		return nil, "", err
	}
	return []report.Section{drain.Section(drained, draining), wakeup.Section(woken, waking)}, drain.Verdict(drained), nil
}

func measureGrowth(ctx context.Context, p place) ([]report.Section, string, error) {
	sections, err := growth.Measure(ctx, growth.Config{
		ServerURL: p.serverURL,
		Driver:    p.driver,
		Pool:      p.pool,
		Sizes:     p.rows,
		Rounds:    p.pairs,
		Subjects:  p.subjectRows,
		Each:      3,
		Start:     p.start,
		Progress:  p.progress,
	})
	return sections, "", err
}

// start starts the server of a side as a process of its own.
func (o options) start(ctx context.Context, side, databaseURL string) (*process.Server, error) {
	return process.Start(ctx, "serve", "-side", side, "-database", databaseURL,
		"-pool", strconv.Itoa(o.pool), "-driver", o.driver)
}
