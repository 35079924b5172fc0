// Package fault checks the effects of failures while a subject is erased in an external system: the effects on the
// outbox entry, the audit trail, and the response to the next request of the subject.
package fault_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

func TestMain(m *testing.M) { postgres.Main(m) }

var must = fixture.Must

// world is a shop with a support desk. Its worker is not started. Instead, a test calls run for each batch of outbox
// entries.
type world struct {
	t      *testing.T
	db     *bun.DB
	clock  *fixture.Clock
	desk   *desktest.Desk
	server *httptest.Server // the HTTP server of the desk
	gdpr   *app.Integration
	shop   *fiber.App
}

const contact = "contact-7"

// newWorld returns a shop with one customer, who is a contact at the support desk. The last arguments are functions
// that may change the configuration of habeas.
func newWorld(t *testing.T, db *bun.DB, adjust ...func(*app.Config)) *world {
	t.Helper()
	w := &world{
		t: t, db: db, clock: fixture.NewClock(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)), desk: desktest.New("token"),
	}
	w.desk.Add(desktest.Contact{ID: contact, Email: "zoe@example.org"}, desktest.Conversation{ID: "515", State: "open"})
	w.server = httptest.NewServer(w.desk)
	t.Cleanup(w.server.Close)
	shop.Open(t, db, shop.Models)
	databases.Insert(t, db, &shop.Customer{ID: 7, Email: "zoe@example.org"})

	resolver, err := supportdesk.New("token", supportdesk.Options{BaseURL: w.server.URL, Timeout: 2 * time.Second})
	must(t, err)
	config := app.Config{DB: db, Models: shop.Models, Resolvers: []ports.Resolver{resolver}, Clock: w.clock}
	for _, change := range adjust {
		change(&config)
	}
	w.gdpr, err = app.New(config)
	must(t, err)
	w.shop = fiber.New()
	w.shop.Route("/me", w.gdpr.Router(func(*fiber.Ctx) (domain.Subject, error) {
		if len(config.Resolvers) == 0 {
			return domain.NewSubject("7")
		}
		return domain.NewSubject("7", domain.SubjectRef{Kind: config.Resolvers[0].Name(), Value: contact})
	}))
	return w
}

// send sends a request of the customer and decodes the body of the response. The status must be 200.
func (w *world) send(method, path string, into any) {
	w.t.Helper()
	response, err := w.shop.Test(httptest.NewRequest(method, path, nil), int(time.Minute.Milliseconds()))
	must(w.t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	must(w.t, err)
	if response.StatusCode != http.StatusOK {
		w.t.Fatalf("%s %s: %s %s", method, path, response.Status, body)
	}
	must(w.t, json.Unmarshal(body, into))
}

func (w *world) erase() {
	w.t.Helper()
	var result domain.ErasureResult
	w.send(http.MethodDelete, "/me", &result)
	if len(result.EnqueuedExternal) != 1 {
		w.t.Fatalf("enqueued %v", result.EnqueuedExternal)
	}
}

// run processes one batch of outbox entries. It returns the number of entries whose outcome it has stored.
func (w *world) run() (settled int, err error) {
	return w.gdpr.Stack().Runner.RunOnce(context.Background())
}

type row struct {
	Status    domain.OutboxStatus
	Attempts  int
	LastError *string
	Ref       *string
}

// entry returns the only outbox entry, which the erasure has added.
func (w *world) entry() row {
	w.t.Helper()
	var rows []row
	must(w.t, w.db.NewSelect().Table("habeas_outbox").Column("status", "attempts", "last_error", "ref").
		Scan(context.Background(), &rows))
	if len(rows) != 1 {
		w.t.Fatalf("%d entries", len(rows))
	}
	return rows[0]
}

// events returns the events that concern the external system, and the event that completes the erasure.
func (w *world) events() []domain.AuditEvent {
	w.t.Helper()
	subject := fixture.MustSubject(w.t, "7")
	var external []domain.AuditEvent
	must(w.t, w.gdpr.Sessions().Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		trail, err := s.Audit().Trail(ctx, subject.ID)
		external = nil
		for _, event := range trail {
			if event.Payload["external"] == true || event.EventType == domain.EventErasureCompleted {
				external = append(external, event)
			}
		}
		return err
	}))
	return external
}

// expect checks the status, the number of attempts and the class of the last error of the outbox entry. The class is ""
// if no error is expected. w.events must return n events. If an error is expected, the last event must describe this
// error.
func (w *world) expect(status domain.OutboxStatus, attempts int, class string, n int) {
	w.t.Helper()
	entry := w.entry()
	if entry.Status != status || entry.Attempts != attempts {
		w.t.Errorf("the entry is %s after %d attempts, want %s after %d", entry.Status, entry.Attempts, status, attempts)
	}
	if got := entry.LastError; class == "" && got != nil || class != "" && (got == nil || *got != class) {
		w.t.Errorf("the last error is not %q", class)
	}
	if hasRef := entry.Ref != nil; hasRef == (status == domain.OutboxSucceeded) {
		w.t.Errorf("%s, with a ref: %v", status, hasRef)
	}
	events := w.events()
	if len(events) != n {
		w.t.Fatalf("%d events: %v", len(events), events)
	}
	if class == "" || n == 0 {
		return
	}
	last := events[n-1]
	if last.EventType != domain.EventErasureStepFailed || last.Payload["error"] != class ||
		last.Payload["abandoned"] != (status == domain.OutboxAbandoned) || last.Payload["attempts"] != int64(attempts) {
		w.t.Errorf("the last event is %s %v", last.EventType, last.Payload)
	}
}

// expectCompletion checks that the erasure is complete after the given number of attempts, and that the method events
// returns n events.
func (w *world) expectCompletion(attempts, n int) {
	w.t.Helper()
	w.expect(domain.OutboxSucceeded, attempts, "", n)
	if events := w.events(); events[n-1].EventType != domain.EventErasureCompleted {
		w.t.Errorf("the last event is %s", events[n-1].EventType)
	}
}
