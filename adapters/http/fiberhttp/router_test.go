package fiberhttp_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/consent"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/domain/restriction"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// newAPI returns an API over the given session factory, without the endpoints for restriction.
func newAPI(t *testing.T, store ports.SessionFactory) *httpapi.API {
	t.Helper()
	return newAPIOf(t, store, httpapi.Config{})
}

// newAPIOf returns an API like newAPI, with the further settings of config.
func newAPIOf(t *testing.T, store ports.SessionFactory, config httpapi.Config) *httpapi.API {
	t.Helper()
	dataMap := fixture.MustMap(t, datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeText},
			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryContact}},
		},
	})
	exporter, err := export.NewExporter(export.Config{Clock: clock{}, IDs: ids{}, DataMap: dataMap})
	require(t, err)
	eraser, err := erasure.NewEraser(erasure.Config{Clock: clock{}, IDs: ids{}, DataMap: dataMap})
	require(t, err)
	config.Sessions, config.DataMap = store, dataMap
	config.Consent, config.Restriction = consent.NewLedger(clock{}, ids{}), restriction.NewLedger(clock{}, ids{})
	config.Export, config.Erasure = exporter, eraser
	config.Logger = slog.New(slog.DiscardHandler)
	api, err := httpapi.New(config)
	require(t, err)
	return api
}

// byHeader is a SubjectProvider that takes the id of the subject from the header X-User. The id is a string that points
// into the request.
func byHeader(c *fiber.Ctx) (domain.Subject, error) {
	if c.Get("X-User") == "" {
		return domain.Subject{}, fiber.ErrUnauthorized
	}
	return domain.NewSubject(c.Get("X-User"))
}

// newHost returns an application whose ErrorHandler fails the test.
func newHost(t testing.TB, config fiber.Config) *fiber.App {
	t.Helper()
	config.DisableStartupMessage = true
	config.ErrorHandler = func(c *fiber.Ctx, err error) error {
		t.Errorf("%s %s: the host's ErrorHandler was called with %v", c.Method(), c.OriginalURL(), err)
		return nil
	}
	return fiber.New(config)
}

// received is a response whose body has been read.
type received struct {
	*http.Response
	body string
}

// newRequest returns a request of user 42. If the parameter body is not empty, it is sent as JSON.
func newRequest(method, target, body string) *http.Request {
	request := httptest.NewRequest(method, target, strings.NewReader(body))
	request.Header.Set("X-User", "42")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	return request
}

func send(t *testing.T, host *fiber.App, request *http.Request) received {
	t.Helper()
	response, err := host.Test(request, -1)
	require(t, err)
	defer response.Body.Close()
	return read(t, response)
}

func read(t *testing.T, response *http.Response) received {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	require(t, err)
	return received{response, string(body)}
}

var require = fixture.Must

const decision = `{"granted":true,"policy_version":"v1","purpose":"newsletter"}`

func TestEveryWayToMountServesEveryEndpoint(t *testing.T) {
	for way, mount := range map[string]func(host *fiber.App, router func(fiber.Router)) (prefix string){
		"Route": func(host *fiber.App, router func(fiber.Router)) string {
			host.Route("/me", router)
			return "/me"
		},
		"Group": func(host *fiber.App, router func(fiber.Router)) string {
			router(host.Group("/me"))
			return "/me"
		},
		"nested groups": func(host *fiber.App, router func(fiber.Router)) string {
			host.Group("/api").Group("/v1/").Route("/me", router)
			return "/api/v1/me"
		},
		"prefix with parameters": func(host *fiber.App, router func(fiber.Router)) string {
			host.Route("/:tenant/users/:user<int>", router)
			return "/consent/users/7" // the name of the tenant is also a path of the API
		},
		"prefix with a wildcard": func(host *fiber.App, router func(fiber.Router)) string {
			host.Route("/*/me", router)
			return "/a/b/me"
		},
		"root": func(host *fiber.App, router func(fiber.Router)) string {
			router(host)
			return ""
		},
		"Mount": func(host *fiber.App, router func(fiber.Router)) string {
			sub := fiber.New()
			router(sub)
			host.Mount("/me", sub)
			return "/me"
		},
		"Mount in a group": func(host *fiber.App, router func(fiber.Router)) string {
			sub := fiber.New(fiber.Config{UnescapePath: true, StrictRouting: true}) // Fiber ignores these
			router(sub.Group("/rights"))
			host.Group("/api").Mount("/me", sub)
			return "/api/me/rights"
		},
	} {
		t.Run(way, func(t *testing.T) {
			store := &sessions{}
			host := newHost(t, fiber.Config{})
			prefix := mount(host, fiberhttp.Router(newAPI(t, store), byHeader, httpapi.WithRestriction()))
			for _, test := range []struct {
				method, path, body string
				want               string
			}{
				{"POST", "/consent", decision, `"policy_version":"v1"`},
				{"GET", "/consent/newsletter", "", `"granted":true`},
				{"GET", "/consent/a%2Fb%20c", "", `"purpose":"a/b c"`},
				{"GET", "/export", "", `"schema_version":1`},
				{"DELETE", "", "", `"completed_at"`},
				{"DELETE", "/", "", `"completed_at"`},
				{"POST", "/restriction", `{"restricted":true}`, `"restricted":true`},
				{"GET", "/restriction?purpose=a+b", "", `"purpose":"a b"`},
			} {
				target := prefix + test.path
				if target == "" {
					continue // a request needs a path
				}
				got := send(t, host, newRequest(test.method, target, test.body))
				if got.StatusCode != 200 || !strings.Contains(got.body, test.want) {
					t.Errorf("%s %s: %d %s", test.method, target, got.StatusCode, got.body)
				}
			}
			for path, want := range map[string]int{
				"/unknown": 404, "/consent/a/b": 404, "/consent": 405, "/restriction/x": 404,
			} {
				got := send(t, host, newRequest("GET", prefix+path, ""))
				if got.StatusCode != want || got.Header.Get("Content-Type") != "application/problem+json" {
					t.Errorf("GET %s%s: %d %s", prefix, path, got.StatusCode, got.body)
				}
			}
		})
	}
}

