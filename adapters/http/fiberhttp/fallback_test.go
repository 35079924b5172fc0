package fiberhttp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

func TestTheConfigurationOfTheHostDeterminesHowPathsMatch(t *testing.T) {
	for _, strict := range []bool{false, true} {
		for _, sensitive := range []bool{false, true} {
			for _, unescape := range []bool{false, true} {
				config := fiber.Config{StrictRouting: strict, CaseSensitive: sensitive, UnescapePath: unescape}
				t.Run(fmt.Sprintf("strict=%v sensitive=%v unescape=%v", strict, sensitive, unescape), func(t *testing.T) {
					pathsMatch(t, config)
				})
			}
		}
	}
}

func pathsMatch(t *testing.T, config fiber.Config) {
	t.Helper()
	store := &sessions{}
	host := newHost(t, config)
	host.Route("/me", fiberhttp.Router(newAPI(t, store), byHeader))
	choose := func(condition bool, yes, no int) int {
		if condition {
			return yes
		}
		return no
	}
	looseSlash := choose(config.StrictRouting, 404, 200)
	looseCase := choose(config.CaseSensitive, 404, 200)
	for _, test := range []struct {
		method, target string
		status         int
		purpose        string // whose status is read
	}{
		{"DELETE", "/me", 200, ""},
		{"DELETE", "/me/", 200, ""},
		{"GET", "/me", 405, ""},
		{"GET", "/me/export/", looseSlash, ""},
		{"POST", "/me/export/", choose(config.StrictRouting, 404, 405), ""},
		{"GET", "/me/Export", looseCase, ""},
		{"PUT", "/me/CONSENT", choose(config.CaseSensitive, 404, 405), ""},
		{"GET", "/me/expor%74", choose(config.UnescapePath, 200, 404), ""},

		{"GET", "/me/consent/ads", 200, "ads"},
		{"GET", "/me/consent/Ads", 200, "Ads"},
		{"GET", "/me/Consent/Ads", looseCase, "Ads"},
		{"GET", "/me/consent/ads/", looseSlash, "ads"},
		{"GET", "/me/consent/a+b", 200, "a+b"},
		{"GET", "/me/consent/a%2Bb", 200, "a+b"},
		{"GET", "/me/consent/a%20b", 200, "a b"},
		{"GET", "/me/consent/a%2Fb%20c", 200, "a/b c"},
		{"GET", "/me/consent/a%2F", 200, "a/"},
		{"GET", "/me/consent/%2Fa", 200, "/a"},
		{"GET", "/me/consent/a%2F%2Fb", 200, "a//b"},
		{"GET", "/me/consent/%2F", 200, "/"},
		{"GET", "/me/consent/%2F%2f", 200, "//"},
		{"GET", "/me/consent/%2F/", looseSlash, "/"},
		{"GET", "/me/Consent/%2F", looseCase, "/"},
		{"POST", "/me/consent/%2F", 405, ""},
		{"GET", "/me/consent//%2F", 404, ""},
		{"GET", "/me/consent/%2F/%2F", 404, ""},
		{"GET", "/me/export/%2F", 404, ""},
		{"DELETE", "/me/%2F", 404, ""},
		{"GET", "/me/consent/a%252Fb", 200, "a%2Fb"},
		{"GET", "/me/consent/%61", 200, "a"},
		{"GET", "/me/consent/%C3%A4.b-c:d", 200, "ä.b-c:d"},
		{"GET", "/me/consent/consent", 200, "consent"},
		{"GET", "/me/consent/a?purpose=b", 200, "a"},
		{"GET", "/me/consent/%zz", 422, ""},
		{"GET", "/me/consent/%00", 422, ""},
		{"GET", "/me/consent/%ff", 422, ""},

		{"GET", "/me/consent/a/b", 404, ""},
		{"GET", "/me/consent/consent/a", 404, ""},
		{"GET", "/me/consent/a/consent/b", 404, ""},
		{"GET", "/me/consent/a%2Fb/c", 404, ""},
		{"GET", "/me/consent/a/b%2Fc", 404, ""},
		{"GET", "/me/consent//a", 404, ""},
		{"GET", "/me/consent%2Fa", 404, ""},
		{"DELETE", "/me/consent/a/b", 404, ""},
		{"DELETE", "/me/consent/a%2Fb", 405, ""},
		{"GET", "/me/consent", 405, ""},
		{"GET", "/me/consent/", choose(config.StrictRouting, 404, 405), ""},
		{"GET", "/me/consents", 404, ""},
		{"GET", "/me/unknown", 404, ""},
		{"GET", "/me/restriction", 404, ""},
	} {
		store.Lookups = nil
		request := newRequest(test.method, "/me", "")
		request.RequestURI = test.target // not cleaned
		got := send(t, host, request)
		if got.StatusCode != test.status {
			t.Errorf("%s %s: %d %s", test.method, test.target, got.StatusCode, got.body)
			continue
		}
		if got.Header.Get("Cache-Control") != "no-store" || got.StatusCode == 404 && got.Header.Get("Allow") != "" {
			t.Errorf("%s %s: %v", test.method, test.target, got.Header)
		}
		purpose := ""
		if len(store.Lookups) > 0 {
			purpose = store.Lookups[0].Purpose
		}
		if got.StatusCode == 200 && purpose != test.purpose {
			t.Errorf("%s %s addresses %q", test.method, test.target, purpose)
		}
	}
}

