package embed_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestEveryWayToMountARouter(t *testing.T) {
	for way, mount := range map[string]func(server *fiber.App, router func(fiber.Router)) (prefix string){
		"Route": func(server *fiber.App, router func(fiber.Router)) string {
			server.Route("/me", router)
			return "/me"
		},
		"a group with a middleware of its own": func(server *fiber.App, router func(fiber.Router)) string {
			router(server.Group("/me", func(c *fiber.Ctx) error {
				c.Set("X-Group", "passed")
				return c.Next()
			}))
			return "/me"
		},
		"Route in groups": func(server *fiber.App, router func(fiber.Router)) string {
			server.Group("/api").Group("/v1").Route("/me", router)
			return "/api/v1/me"
		},
		"a mounted application": func(server *fiber.App, router func(fiber.Router)) string {
			privacy := fiber.New()
			privacy.Route("/me", router)
			server.Mount("/privacy", privacy)
			return "/privacy/me"
		},
		"an application mounted in one that is mounted": func(server *fiber.App, router func(fiber.Router)) string {
			inner, outer := fiber.New(), fiber.New()
			router(inner.Group("/rights"))
			outer.Mount("/me", inner)
			server.Group("/api").Mount("/v1", outer)
			return "/api/v1/me/rights"
		},
		"a tenant in the prefix": func(server *fiber.App, router func(fiber.Router)) string {
			server.Route("/:tenant/me", router)
			return "/acme/me"
		},
	} {
		t.Run(way, func(t *testing.T) {
			db := databases.SQLite(t)
			openShop(t, db)
			gdpr := newIntegration(t, db)
			server := fiber.New()
			server.Use(authenticate)
			prefix := mount(server, gdpr.Router(currentSubject, app.WithRestriction()))
			server.Get(prefix+"/orders", func(c *fiber.Ctx) error { return c.SendString("the host's orders") })

			for _, step := range []struct{ method, path, body, want string }{
				{"POST", "/consent", decision("newsletter"), `"granted":true`},
				{"GET", "/consent/newsletter", "", `"granted":true`},
				{"GET", "/export", "", `c1@example.org`},
				{"POST", "/restriction", `{"restricted":true}`, `"restricted":true`},
				{"GET", "/orders", "", "the host's orders"},
				{"DELETE", "", "", `"parcels":1`},
			} {
				got := send(t, server, newRequest("1", step.method, prefix+step.path, step.body))
				if got.StatusCode != 200 || !strings.Contains(got.body, step.want) {
					t.Errorf("%s %s%s: %d %s", step.method, prefix, step.path, got.StatusCode, got.body)
				}
			}
			if got := send(t, server, newRequest("1", "GET", prefix+"/unknown", "")); got.StatusCode != 404 || !got.isProblem() {
				t.Errorf("unknown: %d %s", got.StatusCode, got.body)
			}
			if got := send(t, server, newRequest("1", "GET", "/elsewhere/x/y/z", "")); got.StatusCode != 404 || got.isProblem() {
				t.Errorf("elsewhere: %d %s", got.StatusCode, got.body)
			}
			if document, err := gdpr.OpenAPI(prefix); err != nil || !strings.Contains(string(document), prefix+"/export") {
				t.Errorf("the document of %s: %v", prefix, err)
			}
		})
	}
}

// One application can have several Integrations, for example one for the database of each of its shops.
func TestTwoIntegrationsNeverMix(t *testing.T) {
	first, second := databases.SQLite(t), databases.SQLite(t)
	openShop(t, first)
	openShop(t, second)
	store, outlet := newIntegration(t, first), newIntegration(t, second)
	server := fiber.New()
	server.Use(authenticate)
	server.Route("/shop/me", store.Router(currentSubject))
	server.Route("/outlet/me", outlet.Router(currentSubject, app.WithRestriction()))

	for _, request := range []*http.Request{
		newRequest("1", "DELETE", "/shop/me", ""), newRequest("2", "POST", "/shop/me/consent", decision("newsletter")),
	} {
		if got := send(t, server, request); got.StatusCode != 200 {
			t.Fatalf("%s: %d %s", request.Method, got.StatusCode, got.body)
		}
	}
	if !granted(t, store, "2", "newsletter") || granted(t, outlet, "2", "newsletter") {
		t.Error("the consent is not where it was given")
	}
	if !strings.HasPrefix(emails(t, first)[0], "anon-") || emails(t, second)[0] != "c1@example.org" {
		t.Error("the erasure was not where it was asked for")
	}
	if events := trail(t, outlet.Stack().Sessions, "1"); len(events) > 0 {
		t.Errorf("the outlet's trail has %v", events)
	}
	for target, want := range map[string]int{"/shop/me/restriction": 404, "/outlet/me/restriction": 200} {
		if got := send(t, server, newRequest("1", "GET", target, "")); got.StatusCode != want {
			t.Errorf("%s: %d", target, got.StatusCode)
		}
	}

	// From here on, the Integration of the shop (store) uses the database of the Integration of the outlet.
	restore := store.Sessions().Override(outlet.Stack().Sessions)
	for _, prefix := range []string{"/shop/me", "/outlet/me"} {
		got := send(t, server, newRequest("2", "GET", prefix+"/consent/newsletter", ""))
		if status := decode[domain.ConsentStatus](t, got.body); status.Granted {
			t.Errorf("%s is handled by the shop's database", prefix)
		}
	}
	restore()
	got := send(t, server, newRequest("2", "GET", "/shop/me/consent/newsletter", ""))
	if status := decode[domain.ConsentStatus](t, got.body); !status.Granted {
		t.Error("the override outlived its restore")
	}
}
