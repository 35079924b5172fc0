// Quickstart is a small web shop that serves the GDPR requests of its users with habeas. It runs on an embedded SQLite
// database and needs no installation:
//
//	go run ./app/quickstart               # starts the shop and prints commands to try
//	go run ./app/quickstart -walkthrough  # plays a complete scenario, checks each response, and exits
//	go run ./app/quickstart gdpr help     # shows the commands of operators on the database of the shop
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/tool/cli"
)

const shutdownTimeout = 10 * time.Second

func main() {
	if len(os.Args) > 1 && os.Args[1] == "gdpr" {
		os.Exit(cli.Main(newTree(os.Getenv)))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := configFromProcess()
	if err == nil {
		err = run(ctx, config, os.Stdout)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c config, output io.Writer) error {
	if c.walkthrough {
		return walkthrough(ctx, c, output)
	}
	db, err := openDatabase(ctx, c.databaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return serve(ctx, db, c, func(address string, _ demo) error {
		printCommands(output, address)
		<-ctx.Done()
		fmt.Fprintln(output, "\nStopped.")
		return nil
	})
}

// demo has the parts of the application that a walkthrough inspects directly, without HTTP.
type demo struct {
	gdpr *app.Integration
	desk desk
}

// serve starts the application, calls the given function, and stops the application after this function has returned.
func serve(ctx context.Context, db *bun.DB, c config, use func(address string, d demo) error) (err error) {
	if err := bunstore.Migrate(ctx, db, bunstore.Options{}); err != nil {
		return err
	}
	if err := prepare(ctx, db); err != nil {
		return err
	}
	desk, err := openDesk(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, desk.close()) }()
	server, gdpr, err := newServer(db, c, desk) //nolint:contextcheck // the worker stops with the server, not with ctx
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.addr)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Listener(listener) }()
	used := make(chan error, 1)
	go func() { used <- use(listener.Addr().String(), demo{gdpr, desk}) }()
	select {
	case err = <-served: // the server has failed, because no shutdown was requested
		return err
	case err = <-used:
		return errors.Join(err, server.ShutdownWithTimeout(shutdownTimeout), <-served)
	}
}

func printCommands(output io.Writer, address string) {
	fmt.Fprintf(output, `habeas quickstart: http://%[1]s  (users: alice, bob, carol; stop with Ctrl+C)

Try these commands in another terminal:

  # give consent, and read it (Art. 7)
  curl -s -H 'Authorization: Bearer alice' -H 'Content-Type: application/json' \
       -d '{"purpose":"newsletter","policy_version":"2026-01","granted":true}' http://%[1]s/me/consent
  curl -s -H 'Authorization: Bearer alice' http://%[1]s/me/consent/newsletter

  # restrict processing (Art. 18)
  curl -s -H 'Authorization: Bearer alice' -H 'Content-Type: application/json' \
       -d '{"restricted":true,"reason":"the address is wrong"}' http://%[1]s/me/restriction

  # export all data (Art. 15)
  curl -s -H 'Authorization: Bearer alice' http://%[1]s/me/export

  # correct a name (Art. 16), with a route of the application
  curl -s -H 'Authorization: Bearer alice' -H 'Content-Type: application/json' \
       -X PATCH -d '{"name":"Alicia Example"}' http://%[1]s/me/profile

  # erase (Art. 17), then export again
  curl -s -H 'Authorization: Bearer alice' -X DELETE http://%[1]s/me
  curl -s -H 'Authorization: Bearer alice' http://%[1]s/me/export

  # inspect the result as an operator
  go run ./app/quickstart gdpr status
  go run ./app/quickstart gdpr trail 1

The API is described at http://%[1]s/openapi.json
`, address)
}
