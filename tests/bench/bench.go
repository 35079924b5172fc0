package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/tests/bench/machine"
	"github.com/habeas-data/habeas/tests/bench/results"
)

// bench starts a server, measures the selected parts one after the other, and prints the results. The last lines have a
// format for programs.
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
	var all results.Set
	for _, name := range o.parts {
		measured, err := measurements[name](ctx, place{o, server.URL(), here.Server.Process, progress})
		if err != nil {
			return err
		}
		all = append(all, measured...)
	}

	progress("done")
	if o.markdown != "" {
		if err := writePage(ctx, o.markdown, here, all); err != nil {
			return err
		}
	}
	for _, view := range views {
		text, err := view.table(ctx, all)
		if err != nil {
			return err
		}
		if text != "" {
			fmt.Printf("\n%s\n\n%s", view.name, text)
		}
	}
	fmt.Printf("\n%s\n", strings.Join(verdict(all), "\n"))
	return nil
}
