package story

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/domain"
)

// router is an HTTP adapter under test. Its function serve starts a server with the API under /me and returns the URL
// of the server. A header of a request names the customer. In a real application, any client could forge this header.
type router struct {
	name  string
	serve func(t *testing.T, api *httpapi.API) string
}

func routers() []router {
	return []router{{"fiber", serveFiber}, {"nethttp", serveNetHTTP}}
}

func serveFiber(t *testing.T, api *httpapi.API) string {
	t.Helper()
	server := fiber.New(fiber.Config{DisableStartupMessage: true})
	server.Route("/me", fiberhttp.Router(api, func(c *fiber.Ctx) (domain.Subject, error) {
		if c.Get("X-Tenant") == "" {
			return domain.Subject{}, fiber.ErrUnauthorized
		}
		return subjectOf(c.Get("X-Tenant"))
	}, httpapi.WithRestriction()))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Listener(listener) }()
	t.Cleanup(func() {
		must(t, server.Shutdown())
		must(t, <-served)
	})
	return "http://" + listener.Addr().String()
}

func serveNetHTTP(t *testing.T, api *httpapi.API) string {
	t.Helper()
	rights := nethttp.Handler("/me", api, func(r *http.Request) (domain.Subject, error) {
		if r.Header.Get("X-Tenant") == "" {
			return domain.Subject{}, &httpapi.StatusError{Status: http.StatusUnauthorized}
		}
		return subjectOf(r.Header.Get("X-Tenant"))
	}, httpapi.WithRestriction())
	mux := http.NewServeMux()
	mux.Handle("/me", rights)
	mux.Handle("/me/", rights)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// exchange sends a request as customer 1 of a tenant. It decodes the response into result, if result is not nil. If the
// response does not have the expected status, the test ends.
func (s *story) exchange(tenant, method, path, body string, status int, result any) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	must(s.t, err)
	request.Header.Set("X-Tenant", tenant)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	must(s.t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	must(s.t, err)
	if response.StatusCode != status {
		s.t.Fatalf("%s %s: %d %s, want %d", method, path, response.StatusCode, text, status)
	}
	if result != nil {
		must(s.t, json.Unmarshal(text, result))
	}
}
