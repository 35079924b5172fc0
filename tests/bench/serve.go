package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/floor"
	"github.com/habeas-data/habeas/tests/bench/habeas"
	"github.com/habeas-data/habeas/tests/bench/process"
)

// serve runs the hand-written server or the server with habeas.
func serve(arguments []string) (err error) {
	signal.Ignore(os.Interrupt) // Ctrl+C also reaches this process, but the parent stops it
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	side := flags.String("side", "", "`side`: "+endpoints.Floor+" or "+endpoints.Habeas)
	databaseURL := flags.String("database", "", "`url` of the side's database")
	pool := flags.Int("pool", 0, "how many `connections` to the database")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	server, closeDatabase, err := open(*side, *databaseURL, *pool)
	if err != nil {
		return err
	}
	defer closeDatabase()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Listener(listener) }()
	process.Serve(listener.Addr().String())
	return errors.Join(server.Shutdown(), <-served)
}

// open creates the application of the hand-written server or of the server with habeas.
func open(side, databaseURL string, pool int) (*fiber.App, func(), error) {
	if side == endpoints.Floor {
		return floor.New(context.Background(), databaseURL, pool)
	}
	if side != endpoints.Habeas {
		return nil, nil, fmt.Errorf("there is no side %q", side)
	}
	database, err := habeas.Open(databaseURL, pool)
	if err != nil {
		return nil, nil, err
	}
	server, err := habeas.New(database)
	return server, func() { _ = database.Close() }, err
}
