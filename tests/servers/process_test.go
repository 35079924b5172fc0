package servers

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	pgxdriver "github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/pgxlisten"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/servers/recipe"
)

// databaseEnv is the environment variable with the location of the database. If it is set, this test binary runs as a
// process of the application.
const databaseEnv = "HABEAS_TEST_SERVERS_DATABASE"

// connections is the maximum number of database connections of a process. Idle connections stay open.
const connections = 8

// desk is an external system whose calls succeed immediately.
type desk struct{ ports.Resolver }

func (desk) Name() string { return "desk" }

func (desk) EraseSubject(context.Context, domain.SubjectRef, domain.ErasureCall) (alreadyAbsent bool, err error) {
	return false, nil
}

// open opens a database with the settings that docs/several-servers.md recommends.
func open(database string) (*bun.DB, error) {
	config, err := pgxdriver.ParseConfig(database)
	if err != nil {
		return nil, err
	}
	recipe.LimitSilence(config)
	sqldb := stdlib.OpenDB(*config)
	sqldb.SetMaxOpenConns(connections)
	sqldb.SetMaxIdleConns(connections)
	sqldb.SetConnMaxIdleTime(time.Second)
	return bun.NewDB(sqldb, pgdialect.New()), nil
}

// playProcess runs the application until its standard input is closed. The application prints its address, serves
// requests and processes the outbox.
func playProcess(database string) error {
	db, err := open(database)
	if err != nil {
		return err
	}
	settings := app.Config{DB: db, Models: shop.Models, Resolvers: []ports.Resolver{desk{}}, PollInterval: pollInterval}
	settings.Saga.CallTimeout, settings.Saga.Lease = callTimeout, lease
	gdpr, err := app.New(settings)
	if err != nil {
		return err
	}
	config, err := pgxdriver.ParseConfig(database)
	if err != nil {
		return err
	}
	listener, err := pgxlisten.New(config, gdpr.Worker().Wake, pgxlisten.Options{})
	if err != nil {
		return err
	}
	go listener.Run(context.Background())
	server := fiber.New(fiber.Config{DisableStartupMessage: true})
	server.Route("/me", gdpr.Router(func(c *fiber.Ctx) (domain.Subject, error) {
		return domain.NewSubject(c.Get("X-Customer"), domain.SubjectRef{Kind: "desk", Value: "contact"})
	}))
	gdpr.Lifespan(server)
	address, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(address.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return server.Listener(address)
}

const (
	pollInterval   = 500 * time.Millisecond
	callTimeout    = 3 * time.Second
	lease          = 8 * time.Second  // after the lease, an unfinished call is repeated
	requestTimeout = 30 * time.Second // the default
)

// process is a client of a running process of the application.
type process struct {
	address string
	client  http.Client
	last    atomic.Int64 // the instant of the last successful request, in nanoseconds since 1970
	first   atomic.Int64 // the instant of the first successful request after first was set to 0, in nanoseconds since 1970
}

func startProcess(t testing.TB, database string) *process {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), databaseEnv+"="+database)
	command.Stderr = os.Stderr
	if !testing.Verbose() {
		command.Stderr = nil
	}
	alive, err := command.StdinPipe()
	must(t, err)
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	t.Cleanup(func() {
		_ = alive.Close()
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	must(t, err)
	return &process{address: strings.TrimSpace(line), client: http.Client{Timeout: requestTimeout + time.Second}}
}

// fill sends many concurrent requests, so that the process opens all of its database connections.
func (p *process) fill(ctx context.Context) {
	var work sync.WaitGroup
	for range 4 * connections {
		work.Go(func() { p.request(ctx, 1, http.MethodGet, "/me/consent/newsletter") })
	}
	work.Wait()
}

// request reports whether the process has responded with status 200.
func (p *process) request(ctx context.Context, customer int64, method, path string) bool {
	body := strings.NewReader(`{"purpose":"newsletter","policy_version":"1","granted":true}`)
	r, err := http.NewRequestWithContext(ctx, method, "http://"+p.address+path, body)
	if err != nil {
		return false
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Customer", strconv.FormatInt(customer, 10))
	response, err := p.client.Do(r)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	if err != nil || response.StatusCode != http.StatusOK {
		return false
	}
	now := time.Now().UnixNano()
	p.last.Store(now)
	p.first.CompareAndSwap(0, now)
	return true
}
