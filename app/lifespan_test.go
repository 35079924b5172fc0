package app_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
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
