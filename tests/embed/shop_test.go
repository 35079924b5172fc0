// Package embed_test adds habeas to existing applications. These host applications have their own middleware, settings,
// routes and transactions. The tests check that habeas and the host do not disturb each other.
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
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

func TestMain(m *testing.M) { postgres.Main(m) }

// openShop creates the tables in an empty database, and inserts the customers 1 and 2. Each customer has one parcel.
func openShop(t testing.TB, db *bun.DB) {
	t.Helper()
	shop.Open(t, db, shop.Models)
	shop.AddCustomers(t, db, 2, 1)
}

func newIntegration(t testing.TB, db *bun.DB, external ...ports.Resolver) *app.Integration {
	t.Helper()
	gdpr, err := app.New(app.Config{
		DB: db, Models: shop.Models, Resolvers: external,
		PollInterval: time.Hour, // so that only notifications wake the worker
		Logger:       slog.New(slog.DiscardHandler),
	})
	must(t, err)
	return gdpr
}

// authenticate is a middleware of the host. It takes the customer's id from a header, without a check. In a real
// application, any client could forge this header.
func authenticate(c *fiber.Ctx) error {
	if id, err := strconv.ParseInt(c.Get("X-Customer"), 10, 64); err == nil {
		c.Locals("customer", &shop.Customer{ID: id})
	}
	return c.Next()
}

// currentSubject returns the customer that the middleware of the host has authenticated.
func currentSubject(c *fiber.Ctx) (domain.Subject, error) {
	customer, ok := c.Locals("customer").(*shop.Customer)
	if !ok {
		return domain.Subject{}, fiber.ErrUnauthorized
	}
	return domain.NewSubject(strconv.FormatInt(customer.ID, 10))
}

// granted reports whether a consent is in force. Like a background job of a host, it calls the service and sends no
// request.
func granted(t testing.TB, gdpr *app.Integration, customer, purpose string) bool {
	t.Helper()
	id := fixture.MustID(t, customer)
	var status domain.ConsentStatus
	must(t, gdpr.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
		status, err = gdpr.Stack().Consent.Status(ctx, s, id, purpose)
		return err
	}))
	return status.Granted
}

// trail returns the types of the events on a customer's audit trail.
func trail(t testing.TB, sessions ports.SessionFactory, customer string) []domain.EventType {
	t.Helper()
	return fixture.TrailTypes(t, sessions, fixture.MustID(t, customer))
}

// emails returns the email addresses of the customers, ordered by the ids of the customers.
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

type received struct {
	*http.Response
	body string
}

// isProblem reports whether the response is a problem document, which only habeas creates.
func (r received) isProblem() bool { return r.Header.Get("Content-Type") == "application/problem+json" }

// newRequest returns a request of a customer. The content type of a body is JSON.
func newRequest(customer, method, target, body string) *http.Request {
	request := httptest.NewRequest(method, target, strings.NewReader(body))
	request.Header.Set("X-Customer", customer)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	return request
}

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

// decision is the body of a request that grants the consent for a purpose.
func decision(purpose string) string {
	return `{"granted":true,"policy_version":"v1","purpose":"` + purpose + `"}`
}

var must = fixture.Must
