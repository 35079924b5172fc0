package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

func TestARequestThatMatchesNoEndpointGetsAProblem(t *testing.T) {
	f := newFixture(t)
	for _, test := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"PUT", "/consent", 405, "POST, OPTIONS"},
		{"GET", "/consent", 405, "POST, OPTIONS"},
		{"DELETE", "/consent/newsletter", 405, "GET, HEAD, OPTIONS"},
		{"POST", "/consent/a%2Fb", 405, "GET, HEAD, OPTIONS"},
		{"POST", "/export", 405, "GET, HEAD, OPTIONS"},
		{"GET", "/", 405, "DELETE, OPTIONS"},
		{"DELETE", "/restriction", 405, "POST, GET, HEAD, OPTIONS"},
		{"UNHEARD-OF", "/export", 405, "GET, HEAD, OPTIONS"},
		{"OPTIONS", "/restriction", 204, "POST, GET, HEAD, OPTIONS"},
		{"OPTIONS", "/", 204, "DELETE, OPTIONS"},
		{"OPTIONS", "/consent/a/b", 404, ""},
		{"GET", "/consent/a/b", 404, ""},
		{"GET", "/consent/", 404, ""},
		{"GET", "/Export", 404, ""},
		{"GET", "/consents", 404, ""},
		{"GET", "", 404, ""},
		{"GET", "/export", 404, ""}, // an adapter that calls Fallback for a path with an endpoint
	} {
		response := f.Fallback(test.method, test.path)
		if response.Status != test.status || response.Header.Get("Allow") != test.allow {
			t.Errorf("%s %s: %d, Allow %q", test.method, test.path, response.Status, response.Header.Get("Allow"))
		}
		if response.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s may be cached", test.method, test.path)
		}
		if test.status == http.StatusNoContent {
			if len(response.Body) > 0 {
				t.Errorf("%s %s has a body", test.method, test.path)
			}
			continue
		}
		problemOf(t, response)
	}
	golden(t, "problem_404", f.Fallback("GET", "/unknown"))
	golden(t, "problem_405", f.Fallback("PUT", "/consent"))
	golden(t, "options", f.Fallback("OPTIONS", "/restriction"))
}

func TestWithoutRestrictionItsPathIsUnknown(t *testing.T) {
	api, err := httpapi.New(newFixture(t).config)
	require(t, err)
	if got := api.Fallback("PUT", "/restriction").Status; got != http.StatusNotFound {
		t.Errorf("got status %d", got)
	}
}
