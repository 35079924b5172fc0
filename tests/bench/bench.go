package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/tests/postgres"

	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/machine"
	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/report"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

// bench starts a server, measures one part after the other, and shows the results. The last lines are for programs.
func bench(ctx context.Context, o options) (err error) {
	began := time.Now()
	progress := func(text string) { fmt.Fprintf(os.Stderr, "%4.0fs  %s\n", time.Since(began).Seconds(), text) }

	progress("starting PostgreSQL")
	server, err := postgres.Start(ctx, postgres.Durable())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	progress("making a shop with " + strconv.Itoa(o.users) + " users")
	if err := shop.Create(ctx, server.URL(), o.users); err != nil {
		return err
	}
	here, err := machine.Describe(ctx, server.URL())
	if err != nil {
		return err
	}

	page := report.Page{
		Title: "Benchmarks",
		Intro: []string{
			"What habeas costs, against code that was written by hand for the same job. Measured by `make bench`, which " +
				"writes this page; `make bench-quick` prints a shorter run. Both sides run on one machine:",
		},
		Machine: here.Lines(),
	}
	var verdict strings.Builder

	config := endpoints.Config{
		ServerURL:     server.URL(),
		ServerProcess: here.Server.Process,
		Users:         o.users,
		Connections:   o.connections,
		Pairs:         o.pairs,
		Warmup:        o.warmup,
		Duration:      o.duration,
		Start:         o.start,
		Progress:      progress,
	}
	results, err := endpoints.Measure(ctx, config)
	if err != nil {
		return err
	}
	section := endpoints.Section(results, config)
	section.Notes = append(section.Notes, fmt.Sprintf("Each side has %d database connections; habeas' driver: %s.", o.pool, o.driver))
	page.Sections = append(page.Sections, section)
	verdict.WriteString(endpoints.Verdict(results))

	progress("done")
	if o.markdown != "" {
		if err := page.Write(o.markdown); err != nil {
			return err
		}
	}
	fmt.Print("\n", page.Text(), "\n", verdict.String())
	return nil
}

// start starts the server of a side as a process of its own.
func (o options) start(ctx context.Context, side, databaseURL string) (*process.Server, error) {
	return process.Start(ctx, "serve", "-side", side, "-database", databaseURL,
		"-pool", strconv.Itoa(o.pool), "-driver", o.driver)
}
