package httpapi_test

import (
	"context"
	"errors"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func TestARequestIsRoutedByMethodAndPath(t *testing.T) {
	for _, test := range []struct {
		method, path string
		status       int
		purpose      string // whose status is read
	}{
		{"DELETE", "/", 200, ""},
		{"GET", "/export", 200, ""},
		{"HEAD", "/export", 200, ""},
		{"GET", "/consent/ads", 200, "ads"},
		{"HEAD", "/consent/ads", 200, "ads"},
		{"GET", "/consent/a%2Fb+c", 200, "a/b+c"},
		{"GET", "/restriction", 200, ""},
		{"GET", "/consent/%zz", 422, ""},
		{"POST", "/consent", 415, ""},
		{"POST", "/restriction", 415, ""},
		{"OPTIONS", "/export", 204, ""},
		{"HEAD", "/consent", 405, ""},
		{"get", "/export", 405, ""},
		{"DELETE", "/consent/ads", 405, ""},
		{"DELETE", "", 404, ""},
		{"GET", "/consent/", 404, ""},
		{"GET", "/consent/a/b", 404, ""},
		{"GET", "/export/", 404, ""},
		{"GET", "export", 404, ""},
		{"GET", "/consent/{purpose}/", 404, ""},
	} {
		f := newFixture(t)
		r := httpapi.Request{Subject: as("42"), Parameter: "set by the caller"}
		response := f.Route(t.Context(), test.method, test.path, r)
		if response.Status != test.status {
			t.Errorf("%s %s: %d %s", test.method, test.path, response.Status, response.Body)
		}
		if test.purpose != "" && decode[domain.ConsentStatus](t, response).Purpose != test.purpose {
			t.Errorf("%s %s: %s", test.method, test.path, response.Body)
		}
	}
}

func TestEveryEndpointIsRoutedToItself(t *testing.T) {
	f := newFixture(t)
	for _, endpoint := range f.Endpoints() {
		provider := func(context.Context) (domain.Subject, error) { panic(errors.New("on purpose")) }
		f.Route(t.Context(), endpoint.Method, endpoint.Path, httpapi.Request{Subject: provider})
		if got := f.logLine(t)["operation"]; got != endpoint.OperationID {
			t.Errorf("%s is routed to %v", endpoint.OperationID, got)
		}
		f.logged.Reset()
	}
}

// inFront is a service in front of an eraser.
type inFront struct {
	httpapi.Eraser
	asked int
}

func (i *inFront) Erase(
	ctx context.Context, s ports.Session, subject domain.Subject,
) (domain.ErasureResult, error) {
	i.asked++
	return i.Eraser.Erase(ctx, s, subject)
}

func TestAnotherServiceCanStandInFrontOfTheEraser(t *testing.T) {
	front := &inFront{}
	f := newFixture(t, func(c *httpapi.Config) { front.Eraser, c.Erasure = c.Erasure, front })
	got := f.Route(t.Context(), "DELETE", "/", httpapi.Request{Subject: as("42")})
	if got.Status != 200 || front.asked != 1 {
		t.Errorf("asked %d times: %d %s", front.asked, got.Status, got.Body)
	}
}

func TestAGroupOfEndpointsIsThereOnce(t *testing.T) {
	f := newFixture(t)
	twice := f.With(httpapi.WithRestriction(), httpapi.WithRestriction())
	if len(twice.Endpoints()) != 6 || len(f.With().Endpoints()) != 6 {
		t.Errorf("%d endpoints", len(twice.Endpoints()))
	}
}
