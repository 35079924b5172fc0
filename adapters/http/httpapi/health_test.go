package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/health"
	"github.com/habeas-data/habeas/ports"
)

// probed is a store whose probe returns err.
type probed struct {
	*sessions
	err error
}

func (p *probed) Probe(context.Context) error { return p.err }

// leftovers are duties that degrade the process.
type leftovers struct{}

func (leftovers) Read(context.Context, ports.Session) ([]domain.Duty, error) { return nil, nil }

func (leftovers) Merge([]domain.Duty) []domain.Duty {
	return []domain.Duty{{Name: domain.DutySweep, LeftOver: 1}}
}

func newHealth(t *testing.T) (api *httpapi.HealthAPI, store *probed, logged *bytes.Buffer) {
	t.Helper()
	store, logged = &probed{sessions: &sessions{}}, &bytes.Buffer{}
	checker, err := health.New(health.Config{Sessions: store, Clock: clock{}, Duties: leftovers{}})
	require(t, err)
	api, err = httpapi.NewHealth(checker, slog.New(slog.NewJSONHandler(logged, nil)))
	require(t, err)
	return api, store, logged
}

func TestProbesHaveTheirStatus(t *testing.T) {
	for name, c := range map[string]struct {
		method, path string
		err          error
		status       int
		body         string
	}{
		"live":                       {"GET", "/live", nil, 200, `{"live":true}`},
		"live without its database":  {"GET", "/live", domain.ErrUnavailable, 200, `{"live":true}`},
		"live by HEAD":               {"HEAD", "/live", nil, 200, `{"live":true}`},
		"ready":                      {"GET", "/ready", nil, 200, `"ready":true`},
		"ready by HEAD":              {"HEAD", "/ready", nil, 200, `"ready":true`},
		"not ready":                  {"GET", "/ready", domain.ErrUnavailable, 503, `"ready":false`},
		"not migrated":               {"GET", "/ready", domain.ErrConfiguration, 503, `"migrations","status":"failed"`},
		"another method":             {"POST", "/ready", nil, 405, ""},
		"another path":               {"GET", "/", nil, 404, ""},
		"a path below":               {"GET", "/live/zoe", nil, 404, ""},
		"a path with another ending": {"GET", "/ready/", nil, 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			api, store, _ := newHealth(t)
			store.err = c.err
			response := api.Route(t.Context(), c.method, c.path)
			if response.Status != c.status || !strings.Contains(string(response.Body), c.body) {
				t.Errorf("%d %s", response.Status, response.Body)
			}
			if c.status == 405 && response.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("allowed is %q", response.Header.Get("Allow"))
			}
			if response.Header.Get("Cache-Control") != "no-store" || !json.Valid(response.Body) {
				t.Errorf("%v %s", response.Header, response.Body)
			}
		})
	}
}

// The body of a probe must not contain the message of a check, because the probe needs no authentication.
func TestTheBodyOfAProbeHasNoMessage(t *testing.T) {
	api, store, logged := newHealth(t)
	store.err = &domain.Error{
		Code: domain.ErrUnavailable, Op: "probe", Message: "habeas_outbox is away", Err: errors.New("zoe@example.org"),
	}
	response := api.Route(t.Context(), "GET", "/ready")
	want := `{"live":true,"ready":false,"degraded":true,"checks":[{"name":"database","status":"failed"},` +
		`{"name":"migrations","status":"unknown"},{"name":"worker","status":"off"},` +
		`{"name":"abandoned_entries","status":"unknown"},{"name":"late_entries","status":"unknown"},` +
		`{"name":"sweep","status":"failed"}]}` + "\n"
	if string(response.Body) != want {
		t.Errorf("the body is %s", response.Body)
	}
	if line := logged.String(); !strings.Contains(line, "habeas_outbox is away") || strings.Contains(line, "zoe@") {
		t.Errorf("logged %s", line)
	}
}

// The log names the checks that make the process unready, and no check that only degrades it.
func TestReadinessIsLoggedWhenItChanges(t *testing.T) {
	api, store, logged := newHealth(t)
	const away, wrong = domain.ErrUnavailable, domain.ErrConfiguration
	for _, err := range []error{nil, nil, away, away, nil, nil, wrong} {
		store.err = err
		api.Route(t.Context(), "GET", "/ready")
	}
	var messages []string
	for line := range strings.Lines(logged.String()) {
		var record struct{ Msg, Failed, Class string }
		require(t, json.Unmarshal([]byte(line), &record))
		messages = append(messages, strings.TrimSpace(record.Msg+" "+record.Failed+" "+record.Class))
	}
	want := "habeas: not ready database unavailable; habeas: ready again; habeas: not ready migrations configuration"
	if got := strings.Join(messages, "; "); got != want {
		t.Errorf("logged %q", got)
	}
}

func TestAHealthAPINeedsAChecker(t *testing.T) {
	if _, err := httpapi.NewHealth(nil, nil); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("got %v", err)
	}
}
