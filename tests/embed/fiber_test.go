package embed_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/compress"
	"github.com/gofiber/fiber/v2/middleware/cors"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/gofiber/fiber/v2/middleware/requestid"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/shop"
)

var errHost = errors.New("the host's own failure")

// newHost returns a shop with habeas mounted at /me, and with the usual parts of a Fiber application: middleware, its
// own error handler, and other routes, such as /me/avatar.
func newHost(config fiber.Config, gdpr *app.Integration) *fiber.App {
	config.DisableStartupMessage = true
	config.ErrorHandler = func(c *fiber.Ctx, err error) error {
		status := http.StatusInternalServerError
		var known *fiber.Error
		if errors.As(err, &known) {
			status = known.Code
		}
		return c.Status(status).SendString("the host handles: " + err.Error())
	}
	server := fiber.New(config)
	server.Use(recover.New(), requestid.New(), compress.New(), cors.New(cors.Config{AllowOrigins: "https://shop.example"}))
	server.Use(authenticate)

	server.Get("/me/avatar", func(c *fiber.Ctx) error { return c.SendString("avatar") })
	server.Route("/me", gdpr.Router(currentSubject, app.WithRestriction()))
	server.Get("/me", func(c *fiber.Ctx) error { return c.SendString("profile") })
	server.Put("/me/consent", func(c *fiber.Ctx) error { return c.SendString("put") })
	server.Get("/broken", func(*fiber.Ctx) error { return errHost })
	server.Get("/panic", func(*fiber.Ctx) error { panic(errHost) })
	return server
}

// forEverySetting runs a test with each combination of the Fiber settings that change the parsing of requests.
func forEverySetting(t *testing.T, run func(t *testing.T, config fiber.Config)) {
	t.Helper()
	for bits := range 16 {
		config := fiber.Config{
			Immutable: bits&1 > 0, StrictRouting: bits&2 > 0, CaseSensitive: bits&4 > 0, UnescapePath: bits&8 > 0,
		}
		t.Run(fmt.Sprintf("immutable=%v strict=%v sensitive=%v unescape=%v", config.Immutable, config.StrictRouting,
			config.CaseSensitive, config.UnescapePath), func(t *testing.T) { run(t, config) })
	}
}

func TestAFiberHostServesEveryRightUnderAllItsSettings(t *testing.T) {
	forEverySetting(t, func(t *testing.T, config fiber.Config) {
		db := databases.SQLite(t)
		openShop(t, db)
		gdpr := newIntegration(t, db)
		server := newHost(config, gdpr)
		for _, step := range []struct{ method, target, body, want string }{
			{"POST", "/me/consent", decision("a b/c+d"), `"granted":true`},
			{"GET", "/me/consent/a%20b%2Fc+d", "", `"granted":true`},
			{"POST", "/me/restriction", `{"restricted":true,"purpose":"ads"}`, `"restricted":true`},
			{"GET", "/me/restriction?purpose=ads", "", `"scope":"purpose"`},
			{"GET", "/me/export", "", `c1@example.org`},
			{"DELETE", "/me", "", `"deleted":{"parcels":1}`},
			{"DELETE", "/me/", "", `"deleted":{"parcels":0}`},
		} {
			got := send(t, server, newRequest("1", step.method, step.target, step.body))
			if got.StatusCode != http.StatusOK || !strings.Contains(got.body, step.want) {
				t.Errorf("%s %s: %d %s", step.method, step.target, got.StatusCode, got.body)
			}
			if got.Header.Get("X-Request-Id") == "" || got.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s: %v", step.method, step.target, got.Header)
			}
		}
		if left := emails(t, db); !strings.HasPrefix(left[0], "anon-") || left[1] != "c2@example.org" {
			t.Errorf("the customers are %q", left)
		}
	})
}

