// Package crash kills a server while it works, and checks that the database is consistent.
package crash_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

// serverVariable is the environment variable with the location of the database. If it is set, this test binary runs as
// the server that the test kills.
const serverVariable = "HABEAS_TEST_CRASH_DATABASE"

func TestMain(m *testing.M) {
	if source := os.Getenv(serverVariable); source != "" {
		if err := serve(source); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	postgres.Main(m)
}

var must = fixture.Must

// desk is an external system that has a record of every customer.
type desk struct{ ports.Resolver }

func (desk) Name() string { return "desk" }

// serve runs the server. It prints its address, and does not end until it is killed.
func serve(source string) error {
	db, err := open(source)
	if err != nil {
		return err
	}
	gdpr, err := app.New(app.Config{DB: db, Models: shop.Models, Resolvers: []ports.Resolver{desk{}}})
	if err != nil {
		return err
	}
	server := fiber.New(fiber.Config{DisableStartupMessage: true})
	server.Route("/me", gdpr.Router(func(c *fiber.Ctx) (domain.Subject, error) {
		return domain.NewSubject(c.Get("X-Customer"), domain.SubjectRef{Kind: "desk", Value: "contact"})
	}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return server.Listener(listener)
}

// open opens sqlite:FILE or a postgres:// URL.
func open(source string) (*bun.DB, error) {
	if file, ok := strings.CutPrefix(source, "sqlite:"); ok {
		sqldb, err := sql.Open("sqlite", "file:"+file+
			"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)&_pragma=journal_mode(wal)")
		return bun.NewDB(sqldb, sqlitedialect.New()), err
	}
	sqldb, err := sql.Open("pgx", source)
	return bun.NewDB(sqldb, pgdialect.New()), err
}

// start runs the server as a separate process and returns its address.
func start(t *testing.T, source string) (server *exec.Cmd, address string) {
	t.Helper()
	server = exec.CommandContext(context.Background(), os.Args[0])
	server.Env = append(os.Environ(), serverVariable+"="+source)
	server.Stderr = os.Stderr
	output, err := server.StdoutPipe()
	must(t, err)
	must(t, server.Start())
	t.Cleanup(func() { _ = server.Process.Kill() })
	line, err := bufio.NewReader(output).ReadString('\n')
	must(t, err)
	return server, strings.TrimSpace(line)
}
