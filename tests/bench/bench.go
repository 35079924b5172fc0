package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/habeas-data/habeas/tests/postgres"

	"github.com/habeas-data/habeas/tests/bench/machine"
	"github.com/habeas-data/habeas/tests/bench/report"
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
	for _, name := range o.parts {
		sections, lines, err := measurements[name](ctx, place{o, server.URL(), here.Server.Process, progress})
		if err != nil {
			return err
		}
		page.Sections = append(page.Sections, sections...)
		verdict.WriteString(lines)
	}

	progress("done")
	if o.markdown != "" {
		if err := page.Write(o.markdown); err != nil {
			return err
		}
	}
	fmt.Print("\n", page.Text(), "\n", verdict.String())
	return nil
}
