package stacks

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cache"
	"github.com/gofiber/fiber/v2/middleware/etag"
	"github.com/gofiber/fiber/v2/middleware/idempotency"
	"github.com/gofiber/fiber/v2/middleware/requestid"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/shop"
)

func currentSubject(c *fiber.Ctx) (domain.Subject, error) {
	return domain.NewSubject(c.Get("X-User")) // trusts a header: use your authentication instead
}

// openShop returns a database with two customers.
func openShop(t *testing.T) *bun.DB {
	t.Helper()
	db := databases.SQLite(t)
	shop.Open(t, db, shop.Models)
	shop.AddCustomers(t, db, 2, 1)
	return db
}

func newShopIntegration(t *testing.T, db *bun.DB, log slog.Handler) *app.Integration {
	t.Helper()
	gdpr, err := app.New(app.Config{DB: db, Models: shop.Models, Logger: slog.New(log)})
	fixture.Must(t, err)
	return gdpr
}

func requestOf(customer, method, target string) *http.Request {
	request := httptest.NewRequest(method, target, nil)
	request.Header.Set("X-User", customer)
	return request
}

type received struct {
	*http.Response
	text string
}

func send(t *testing.T, server *fiber.App, request *http.Request) received {
	t.Helper()
	response, err := server.Test(request, -1)
	fixture.Must(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	fixture.Must(t, err)
	return received{response, string(text)}
}

// newStoringHost returns a host with middleware that stores responses, behind the routes of habeas and before those of
// a single-page frontend.
func newStoringHost(gdpr *app.Integration) *fiber.App {
	server := fiber.New(fiber.Config{DisableStartupMessage: true})
	server.Route("/me/privacy", gdpr.Router(currentSubject)) // before all that stores responses
	server.Use(idempotency.New(), cache.New(), etag.New())
	server.Get("/*", func(c *fiber.Ctx) error { return c.SendString("the frontend") })
	return server
}

// The middleware knows no people: a key or a path that two people send would give one of them the other's response.
func TestMiddlewareThatStoresResponsesMixesUpNobody(t *testing.T) {
	db := openShop(t)
	server := newStoringHost(newShopIntegration(t, db, slog.DiscardHandler))
	for _, method := range []string{"GET /me/privacy/export", "DELETE /me/privacy"} {
		method, target, _ := strings.Cut(method, " ")
		for _, customer := range []string{"1", "2"} {
			request := requestOf(customer, method, target)
			request.Header.Set("X-Idempotency-Key", "6ba7b810-9dad-11d1-80b4-00c04fd430c8")
			got := send(t, server, request)
			if got.StatusCode != http.StatusOK || !strings.Contains(got.text, `"subject_id":"`+customer+`"`) {
				t.Errorf("%s of customer %s: %d %s", method, customer, got.StatusCode, got.text)
			}
		}
	}
	if got := send(t, server, requestOf("1", "GET", "/somewhere")); got.text != "the frontend" {
		t.Errorf("the frontend is %d %s", got.StatusCode, got.text)
	}
}

// In the other order, it does. This fact is the reason for the page.
func TestFactMiddlewareBeforeTheRoutesMixesPeopleUp(t *testing.T) {
	db := openShop(t)
	server := fiber.New(fiber.Config{DisableStartupMessage: true})
	server.Use(cache.New())
	server.Route("/me/privacy", newShopIntegration(t, db, slog.DiscardHandler).Router(currentSubject))
	send(t, server, requestOf("1", "GET", "/me/privacy/export"))
	if got := send(t, server, requestOf("2", "GET", "/me/privacy/export")); !strings.Contains(got.text, "c1@") {
		t.Skip("Fiber's cache looks at Cache-Control now: the page can say so")
	}
}

// requestKey is the key of the context value with the id of a request.
type requestKey struct{}

// withRequestID lets the records of habeas, which log with the context of the request, find the id of the request.
func withRequestID(c *fiber.Ctx) error {
	id := strings.Clone(c.GetRespHeader(fiber.HeaderXRequestID))
	c.SetUserContext(context.WithValue(c.UserContext(), requestKey{}, id))
	return c.Next()
}

// requestIDs adds the id of the request to each record.
type requestIDs struct{ slog.Handler }

func (h requestIDs) Handle(ctx context.Context, record slog.Record) error {
	if id, ok := ctx.Value(requestKey{}).(string); ok {
		record.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, record)
}

func TestRecordsOfHabeasHaveTheIDOfTheRequest(t *testing.T) {
	db := openShop(t)
	log := &fixture.Log{}
	gdpr := newShopIntegration(t, db, requestIDs{slog.NewJSONHandler(log, nil)})
	server := fiber.New(fiber.Config{DisableStartupMessage: true})
	server.Use(requestid.New(), withRequestID)
	server.Route("/me", gdpr.Router(currentSubject))
	databases.Execute(t, db, "DROP TABLE habeas_audit_events")
	got := send(t, server, requestOf("1", "DELETE", "/me"))
	id := got.Header.Get("X-Request-Id")
	if got.StatusCode != http.StatusInternalServerError || id == "" || !strings.Contains(log.String(), id) {
		t.Errorf("%d %s with the log\n%s", got.StatusCode, id, log)
	}
}

// merge adds the routes of habeas to the OpenAPI document of the host. The security scheme is one of the host's.
func merge(host, habeas []byte, scheme string) ([]byte, error) {
	var into, from map[string]any
	if err := errors.Join(json.Unmarshal(host, &into), json.Unmarshal(habeas, &from)); err != nil {
		return nil, err
	}
	for _, path := range from["paths"].(map[string]any) {
		for _, operation := range path.(map[string]any) {
			if operation, ok := operation.(map[string]any); ok {
				operation["security"] = []any{map[string]any{scheme: []any{}}}
			}
		}
	}
	add(into, from)
	return json.Marshal(into)
}

// add copies the members of an object, with those of its objects, except members that into has.
func add(into, from map[string]any) {
	for name, value := range from {
		own, isObject := into[name].(map[string]any)
		further, isToo := value.(map[string]any)
		switch {
		case isObject && isToo:
			add(own, further)
		case into[name] == nil:
			into[name] = value
		}
	}
}

func TestTheRoutesOfHabeasAreMergedIntoTheDocumentOfTheHost(t *testing.T) {
	db := openShop(t)
	gdpr := newShopIntegration(t, db, slog.DiscardHandler)
	newStoringHost(gdpr)
	own, err := gdpr.OpenAPI("/me/privacy")
	fixture.Must(t, err)
	merged, err := merge([]byte(`{"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "paths": {"/orders": {}},
		"components": {"securitySchemes": {"session": {"type": "apiKey", "in": "cookie", "name": "sid"}}}}`), own, "session")
	fixture.Must(t, err)
	var document struct {
		Paths map[string]map[string]struct {
			Security []map[string][]string `json:"security"`
		} `json:"paths"`
		Components struct {
			Schemas         map[string]any `json:"schemas"`
			SecuritySchemes map[string]any `json:"securitySchemes"`
		} `json:"components"`
	}
	fixture.Must(t, json.Unmarshal(merged, &document))
	if _, ok := document.Paths["/orders"]; !ok || len(document.Components.Schemas) == 0 ||
		len(document.Components.SecuritySchemes) != 1 {
		t.Errorf("the document is %s", merged)
	}
	if security := document.Paths["/me/privacy/export"]["get"].Security; len(security) != 1 ||
		security[0]["session"] == nil {
		t.Errorf("the export has the security %v in %s", security, merged)
	}
}
