package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/tool/cli"
)

// newTree returns the command tree of the program. The command "quickstart gdpr" is the command line tool for
// operators. It uses the database of the demo. It may add outbox entries, and the worker of the server processes these
// entries.
func newTree(env func(string) string) *cobra.Command {
	root := &cobra.Command{Use: "quickstart", Short: "a small web shop with data-subject rights"}
	var databaseURL string
	gdpr := cli.Open(func(ctx context.Context) (cli.Application, error) {
		c, err := parseConfig(nil, env, io.Discard)
		if err != nil {
			return nil, &cli.Error{Code: cli.ExitFailed, Text: "a setting is not valid: check HABEAS_POLL_INTERVAL", Err: err}
		}
		if databaseURL != "" {
			c.databaseURL = databaseURL
		}
		return openApplication(ctx, c)
	})
	gdpr.Use = "gdpr"
	gdpr.PersistentFlags().StringVar(&databaseURL, "database-url", "",
		"`url` of the database: sqlite://path or postgres://...\n(environment: HABEAS_DATABASE_URL)")
	root.AddCommand(gdpr)
	return root
}

// openApplication integrates habeas in the same way as the server. Its database connections stay open until the process
// ends.
func openApplication(ctx context.Context, c config) (cli.Application, error) {
	db, err := openDatabase(ctx, c.databaseURL)
	if err != nil {
		return nil, &cli.Error{
			Code: cli.ExitFailed, Err: err,
			Text: "the database cannot be opened: check its URL, and whether its server runs",
		}
	}
	if c.databaseURL == defaultDatabaseURL { // otherwise, the first command would find no tables
		if err := prepare(ctx, db); err != nil {
			return nil, err
		}
	}
	desk, err := openDesk(ctx, c)
	if err != nil {
		return nil, err
	}
	_, gdpr, err := newServer(db, c, desk) //nolint:contextcheck // the server is not started
	if err != nil {
		return nil, err
	}
	return gdpr.Operator(), nil
}
