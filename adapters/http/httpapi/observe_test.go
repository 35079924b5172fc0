package httpapi_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/tests/observed"
)

func newObserved(t *testing.T) (fixture, *observed.Recorder) {
	t.Helper()
	recorder := &observed.Recorder{}
	return newFixture(t, func(c *httpapi.Config) { c.Observer = recorder }), recorder
}

func TestRequestsAreObservedByTheirRouteAndOutcome(t *testing.T) {
	const status = "/consent/zoe@example.org"
	for name, c := range map[string]struct {
		before  func(context.Context) error // a session
		request httpapi.Request
		path    string
		want    string
	}{
		"a success":       {nil, httpapi.Request{Subject: as("42")}, status, "ok 200"},
		"no subject":      {nil, httpapi.Request{Subject: failing(&httpapi.StatusError{Status: 401})}, status, "refused 401"},
		"another refusal": {nil, httpapi.Request{Subject: failing(&httpapi.StatusError{Status: 451})}, status, "refused 451"},
		"a refusal with an error of the server": {
			nil,
			httpapi.Request{Subject: failing(&httpapi.StatusError{Status: 502, Err: domain.ErrUnavailable})},
			status, "unavailable 502",
		},
		"a provider that fails": {
			nil, httpapi.Request{Subject: failing(errors.New("zoe@example.org"))}, status, "internal 500",
		},
		"a provider that panics": {nil, httpapi.Request{Subject: nil}, status, "panic 500"},
		"not valid":              {nil, httpapi.Request{Subject: as("42")}, "/consent/%00", "invalid 422"},
		"out of reach": {
			func(context.Context) error { return domain.ErrUnavailable },
			httpapi.Request{Subject: as("42")},
			status, "unavailable 503",
		},
		"the client has gone": {
			func(context.Context) error { return context.Canceled },
			httpapi.Request{Subject: as("42")},
			status, "canceled 503",
		},
		"too late": {
			func(context.Context) error { return context.DeadlineExceeded },
			httpapi.Request{Subject: as("42")},
			status, "timeout 504",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, recorder := newObserved(t)
			f.sessions.Before = c.before
			f.Route(t.Context(), "GET", c.path, c.request)
			recorder.Want(t, "request GET /consent/{purpose}: "+c.want)
		})
	}
}

func TestABodyThatIsRefusedIsObserved(t *testing.T) {
	f, recorder := newObserved(t)
	text := httpapi.Request{Subject: as("42"), ContentType: "text/plain"}
	for _, request := range []httpapi.Request{jsonBody("{"), jsonBody("{}"), text} {
		response := f.Route(t.Context(), "POST", "/consent", request)
		lines := recorder.Lines()
		if last := lines[len(lines)-1]; response.Status/100 != 4 || last[:30] != "request POST /consent: invalid" {
			t.Errorf("%d is observed as %s", response.Status, last)
		}
	}
}

// The observer must not receive a path that matches no endpoint, because the path could contain personal data.
func TestARequestThatMatchesNoEndpointIsNotObserved(t *testing.T) {
	f, recorder := newObserved(t)
	f.Route(t.Context(), "GET", "/zoe@example.org", httpapi.Request{})
	f.Route(t.Context(), "zoe@example.org", "/export", httpapi.Request{})
	recorder.Want(t)
}

func TestAStreamIsObservedAtItsEnd(t *testing.T) {
	f, recorder := newObserved(t)
	f.sessions.Rows = large()
	response := f.export(t.Context())
	if lines := recorder.Lines(); len(lines) > 0 {
		t.Errorf("observed before its end: %v", lines)
	}
	_, err := io.ReadAll(response.Stream)
	require(t, err)
	require(t, response.Stream.Close())
	recorder.Want(t, "request GET /export: ok 200")
}

func TestAStreamThatBreaksOffIsObservedAsAFailure(t *testing.T) {
	f, recorder := newObserved(t)
	f.sessions.Rows = append(large(), domain.ExportRecord{Value: panics{}})
	response := f.export(t.Context())
	breaksOff(t, response)
	require(t, response.Stream.Close())
	recorder.Want(t, "request GET /export: panic 200")
}

func TestAStreamThatIsNotReadIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, recorder := newObserved(t)
		f.sessions.Rows = large()
		f.export(t.Context())
		time.Sleep(httpapi.DefaultTimeout + time.Second) // on the fake clock
		synctest.Wait()
		recorder.Want(t, "request GET /export: canceled 200")
	})
}

func TestAnExportWhoseGoroutineIsEndedIsObserved(t *testing.T) {
	f, recorder := newObserved(t)
	f.sessions.Before = func(context.Context) error {
		runtime.Goexit()
		return nil
	}
	f.export(t.Context())
	recorder.Want(t, "request GET /export: panic 500")
}

// The observer must receive a session as a child of its request, also while an export is streamed.
func TestSessionsAreAPartOfTheirRequest(t *testing.T) {
	f, recorder := newObserved(t)
	f.sessions.Rows = large()
	f.sessions.After = func(ctx context.Context) {
		_, end := recorder.Start(ctx, observation.Activity{Kind: observation.ActivitySession})
		end(observation.ActivityEnd{Outcome: domain.OutcomeOK})
	}
	response := f.export(t.Context())
	_, err := io.ReadAll(response.Stream)
	require(t, err)
	require(t, response.Stream.Close())
	recorder.Want(t, "request GET /export > session: ok", "request GET /export: ok 200")
}