func TestHabeasOnlyServesPathsBelowItsPrefix(t *testing.T) {
	forEverySetting(t, func(t *testing.T, config fiber.Config) {
		db := databases.SQLite(t)
		openShop(t, db)
		server := newHost(config, newIntegration(t, db))
		for target, want := range map[string]string{
			"GET /me":             "200 profile",
			"GET /me/avatar":      "200 avatar",
			"PUT /me/consent":     "200 put",
			"GET /broken":         "500 the host handles: " + errHost.Error(),
			"GET /panic":          "500 the host handles: " + errHost.Error(),
			"GET /unknown":        "404 the host handles: Cannot GET /unknown",
			"GET /mellow":         "404 the host handles: Cannot GET /mellow",
			"POST /broken":        "405 the host handles: Method Not Allowed",
			"DELETE /me/avatar/7": "404 problem",
			"GET /me/unknown":     "404 problem",
			"PATCH /me":           "405 problem",
		} {
			method, path, _ := strings.Cut(target, " ")
			got := send(t, server, newRequest("1", method, path, ""))
			if got.isProblem() {
				got.body = "problem"
			}
			if response := fmt.Sprint(got.StatusCode, " ", got.body); response != want {
				t.Errorf("%s: %s, want %s", target, response, want)
			}
		}
	})
}

// The error handler of the host must not receive errors of habeas, because it may log their text.
func TestTheHostsErrorHandlerSeesNoErrorOfHabeas(t *testing.T) {
	db := databases.SQLite(t)
	openShop(t, db)
	gdpr := newIntegration(t, db)
	server := newHost(fiber.Config{}, gdpr)
	check := func(customer, method, target, body string, want int) {
		t.Helper()
		got := send(t, server, newRequest(customer, method, target, body))
		if got.StatusCode != want || !got.isProblem() || got.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s %s: %d %s, want a problem document with %d", method, target, got.StatusCode, got.body, want)
		}
	}
	check("", "GET", "/me/export", "", http.StatusUnauthorized)
	check("1", "POST", "/me/consent", "{", http.StatusBadRequest)
	check("1", "POST", "/me/consent", "{}", http.StatusUnprocessableEntity)
	check("1", "POST", "/me/consent", strings.Repeat(" ", 65<<10), http.StatusRequestEntityTooLarge)
	must(t, db.Close())
	check("1", "GET", "/me/export", "", http.StatusInternalServerError)
}

// The subject provider is code of the host. If it panics, the router recovers. The host needs no recover middleware.
func TestAPanicOfTheSubjectProviderIsRecoveredByTheRouter(t *testing.T) {
	db := databases.SQLite(t)
	openShop(t, db)
	gdpr := newIntegration(t, db)
	server := fiber.New()
	server.Use(recover.New(recover.Config{EnableStackTrace: true, StackTraceHandler: func(*fiber.Ctx, any) {
		t.Error("the host had to recover")
	}}))
	server.Route("/me", gdpr.Router(func(*fiber.Ctx) (domain.Subject, error) { panic(errHost) }))
	if got := send(t, server, newRequest("1", "GET", "/me/export", "")); got.StatusCode != 500 || !got.isProblem() {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

func TestTheHostsCompressionAppliesToExports(t *testing.T) {
	db := databases.SQLite(t)
	openShop(t, db)
	shop.AddParcels(t, db, 1, 50) // Fiber does not compress short bodies
	server := newHost(fiber.Config{}, newIntegration(t, db))
	request := newRequest("1", "GET", "/me/export", "")
	request.Header.Set("Accept-Encoding", "gzip")
	got := send(t, server, request)
	if got.Header.Get("Content-Encoding") != "gzip" || got.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", got.StatusCode, got.Header)
	}
	reader, err := gzip.NewReader(strings.NewReader(got.body))
	must(t, err)
	text, err := io.ReadAll(reader)
	must(t, err)
	if bundle := decode[domain.ExportBundle](t, string(text)); len(bundle.Records) != 52 {
		t.Errorf("%d records", len(bundle.Records))
	}
}

func TestTheHostsCORSHandlesPreflightsAndMarksResponses(t *testing.T) {
	db := databases.SQLite(t)
	openShop(t, db)
	server := newHost(fiber.Config{}, newIntegration(t, db))
	preflight := newRequest("", "OPTIONS", "/me", "")
	preflight.Header.Set("Origin", "https://shop.example")
	preflight.Header.Set("Access-Control-Request-Method", "DELETE")
	got := send(t, server, preflight)
	if got.StatusCode != 204 || !strings.Contains(got.Header.Get("Access-Control-Allow-Methods"), "DELETE") {
		t.Errorf("the preflight got %d %v", got.StatusCode, got.Header)
	}
	request := newRequest("1", "DELETE", "/me", "")
	request.Header.Set("Origin", "https://shop.example")
	got = send(t, server, request)
	if got.StatusCode != 200 || got.Header.Get("Access-Control-Allow-Origin") != "https://shop.example" {
		t.Errorf("the request got %d %v", got.StatusCode, got.Header)
	}
}
