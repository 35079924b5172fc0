package nethttp_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/httptestsuite"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/racedetector"
)

// With the race detector, the handler is not tested on a mux, which passes requests on unchanged.
func TestConformance(t *testing.T) {
	subject := func(r *http.Request) (domain.Subject, error) { return httptestsuite.Subject(r.Header.Get) }
	for name, mount := range map[string]func(prefix string, api *httpapi.API) http.Handler{
		"alone": func(prefix string, api *httpapi.API) http.Handler {
			return nethttp.Handler(prefix, api, subject)
		},
		"on a mux": func(prefix string, api *httpapi.API) http.Handler {
			handler, mux := nethttp.Handler(prefix, api, subject), http.NewServeMux()
			if prefix != "" {
				mux.Handle(prefix, handler)
			}
			mux.Handle(prefix+"/", handler)
			return mux
		},
		"behind StripPrefix": func(prefix string, api *httpapi.API) http.Handler {
			return http.StripPrefix(prefix, nethttp.Handler("", api, subject))
		},
	} {
		if racedetector.Enabled && name == "on a mux" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			httptestsuite.Test(t, httptestsuite.Harness{
				Serve: func(t testing.TB, api *httpapi.API, prefix string) string {
					t.Helper()
					server := httptest.NewServer(mount(prefix, api))
					t.Cleanup(server.Close)
					return server.URL
				},
			})
		})
	}
}