func TestOptionsAreThoseOfTheAPI(t *testing.T) {
	ours, theirs := &sessions{}, &sessions{}
	host := newHost(t, fiber.Config{})
	api := newAPI(t, ours)
	host.Route("/me", fiberhttp.Router(api, byHeader))
	host.Route("/you", fiberhttp.Router(api, byHeader, httpapi.WithSession(theirs), httpapi.WithRestriction()))
	for target, want := range map[string]int{"/me/export": 200, "/me/restriction": 404, "/you/restriction": 200} {
		if got := send(t, host, newRequest("GET", target, "")); got.StatusCode != want {
			t.Errorf("%s: %d", target, got.StatusCode)
		}
	}
	if ours.Opened != 1 || theirs.Opened != 1 {
		t.Errorf("opened %d and %d sessions", ours.Opened, theirs.Opened)
	}
}

func TestHeadIsGetWithoutTheBody(t *testing.T) {
	host := newHost(t, fiber.Config{})
	host.Route("/me", fiberhttp.Router(newAPI(t, &sessions{}), byHeader, httpapi.WithRestriction()))
	for _, path := range []string{
		"/me/export", "/me/consent/ads", "/me/restriction", "/me/restriction?purpose=", "/me/unknown",
	} {
		head, get := send(t, host, newRequest("HEAD", path, "")), send(t, host, newRequest("GET", path, ""))
		if head.StatusCode != get.StatusCode || head.body != "" || get.body == "" || head.ContentLength != get.ContentLength {
			t.Errorf("%s: %d %q, want %d with %d bytes", path, head.StatusCode, head.body, get.StatusCode, get.ContentLength)
		}
		for _, name := range []string{"Content-Type", "Cache-Control", "X-Content-Type-Options"} {
			if head.Header.Get(name) != get.Header.Get(name) {
				t.Errorf("%s: %s is %q", path, name, head.Header.Get(name))
			}
		}
	}
}

func TestTheMiddlewareOfAGroupComesFirst(t *testing.T) {
	store := &sessions{}
	host := newHost(t, fiber.Config{})
	group := host.Group("/me", func(c *fiber.Ctx) error {
		if c.Get("Authorization") == "" {
			return c.Status(fiber.StatusUnauthorized).SendString("the response of the middleware")
		}
		return c.Next()
	})
	fiberhttp.Router(newAPI(t, store), byHeader)(group)
	if got := send(t, host, newRequest("DELETE", "/me", "")); got.StatusCode != 401 || store.Opened != 0 {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	request := newRequest("DELETE", "/me", "")
	request.Header.Set("Authorization", "Bearer x")
	if got := send(t, host, request); got.StatusCode != 200 {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

func TestPrefixIsThatOfTheGroup(t *testing.T) {
	host, inner := fiber.New(), fiber.New()
	host.Group("/:tenant").Mount("/me", inner)
	for want, router := range map[string]fiber.Router{
		"/{tenant}/me":                  inner,
		"":                              host,
		"/me":                           host.Group("/me"),
		"/api/me":                       host.Group("/api").Group("/me"),
		"/{tenant}/users/{user}/rights": host.Group("/:tenant/users/:user<min(1);max(9)>").Group("/rights"),
		"/{region}":                     host.Group("/:region?"),
	} {
		if got := fiberhttp.Prefix(router); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestTheHostSeesTheRoutes(t *testing.T) {
	host := fiber.New()
	host.Route("/me", fiberhttp.Router(newAPI(t, &sessions{}), byHeader, httpapi.WithRestriction()))
	var routes []string
	for _, route := range host.GetRoutes(true) {
		routes = append(routes, route.Method+" "+route.Path)
	}
	slices.Sort(routes)
	want := []string{
		"DELETE /me", "DELETE /me/", "GET /me/consent/+", "GET /me/export", "GET /me/restriction",
		"HEAD /me/consent/+", "HEAD /me/export", "HEAD /me/restriction", "POST /me/consent", "POST /me/restriction",
	}
	if !slices.Equal(routes, want) {
		t.Errorf("got %q", routes)
	}
}

var errBroken = errors.New("secret")
