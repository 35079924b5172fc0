package embed_test

import (
	"context"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// listen serves the application on loopback until the test ends, and returns its address.
func listen(t testing.TB, server *fiber.App) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Listener(listener) }()
	t.Cleanup(func() {
		must(t, server.Shutdown())
		must(t, <-served)
	})
	return listener.Addr().String()
}

// newsletter is an external system. Each call blocks until it can receive from proceed.
type newsletter struct {
	ports.Resolver // no other method is called
	called         chan string
	proceed        chan struct{}
}

func newNewsletter() newsletter {
	return newsletter{called: make(chan string), proceed: make(chan struct{})}
}

func (newsletter) Name() string { return "newsletter" }

func (n newsletter) EraseSubject(_ context.Context, ref domain.SubjectRef, _ domain.ErasureCall) (bool, error) {
	n.called <- ref.Value
	<-n.proceed
	return false, nil
}

func TestTheWorkerSharesTheHostsLifespan(t *testing.T) {
	db := databases.SQLite(t)
	openShop(t, db)
	system := newNewsletter()
	gdpr := newIntegration(t, db, system)
	server := fiber.New(fiber.Config{DisableStartupMessage: true})
	var happened []string
	note := func(text string) { happened = append(happened, text) }
	completed := func() bool {
		return slices.Contains(trail(t, gdpr.Stack().Sessions, "1"), domain.EventErasureCompleted)
	}
	server.Hooks().OnListen(func(fiber.ListenData) error { note("the host listens"); return nil })
	server.Hooks().OnShutdown(func() error {
		note("the host shuts down")
		close(system.proceed)
		return nil
	})
	gdpr.Lifespan(server)
	server.Hooks().OnListen(func(fiber.ListenData) error { note("so does a later hook"); return nil })
	server.Hooks().OnShutdown(func() error {
		note("a later hook, too")
		if !completed() {
			t.Error("the worker was not waited for")
		}
		return nil
	})
	server.Route("/me", gdpr.Router(func(*fiber.Ctx) (domain.Subject, error) {
		return domain.NewSubject("1", domain.SubjectRef{Kind: "newsletter", Value: "subscriber 7"})
	}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Listener(listener) }()

	request, err := http.NewRequestWithContext(t.Context(), "DELETE", "http://"+listener.Addr().String()+"/me", nil)
	must(t, err)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	if got := read(t, response); got.StatusCode != 200 {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	if value := <-system.called; value != "subscriber 7" { // hangs if no worker runs
		t.Errorf("the newsletter was told to erase %q", value)
	}
	if completed() {
		t.Error("the erasure is complete while the newsletter is still at it")
	}

	// The server shuts down during the call of the external system. The shutdown waits until the worker has stored the
	// outcome of this call.
	must(t, server.ShutdownWithTimeout(time.Minute))
	must(t, <-served)
	want := []string{"the host listens", "so does a later hook", "the host shuts down", "a later hook, too"}
	if !slices.Equal(happened, want) {
		t.Errorf("happened: %q", happened)
	}

	// The worker has stopped, so the outbox entry of the next erasure stays pending.
	response, err = server.Test(newRequest("", "DELETE", "/me", ""), -1)
	must(t, err)
	if got := read(t, response); got.StatusCode != 200 {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	must(t, gdpr.Worker().Stop(time.Minute)) // returns immediately, because the worker is not running
	must(t, gdpr.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		counts, err := s.OutboxAdmin().Counts(ctx)
		if counts[domain.OutboxPending] != 1 || counts[domain.OutboxSucceeded] != 1 {
			t.Errorf("the outbox has %v", counts)
		}
		return err
	}))
}

// An application may start and stop the worker itself, without Lifespan.
func TestAHostMayRunTheWorkerItself(t *testing.T) {
	db := databases.SQLite(t)
	openShop(t, db)
	system := newNewsletter()
	close(system.proceed)
	gdpr := newIntegration(t, db, system)
	subject := fixture.MustSubject(t, "1", domain.SubjectRef{Kind: "newsletter", Value: "subscriber 7"})
	gdpr.Worker().Start()
	must(t, gdpr.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := gdpr.Stack().Eraser.Erase(ctx, s, subject)
		return err
	}))
	<-system.called
	must(t, gdpr.Worker().Stop(time.Minute))
	if !slices.Contains(trail(t, gdpr.Stack().Sessions, "1"), domain.EventErasureCompleted) {
		t.Error("the erasure is not complete")
	}
}
