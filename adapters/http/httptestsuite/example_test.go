package httptestsuite_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/httptestsuite"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/domain"
)

// The following lines are the complete test of an adapter.
func ExampleTest() {
	subject := func(r *http.Request) (domain.Subject, error) { return httptestsuite.Subject(r.Header.Get) }

	testConformance := func(t *testing.T) {
		httptestsuite.Test(t, httptestsuite.Harness{
			Serve: func(t testing.TB, api *httpapi.API, prefix string) (serverURL string) {
				server := httptest.NewServer(nethttp.Handler(prefix, api, subject))
				t.Cleanup(server.Close)
				return server.URL
			},
			Waive: map[string]string{
				// "head is get without the body": "the framework of this adapter has no HEAD",
			},
		})
	}
	_ = testConformance // func TestConformance(t *testing.T)
}
