// Package embed_test adds habeas to existing applications with their own middleware, settings, routes and transactions.
// Each test is a host application. The tests check that habeas and the host do not disturb each other.
package embed_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/internal/shop"
)

func TestMain(m *testing.M) { postgres.Main(m) }

// openShop creates the tables in an empty database, and the customers 1 and 2 with a parcel each.
func openShop(t testing.TB, db *bun.DB) {
	t.Helper()
	shop.Open(t, db, shop.Models)
	shop.AddCustomers(t, db, 2, 1)
}

func newIntegration(t testing.TB, db *bun.DB, external ...ports.Resolver) *app.Integration {
	t.Helper()
	gdpr, err := app.New(app.Config{
		DB: db, Models: shop.Models, Resolvers: external,
		PollInterval: time.Hour, // a worker without notifications does nothing
		Logger:       slog.New(slog.DiscardHandler),
	})
	must(t, err)
	return gdpr
}

// authenticate is a middleware of the host that authenticates a request. Only a test may trust a header.
func authenticate(c *fiber.Ctx) error {
	if id, err := strconv.ParseInt(c.Get("X-Customer"), 10, 64); err == nil {
		c.Locals("customer", &shop.Customer{ID: id})
	}
	return c.Next()
}

// currentSubject returns the customer that the host has authenticated. habeas needs nothing else.
func currentSubject(c *fiber.Ctx) (domain.Subject, error) {
	customer, ok := c.Locals("customer").(*shop.Customer)
	if !ok {
		return domain.Subject{}, fiber.ErrUnauthorized
	}
	return domain.NewSubject(strconv.FormatInt(customer.ID, 10))
}

// granted queries a consent outside of requests, as a host does.
func granted(t testing.TB, gdpr *app.Integration, customer, purpose string) bool {
	t.Helper()
	id, err := domain.NewSubjectID(customer)
	must(t, err)
	var status domain.ConsentStatus
	must(t, gdpr.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
		status, err = gdpr.Stack().Consent.Status(ctx, s, id, purpose)
		return err
	}))
	return status.Granted
}

// trail returns the types of a customer's audit events.
func trail(t testing.TB, sessions ports.SessionFactory, customer string) []domain.EventType {
	t.Helper()
	id, err := domain.NewSubjectID(customer)
	must(t, err)
	var types []domain.EventType
	must(t, sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		types = nil
		events, err := s.Audit().Trail(ctx, id)
		for _, event := range events {
			types = append(types, event.EventType)
		}
		return err
	}))
	return types
}

// emails returns the customers' email addresses, by id.
func emails(t testing.TB, db bun.IDB) (emails []string) {
	t.Helper()
	must(t, db.NewSelect().Model((*shop.Customer)(nil)).Column("email").Order("id").Scan(t.Context(), &emails))
	return emails
}

func count(t testing.TB, db bun.IDB, table string) (n int) {
	t.Helper()
	must(t, db.NewSelect().Table(table).ColumnExpr("count(*)").Scan(t.Context(), &n))
	return n
}

// received is a response whose body has been read.
type received struct {
	*http.Response
	body string
}

// isProblem reports whether habeas, and not the host, has created the response.
func (r received) isProblem() bool { return r.Header.Get("Content-Type") == "application/problem+json" }

// newRequest returns a request of a customer. A body is sent as JSON.
func newRequest(customer, method, target, body string) *http.Request {
	request := httptest.NewRequest(method, target, strings.NewReader(body))
	request.Header.Set("X-Customer", customer)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	return request
}

// send returns the response of a Fiber application to a request.
func send(t testing.TB, server *fiber.App, request *http.Request) received {
	t.Helper()
	response, err := server.Test(request, -1)
	must(t, err)
	return read(t, response)
}

func read(t testing.TB, response *http.Response) received {
	t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	return received{response, string(body)}
}

func decode[T any](t testing.TB, body string) (value T) {
	t.Helper()
	must(t, json.Unmarshal([]byte(body), &value))
	return value
}

// decision is the body of a grant.
func decision(purpose string) string {
	return `{"granted":true,"policy_version":"v1","purpose":"` + purpose + `"}`
}

var must = shop.Must
