package app_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/health"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/observed"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

// probe requests a path from a net/http handler and from a Fiber router. It fails if their statuses differ.
func probe(t *testing.T, gdpr *app.Integration, path string) int {
	t.Helper()
	mux := http.NewServeMux()
	gdpr.MountHealth(mux, "/health/")
	server := fiber.New()
	server.Route("/health", gdpr.HealthRouter())
	statuses := map[string]int{
		"mux":     send(t, mux, "GET", "/health"+path).Code,
		"handler": send(t, gdpr.HealthHandler("/health"), "GET", "/health"+path).Code,
	}
	response, err := server.Test(httptest.NewRequest("GET", "/health"+path, nil), -1)
	must(t, err)
	must(t, response.Body.Close())
	for router, status := range statuses {
		if status != response.StatusCode {
			t.Errorf("%s: %d of the %s, and %d of Fiber", path, status, router, response.StatusCode)
		}
	}
	return response.StatusCode
}

// wantHealth checks the results of Health and of the probes.
func wantHealth(t *testing.T, gdpr *app.Integration, ready, degraded bool, failed ...health.CheckName) {
	t.Helper()
	state := gdpr.Health(t.Context())
	if state.Ready != ready || state.Degraded != degraded {
		t.Errorf("ready %v, degraded %v: %v", state.Ready, state.Degraded, state.Checks)
	}
	for _, name := range failed {
		if state.Status(name) != health.CheckFailed {
			t.Errorf("%s is %s", name, state.Status(name))
		}
	}
	status := http.StatusServiceUnavailable
	if ready {
		status = http.StatusOK
	}
	if got := probe(t, gdpr, "/ready"); got != status {
		t.Errorf("GET /ready has the status %d", got)
	}
	if got := probe(t, gdpr, "/live"); got != http.StatusOK {
		t.Errorf("GET /live has the status %d", got)
	}
}

func TestAProcessIsReadyOnceItsMigrationsAreApplied(t *testing.T) {
	db := databases.SQLite(t)
	gdpr, err := app.New(app.Config{DB: db, Models: models, Health: health.Options{Timeout: time.Minute}})
	must(t, err)
	wantHealth(t, gdpr, false, false, health.CheckMigrations)
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	wantHealth(t, gdpr, true, false)
	must(t, db.Close())
	wantHealth(t, gdpr, false, false, health.CheckDatabase)
}

// shiftedClock is the clock of the machine plus a duration that a test sets.
type shiftedClock struct{ by atomic.Int64 }

func (l *shiftedClock) Now() time.Time { return time.Now().Add(time.Duration(l.by.Load())) }

func (l *shiftedClock) pass(d time.Duration) { l.by.Add(int64(d)) }

func TestASilentWorkerIsNotReadyAndALateEntryIs(t *testing.T) {
	db := databases.SQLite(t)
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	clock, recorder := &shiftedClock{}, newSignals()
	gdpr, err := app.New(app.Config{
		DB: db, Models: models, Clock: clock, PollInterval: time.Hour, Workers: 1, Resolvers: []ports.Resolver{archive{}},
		Health: health.Options{Polls: 2, Timeout: time.Minute}, Options: stack.Options{Observer: recorder},
	})
	must(t, err)
	wantHealth(t, gdpr, true, true, health.CheckWorkers) // no worker has ever run
	id := fixture.MustID(t, "1")
	must(t, gdpr.Sessions().Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		return s.Outbox().Enqueue(ctx, domain.OutboxEntry{
			EntryID: "1", SubjectID: id, Resolver: "another process", Ref: domain.SubjectRef{Kind: "x", Value: "y"},
			Operation: domain.OperationErase, Status: domain.OutboxPending, EnqueuedAt: clock.Now(),
		})
	}))
	clock.pass(24 * time.Hour)
	wantHealth(t, gdpr, true, true, health.CheckLate) // the worker runs in another process

	gdpr.Worker().Start()
	defer func() { must(t, gdpr.Worker().Stop(time.Minute)) }()
	<-recorder.polls
	wantHealth(t, gdpr, true, true)
	clock.pass(3 * time.Hour)
	wantHealth(t, gdpr, false, true, health.CheckWorker)
}

func TestProbesHaveNoOtherPaths(t *testing.T) {
	gdpr, _ := newIntegration(t)
	for _, path := range []string{"", "/", "/livex", "/live/zoe", "/zoe@example.org"} {
		if status := probe(t, gdpr, path); status != http.StatusNotFound {
			t.Errorf("%q: %d", path, status)
		}
	}
	mux := http.NewServeMux()
	gdpr.MountHealth(mux, "")
	response := send(t, mux, "POST", "/ready")
	if response.Code != http.StatusMethodNotAllowed || send(t, mux, "GET", "/live").Code != http.StatusOK {
		t.Errorf("POST /ready has the status %d", response.Code)
	}
}

func TestAnIntegrationPassesItsObserverOn(t *testing.T) {
	db := databases.SQLite(t)
	shop.Open(t, db, models)
	recorder := newSignals()
	gdpr, err := app.New(app.Config{
		DB: db, Models: models, PollInterval: time.Hour, Workers: 1, Options: stack.Options{Observer: recorder},
	})
	must(t, err)
	send(t, gdpr.Handler("/me", asOne), "DELETE", "/me")
	recorder.Want(t, "request DELETE / > session: ok", "erasure: ok", "request DELETE /: ok 200")
	gdpr.Worker().Start()
	<-recorder.outbox
	<-recorder.polls
	must(t, gdpr.Worker().Stop(time.Minute))
}

// signals is an observer that records observations. It also sends a signal for each observation of the outbox and for
// each poll of the worker.
type signals struct {
	observed.Recorder
	outbox, polls chan struct{}
}

func newSignals() *signals {
	return &signals{outbox: make(chan struct{}, 10), polls: make(chan struct{}, 10)}
}

func (s *signals) Observe(ctx context.Context, o observation.Observation) {
	s.Recorder.Observe(ctx, o)
	switch o.(type) {
	case observation.OutboxObserved:
		s.outbox <- struct{}{}
	case observation.PollObserved:
		s.polls <- struct{}{}
	}
}
