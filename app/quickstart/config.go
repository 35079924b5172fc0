package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

// config has the settings from flags and environment variables. A flag takes precedence over its environment variable.
type config struct {
	addr             string
	databaseURL      string
	supportdeskURL   string
	supportdeskToken string
	pollInterval     time.Duration
	walkthrough      bool
}

const defaultDatabaseURL = "sqlite://quickstart.db"

// parseConfig reads flags and environment variables. It returns flag.ErrHelp if args request the usage text.
func parseConfig(args []string, env func(string) string, output io.Writer) (config, error) {
	var c config
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(output)
	text := func(target *string, name, variable, fallback, usage string) {
		if value := env(variable); value != "" {
			fallback = value
		}
		flags.StringVar(target, name, fallback, usage+" (environment: "+variable+")")
	}
	text(&c.addr, "addr", "HABEAS_ADDR", "127.0.0.1:8080", "`address` to listen on")
	text(&c.databaseURL, "database-url", "HABEAS_DATABASE_URL", defaultDatabaseURL,
		"`url` of the database: sqlite://path or postgres://...")
	text(&c.supportdeskURL, "supportdesk-url", "HABEAS_SUPPORTDESK_URL", "", "`url` of the support desk")
	text(&c.supportdeskToken, "supportdesk-token", "HABEAS_SUPPORTDESK_TOKEN", "", "access `token` of the support desk")
	var poll string
	text(&poll, "poll-interval", "HABEAS_POLL_INTERVAL", "5s", "longest `sleep` of the worker while the outbox is empty")
	flags.BoolVar(&c.walkthrough, "walkthrough", false,
		"play a complete scenario on a new database, check each response, and exit")
	if err := flags.Parse(args); err != nil {
		return config{}, err
	}
	if flags.NArg() > 0 {
		return config{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	var err error
	if c.pollInterval, err = time.ParseDuration(poll); err != nil || c.pollInterval <= 0 {
		return config{}, fmt.Errorf("-poll-interval must be a duration above zero, like 5s")
	}
	return c, nil
}

func configFromProcess() (config, error) { return parseConfig(os.Args[1:], os.Getenv, os.Stderr) }
