package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/tests/bench/process"
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
	version, serverProcess, err := describe(ctx, server.URL())
	if err != nil {
		return err
	}
	here := []string{fmt.Sprintf("%d cores, %s, %s, %s", runtime.NumCPU(), runtime.GOOS, runtime.Version(), version)}
	var all results.Set
	for _, name := range o.parts {
		measured, err := measurements[name](ctx, place{o, server.URL(), serverProcess, progress})
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

// describe returns the version and the main process of a PostgreSQL server, or 0 if the process is not known. It
// returns an error if a commit on the server is not durable, because the results would mean nothing.
func describe(ctx context.Context, serverURL string) (version string, serverProcess int, err error) {
	connection, err := pgx.Connect(ctx, serverURL)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = connection.Close(context.WithoutCancel(ctx)) }()
	var durable bool
	var backend int
	if err := connection.QueryRow(ctx, `
		SELECT 'PostgreSQL ' || current_setting('server_version'), pg_backend_pid(), bool_and(setting = 'on')
		FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes')`,
	).Scan(&version, &backend, &durable); err != nil {
		return "", 0, err
	}
	if !durable {
		return "", 0, errors.New("the server does not make commits durable: nothing can be compared on it")
	}
	serverProcess, err = process.Parent(backend)
	if err != nil {
		serverProcess = 0 // only Linux tells it
	}
	return version, serverProcess, nil
}
