package app_test

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/health"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

// archive is an external system that reports which ids (refs) it was called to erase.
type archive struct {
	ports.Resolver
	erased chan string
}

func (archive) Name() string { return "archive" }

func (a archive) EraseSubject(_ context.Context, ref domain.SubjectRef, _ domain.ErasureCall) (bool, error) {
	a.erased <- ref.Value
	if ref.Value == "refused" {
		return false, &domain.ResolverError{Resolver: "archive", Message: "refuses"}
	}
	return false, nil
}

func TestTheWorkerRunsWithTheServerAndAnErasureWakesIt(t *testing.T) {
	db := databases.SQLite(t)
	shop.Open(t, db, models)
	system := archive{erased: make(chan string)}
	abandoned := make(chan domain.OutboxEntry, 1)
	gdpr, err := app.New(app.Config{
		DB: db, Models: models, Resolvers: []ports.Resolver{system}, PollInterval: time.Hour,
		OnAbandoned: func(_ context.Context, entry domain.OutboxEntry) { abandoned <- entry },
	})
	must(t, err)
	server := fiber.New(fiber.Config{DisableStartupMessage: true})
	gdpr.Lifespan(server)
	server.Route("/me", gdpr.Router(func(c *fiber.Ctx) (domain.Subject, error) {
		return domain.NewSubject("1", domain.SubjectRef{Kind: "archive", Value: c.Get("X-Ref")})
	}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Listener(listener) }()

	for _, ref := range []string{"first", "refused"} {
		erase(t, listener.Addr().String(), ref)
		if got := <-system.erased; got != ref { // hangs if the commit does not wake the worker
			t.Errorf("erased %q, not %q", got, ref)
		}
	}
	if entry := <-abandoned; entry.Ref.Value != "refused" {
		t.Errorf("abandoned %q", entry.Ref.Value)
	}
	must(t, server.Shutdown())
	must(t, <-served)
	must(t, gdpr.Worker().Stop(time.Minute))
}

func TestTheWorkerFollowsTheApplicationThatMountsItsServer(t *testing.T) {
	gdpr, _ := newIntegration(t)
	quiet := fiber.Config{DisableStartupMessage: true}
	root, middle, server := fiber.New(quiet), fiber.New(quiet), fiber.New(quiet)
	gdpr.Lifespan(server)
	middle.Group("/v1").Mount("/gdpr", server)
	root.Mount("/api", middle)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- root.Listener(listener) }()
	beats := func() bool {
		_, running := gdpr.Worker().Heartbeat()
		return running
	}
	eventually(t, beats)
	must(t, root.Shutdown())
	must(t, <-served)
	if beats() {
		t.Error("the worker still runs after the shutdown")
	}
}

func TestAWorkerThatNeverRanDegradesAnApplicationThatNeedsOne(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*app.Config)
		needed bool
	}{
		"nothing to do":      {func(*app.Config) {}, false},
		"a sweep":            {func(c *app.Config) { c.SweepInterval = time.Hour }, true},
		"an external system": {func(c *app.Config) { c.Resolvers = []ports.Resolver{archive{}} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				shop.Open(t, db, models)
				config := app.Config{DB: db, Models: models}
				c.change(&config)
				expect := func(when string, missing bool) {
					t.Helper()
					gdpr, err := app.New(config) // another process
					must(t, err)
					state := gdpr.Health(t.Context())
					status, err := gdpr.Operator().Status(t.Context())
					must(t, err)
					reported := slices.ContainsFunc(status.Findings, func(f datamap.Finding) bool {
						return f.Code == "worker-late" && strings.Contains(f.Reason, "has never run in any process")
					})
					failed := state.Status(health.CheckWorkers) == health.CheckFailed
					if !state.Ready || failed != missing || reported != missing || missing && !state.Degraded {
						t.Errorf("%s: %+v, %+v", when, state, status.Findings)
					}
				}
				expect("at first", c.needed)
				gdpr, err := app.New(config)
				must(t, err)
				gdpr.Worker().Start()
				other, err := app.New(config) // knows only what the worker has stored
				must(t, err)
				eventually(t, func() bool {
					status, err := other.Operator().Status(t.Context())
					return err == nil && len(status.Duties) > 0 && status.Duties[0].Began != nil
				})
				must(t, gdpr.Worker().Stop(time.Minute))
				expect("after a worker", false)
			})
		})
	}
}

func erase(t *testing.T, address, ref string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "http://"+address+"/me", nil)
	must(t, err)
	request.Header.Set("X-Ref", ref)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	must(t, response.Body.Close())
	if response.StatusCode != http.StatusOK {
		t.Fatal(response.Status)
	}
}
