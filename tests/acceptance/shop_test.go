// Package acceptance tests habeas through the router of an application, on both databases.
package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/internal/tests/shop"
)

func TestMain(m *testing.M) { postgres.Main(m) }

// host is an application with habeas mounted at /me. The header X-Customer of a request names its subject. In a real
// application, any client could forge this header.
type host struct {
	t      testing.TB
	db     *bun.DB
	gdpr   *app.Integration
	server *fiber.App
	hook   *transactions
}

func newHost(t testing.TB, db *bun.DB, customers int) *host {
	t.Helper()
	hook := &transactions{}
	db = databases.WithHook(db, hook)
	shop.Open(t, db, shop.Models)
	shop.AddCustomers(t, db, customers, 3)
	gdpr, err := app.New(app.Config{DB: db, Models: shop.Models})
	must(t, err)
	server := fiber.New(fiber.Config{DisableStartupMessage: true})
	server.Route("/me", gdpr.Router(subject, app.WithRestriction()))
	return &host{t, db, gdpr, server, hook}
}

func subject(c *fiber.Ctx) (domain.Subject, error) {
	id := c.Get("X-Customer")
	if id == "" {
		return domain.Subject{}, fiber.ErrUnauthorized
	}
	return domain.NewSubject(id)
}

// send sends a request of a customer. It returns the status and the body of the response.
func (s *host) send(customer, method, path, body string) (int, string) {
	s.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	request := httptest.NewRequest(method, path, reader)
	request.Header.Set("X-Customer", customer)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := s.server.Test(request, int(time.Minute.Milliseconds()))
	must(s.t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	must(s.t, err)
	return response.StatusCode, string(text)
}

// get sends a GET request of a customer and decodes the body of the response. The status must be 200.
func (s *host) get(customer, path string, into any) {
	s.t.Helper()
	status, body := s.send(customer, http.MethodGet, path, "")
	if status != http.StatusOK {
		s.t.Fatalf("GET %s: %d %s", path, status, body)
	}
	must(s.t, json.NewDecoder(bytes.NewReader([]byte(body))).Decode(into))
}

// rows returns the total number of rows in all tables of habeas.
func (s *host) rows() int {
	s.t.Helper()
	total := 0
	for _, table := range []string{
		"habeas_consent_records", "habeas_restriction_records", "habeas_audit_events", "habeas_outbox",
		"habeas_subject_erasures",
	} {
		var n int
		must(s.t, s.db.NewSelect().Table(table).ColumnExpr("count(*)").Scan(context.Background(), &n))
		total += n
	}
	return total
}

var must = fixture.Must

// transactions is a query hook that counts all statements, and separately the statements BEGIN.
type transactions struct {
	mu                 sync.Mutex
	begins, statements int
}

func (h *transactions) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context {
	return ctx
}

func (h *transactions) AfterQuery(_ context.Context, event *bun.QueryEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.statements++
	if strings.HasPrefix(event.Query, "BEGIN") {
		h.begins++
	}
}

// during returns the numbers of transactions and statements that fn executes.
func (h *transactions) during(fn func()) (begins, statements int) {
	h.mu.Lock()
	h.begins, h.statements = 0, 0
	h.mu.Unlock()
	fn()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.begins, h.statements
}
