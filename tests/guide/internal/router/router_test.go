package router_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/httptestsuite"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/tests/guide/internal/router"
)

func TestConformance(t *testing.T) {
	httptestsuite.Test(t, httptestsuite.Harness{
		Serve: func(t testing.TB, api *httpapi.API, prefix string) string {
			t.Helper()
			handler := router.Handler(prefix, api, func(r *http.Request) (domain.Subject, error) {
				return httptestsuite.Subject(r.Header.Get)
			})
			server := httptest.NewServer(handler)
			t.Cleanup(server.Close)
			return server.URL
		},
	})
}

func signedIn(r *http.Request) (domain.Subject, error) {
	return domain.NewSubject(r.Header.Get("X-User"))
}

func mount(mux *http.ServeMux, gdpr *app.Integration, logger *slog.Logger) ([]byte, error) {
	api, err := gdpr.Stack().API(httpapi.Config{
		Sessions: gdpr.Sessions(), Timeout: 10 * time.Second, Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	api = api.With(httpapi.WithRestriction())
	rights := router.Handler("/me", api, signedIn)
	mux.Handle("/me", rights)
	mux.Handle("/me/", rights)
	return api.OpenAPI("/me")
}

func TestTheRouterServesAnIntegration(t *testing.T) {
	db := databases.SQLite(t)
	shop.Open(t, db, shop.Models)
	gdpr, err := app.New(app.Config{DB: db, Models: shop.Models})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	document, err := mount(mux, gdpr, slog.New(slog.DiscardHandler))
	if err != nil || !json.Valid(document) {
		t.Errorf("%s, %v", document, err)
	}
	for _, path := range []string{"/me/export", "/me/restriction"} {
		request, response := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
		request.Header.Set("X-User", "42")
		mux.ServeHTTP(response, request)
		if response.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, response.Code, response.Body)
		}
	}
}