func TestAllowListsTheMethodsOfAPath(t *testing.T) {
	host := newHost(t, fiber.Config{})
	host.Get("/me", func(c *fiber.Ctx) error { return c.SendString("the host's profile page") })
	host.Route("/me", fiberhttp.Router(newAPI(t, &sessions{}), byHeader, httpapi.WithRestriction()))
	host.Patch("/me/consent", func(c *fiber.Ctx) error { return c.SendString("the host's own") })
	for _, test := range []struct {
		method, path string
		status       int
		allow        []string
	}{
		{"PUT", "/me/consent/x", 405, []string{"GET", "HEAD", "OPTIONS"}},
		{"PUT", "/me/export", 405, []string{"GET", "HEAD", "OPTIONS"}},
		{"PUT", "/me/restriction", 405, []string{"GET", "HEAD", "OPTIONS", "POST"}},
		{"PUT", "/me/consent", 405, []string{"OPTIONS", "PATCH", "POST"}},
		{"PUT", "/me", 405, []string{"DELETE", "GET", "HEAD", "OPTIONS"}},
		{"OPTIONS", "/me", 204, []string{"DELETE", "GET", "HEAD", "OPTIONS"}},
		{"OPTIONS", "/me/export", 204, []string{"GET", "HEAD", "OPTIONS"}},
		{"OPTIONS", "/me/unknown", 404, nil},
		{"TRACE", "/me/export", 405, []string{"GET", "HEAD", "OPTIONS"}},
	} {
		got := send(t, host, newRequest(test.method, test.path, ""))
		var allow []string
		if line := got.Header.Get("Allow"); line != "" {
			allow = strings.Split(line, ", ")
			slices.Sort(allow)
		}
		if got.StatusCode != test.status || !slices.Equal(allow, test.allow) {
			t.Errorf("%s %s: %d, Allow %q", test.method, test.path, got.StatusCode, allow)
		}
		if got.StatusCode == 204 && (got.body != "" || got.Header.Get("Cache-Control") != "no-store") {
			t.Errorf("%s %s: %v %s", test.method, test.path, got.Header, got.body)
		}
	}
}

// Fiber v2.52.15 has a defect if an application is mounted under a prefix with parameters. A route with parameters gets
// wrong values, and a route without parameters never matches. The router must respond with 404. Otherwise, it could
// return the consent status for another purpose.
func TestAMountUnderAParameterGets404(t *testing.T) {
	store := &sessions{}
	sub, host := fiber.New(), newHost(t, fiber.Config{})
	fiberhttp.Router(newAPI(t, store), byHeader)(sub)
	host.Mount("/:tenant", sub)
	for _, target := range []string{"/acme/consent/ads", "/atlas/consent/s", "/acme/unknown"} {
		if got := send(t, host, newRequest("GET", target, "")); got.StatusCode != 404 || store.Opened > 0 {
			t.Errorf("%s: %d %s", target, got.StatusCode, got.body)
		}
	}
}

