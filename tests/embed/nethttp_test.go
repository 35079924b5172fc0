package embed_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/shop"
)

// newAPI creates the API without package app, and therefore without Fiber.
func newAPI(t *testing.T, db *bun.DB) *httpapi.API {
	t.Helper()
	openShop(t, db)
	dataMap, err := bunmodels.Read(db, shop.Models, nil)
	must(t, err)
	store, err := bunstore.New(db, dataMap, bunstore.Options{})
	must(t, err)
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	must(t, err)
	api, err := engines.API(httpapi.Config{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	return api
}

type customerKey struct{}

// authenticated is a middleware for net/http that authenticates requests.
func authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id := r.Header.Get("X-Customer"); id != "" {
			r = r.WithContext(context.WithValue(r.Context(), customerKey{}, id))
		}
		next.ServeHTTP(w, r)
	})
}

// recovered is a middleware of the host that recovers from panics.
func recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if value := recover(); value != nil {
				http.Error(w, fmt.Sprint("the host recovers: ", value), http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

func fromContext(r *http.Request) (domain.Subject, error) {
	id, ok := r.Context().Value(customerKey{}).(string)
	if !ok {
		return domain.Subject{}, &httpapi.StatusError{Status: http.StatusUnauthorized}
	}
	return domain.NewSubject(id)
}

// serve runs the handler on loopback until the test ends.
func serve(t *testing.T, handler http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

func sendTo(t *testing.T, server *httptest.Server, customer, method, target, body string) received {
	t.Helper()
	request := newRequest(customer, method, server.URL+target, body)
	request.RequestURI = "" // httptest sets it for servers
	response, err := server.Client().Do(request)
	must(t, err)
	return read(t, response)
}

func TestAHostOnNetHTTPServesEveryRight(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		rights := nethttp.Handler("/me", newAPI(t, db), fromContext, httpapi.WithRestriction())
		mux := http.NewServeMux()
		mux.Handle("/me", rights)
		mux.Handle("/me/", rights)
		mux.HandleFunc("GET /me", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("profile")) })
		mux.HandleFunc("GET /me/orders/{id}", func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("order " + r.PathValue("id")))
		})
		mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("the host's own") })
		server := serve(t, recovered(authenticated(mux)))

		for _, step := range []struct{ method, target, body, want string }{
			{"POST", "/me/consent", decision("a b/c+d"), `"granted":true`},
			{"GET", "/me/consent/a%20b%2Fc+d", "", `"granted":true`},
			{"POST", "/me/restriction", `{"restricted":true,"purpose":"ads"}`, `"restricted":true`},
			{"GET", "/me/restriction?purpose=ads", "", `"scope":"purpose"`},
			{"GET", "/me/export", "", `c1@example.org`},
			{"DELETE", "/me", "", `"deleted":{"parcels":1}`},
			{"DELETE", "/me/", "", `"deleted":{"parcels":0}`},
			{"GET", "/me", "", "profile"},
			{"GET", "/me/orders/7", "", "order 7"},
		} {
			got := sendTo(t, server, "1", step.method, step.target, step.body)
			if got.StatusCode != http.StatusOK || !strings.Contains(got.body, step.want) {
				t.Errorf("%s %s: %d %s", step.method, step.target, got.StatusCode, got.body)
			}
		}
		for target, want := range map[string]string{
			"GET /panic":      "500 the host recovers: the host's own",
			"GET /unknown":    "404 404 page not found",
			"GET /me/unknown": "404 problem",
			"PUT /me/consent": "405 problem",
		} {
			method, path, _ := strings.Cut(target, " ")
			got := sendTo(t, server, "1", method, path, "")
			if got.isProblem() {
				got.body = "problem"
			}
			if response := fmt.Sprint(got.StatusCode, " ", strings.TrimSpace(got.body)); response != want {
				t.Errorf("%s: %s, want %s", target, response, want)
			}
		}
		if got := sendTo(t, server, "", "DELETE", "/me", ""); got.StatusCode != http.StatusUnauthorized || !got.isProblem() {
			t.Errorf("somebody unknown: %d %s", got.StatusCode, got.body)
		}
		if left := emails(t, db); !strings.HasPrefix(left[0], "anon-") || left[1] != "c2@example.org" {
			t.Errorf("the customers are %q", left)
		}
	})
}

// The host takes the tenant from the path, and checks whether the customer belongs to this tenant.
func TestATenantInThePathOfAHostOnNetHTTP(t *testing.T) {
	db := databases.SQLite(t)
	asked := make(chan string, 1)
	rights := nethttp.Handler("/{tenant}/me", newAPI(t, db), func(r *http.Request) (domain.Subject, error) {
		asked <- r.PathValue("tenant")
		if r.PathValue("tenant") != "acme" {
			return domain.Subject{}, &httpapi.StatusError{Status: http.StatusForbidden}
		}
		return fromContext(r)
	})
	mux := http.NewServeMux()
	mux.Handle("/{tenant}/me", rights)
	mux.Handle("/{tenant}/me/", rights)
	server := serve(t, authenticated(mux))
	for _, step := range []struct {
		method, tenant, path string
		want                 int
	}{
		{"GET", "acme", "/export", 200},
		{"GET", "rival", "/export", 403},
		{"DELETE", "rival", "", 403},
		{"DELETE", "acme", "", 200},
	} {
		got := sendTo(t, server, "1", step.method, "/"+step.tenant+"/me"+step.path, "")
		if tenant := <-asked; got.StatusCode != step.want || tenant != step.tenant {
			t.Errorf("%s /%s/me%s: %d, the provider saw the tenant %q", step.method, step.tenant, step.path, got.StatusCode,
				tenant)
		}
	}
}

// The subject provider is code of the host. If it panics, the handler recovers. The host needs no recover middleware.
func TestAPanicOfTheSubjectProviderIsRecoveredByTheHandler(t *testing.T) {
	db := databases.SQLite(t)
	rights := nethttp.Handler("/me", newAPI(t, db), func(*http.Request) (domain.Subject, error) { panic("secret") })
	server := serve(t, recovered(rights))
	got := sendTo(t, server, "1", "DELETE", "/me", "")
	if got.StatusCode != 500 || !got.isProblem() || strings.Contains(got.body, "secret") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}