func TestRoutesThatTheHostAddsLaterStillWork(t *testing.T) {
	host := fiber.New(fiber.Config{ErrorHandler: func(c *fiber.Ctx, err error) error {
		return c.Status(599).SendString("the host handles: " + err.Error())
	}})
	say := func(text string) fiber.Handler { return func(c *fiber.Ctx) error { return c.SendString(text) } }
	fail := func(err error) fiber.Handler { return func(*fiber.Ctx) error { return err } }

	host.Route("/me", fiberhttp.Router(newAPI(t, &sessions{}), byHeader))
	host.Get("/me", say("profile"))
	host.Get("/me/orders/:id", func(c *fiber.Ctx) error { return c.SendString("order " + c.Params("id")) })
	host.Get("/me/consent/:purpose/history", say("history"))
	host.Put("/me/consent", say("put"))
	host.Get("/me/missing", fail(fiber.ErrNotFound))
	host.Get("/me/broken", fail(errBroken))
	host.Get("/menu", say("menu"))
	host.Route("/me", fiberhttp.Router(newAPI(t, &sessions{}), byHeader, httpapi.WithRestriction())) // a second time

	for target, want := range map[string]string{
		"GET /me":                     "200 profile",
		"GET /me/orders/7":            "200 order 7",
		"GET /me/consent/ads/history": "200 history",
		"PUT /me/consent":             "200 put",
		"GET /me/missing":             "599 the host handles: Not Found",
		"GET /me/broken":              "599 the host handles: secret",
		"GET /menu":                   "200 menu",
		"POST /menu":                  "599 the host handles: Method Not Allowed",
		"GET /men":                    "599 the host handles: Cannot GET /men",
		"GET /menus":                  "599 the host handles: Cannot GET /menus",
		"GET /":                       "599 the host handles: Cannot GET /",
	} {
		method, path, _ := strings.Cut(target, " ")
		got := send(t, host, newRequest(method, path, ""))
		if response := fmt.Sprint(got.StatusCode, " ", got.body); response != want {
			t.Errorf("%s: %s", target, response)
		}
	}
	for target, want := range map[string]int{
		"GET /me/restriction": 200, "DELETE /me": 200, "GET /me/unknown": 404, "PUT /me": 405, "OPTIONS /me": 204,
	} {
		method, path, _ := strings.Cut(target, " ")
		if got := send(t, host, newRequest(method, path, "")); got.StatusCode != want {
			t.Errorf("%s: %d %s", target, got.StatusCode, got.body)
		}
	}
}

func TestAMiddlewareThatTheHostAddsLaterStillWorks(t *testing.T) {
	host := fiber.New(fiber.Config{ErrorHandler: func(c *fiber.Ctx, err error) error {
		return c.Status(599).SendString("the host handles: " + err.Error())
	}})
	host.Use(func(c *fiber.Ctx) (err error) {
		defer func() {
			if value := recover(); value != nil {
				err = c.SendString(fmt.Sprint("the host recovers: ", value))
			}
		}()
		return c.Next()
	})
	host.Route("/me", fiberhttp.Router(newAPI(t, &sessions{}), byHeader))
	// This pattern equals the pattern of the router's own fallback, so Fiber merges both handlers into one route.
	host.Use("/me/*", func(c *fiber.Ctx) error {
		switch c.Path() {
		case "/me/forbidden":
			return fiber.ErrForbidden
		case "/me/handled":
			return c.SendString("handled")
		case "/me/panic":
			panic(errBroken)
		}
		return c.Next()
	})
	for path, want := range map[string]string{
		"/me/forbidden": "599 the host handles: Forbidden",
		"/me/handled":   "200 handled",
		"/me/panic":     "200 the host recovers: secret",
	} {
		got := send(t, host, newRequest("GET", path, ""))
		if response := fmt.Sprint(got.StatusCode, " ", got.body); response != want {
			t.Errorf("%s: %s", path, response)
		}
	}
	if got := send(t, host, newRequest("GET", "/me/unknown", "")); got.StatusCode != 404 ||
		got.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}
