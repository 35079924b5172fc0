package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// logLine returns the only log record of the fixture. It fails the test if the log has no record or several records.
func (f fixture) logLine(t *testing.T) map[string]any {
	t.Helper()
	var line map[string]any
	if err := json.Unmarshal(f.logged.Bytes(), &line); err != nil {
		t.Fatalf("not exactly one line: %q", f.logged)
	}
	delete(line, "time")
	return line
}

func TestAFailureOfTheServerIsLoggedByItsClass(t *testing.T) {
	cause := errors.New("secret cause")
	for _, test := range []struct {
		err                 error
		level, class, error string
		status              float64
	}{
		{cause, "ERROR", "internal", "", 500},
		{fmt.Errorf("secret: %w", domain.ErrConflict), "ERROR", "conflict", "", 500},
		{
			&domain.Error{Code: domain.ErrSession, Op: "do", Message: "used after its end", Err: cause},
			"ERROR", "session", "habeas: do: used after its end", 500,
		},
		{
			fmt.Errorf("secret: %w", &domain.Error{Code: domain.ErrUnavailable, Op: "connect", Err: cause}),
			"WARN", "unavailable", "habeas: connect: unavailable", 503,
		},
		{fmt.Errorf("secret: %w", context.DeadlineExceeded), "WARN", "timeout", "", 504},
		{context.Canceled, "WARN", "canceled", "", 503},
	} {
		f := newFixture(t)
		f.sessions.Before = func(context.Context) error { return test.err }
		f.call(t, "recordConsent", jsonBody(valid))
		want := map[string]any{
			"level": test.level, "msg": "habeas: request failed",
			"operation": "recordConsent", "status": test.status, "class": test.class,
		}
		if test.error != "" {
			want["error"] = test.error
		}
		if got := f.logLine(t); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("logged %v, not %v", got, want)
		}
	}
}

func TestNothingOfARequestIsLogged(t *testing.T) {
	f := newFixture(t)
	f.sessions.Before = func(context.Context) error { return errors.New("broken") }
	f.call(t, "getConsentStatus", httpapi.Request{Subject: as("987654321"), Parameter: "confidential", Query: "private"})
	for _, secret := range []string{"987654321", "confidential", "private", "broken"} {
		if strings.Contains(f.logged.String(), secret) {
			t.Errorf("logged %s", f.logged)
		}
	}
}

func TestAPanicIsLoggedWithoutItsValue(t *testing.T) {
	type confidential struct{ id int }
	for name, arrange := range map[string]func(*fixture, *httpapi.Request){
		"in the provider": func(_ *fixture, r *httpapi.Request) { r.Subject = panickingProvider },
		"in the store": func(f *fixture, _ *httpapi.Request) {
			f.sessions.Before = func(context.Context) error { panic(confidential{987654321}) }
		},
		"in the body": func(_ *fixture, r *httpapi.Request) { r.Body = panickingReader{} },
		"nil":         func(_ *fixture, r *httpapi.Request) { r.Subject = nil },
	} {
		t.Run(name, func(t *testing.T) {
			f, r := newFixture(t), jsonBody(valid)
			arrange(&f, &r)
			response := f.call(t, "recordConsent", r)
			if problemOf(t, response).Status != 500 {
				t.Errorf("got status %d", response.Status)
			}
			line := f.logLine(t)
			stack := fmt.Sprint(line["stack"])
			if line["panic"] == nil || line["operation"] != "recordConsent" ||
				!strings.Contains(stack, "httpapi.(*API).Handle\n") {
				t.Errorf("logged %v", line)
			}
			for _, secret := range []string{"987654321", fmt.Sprintf("%x", 987654321), "secret"} {
				if strings.Contains(f.logged.String(), secret) || strings.Contains(string(response.Body), secret) {
					t.Errorf("shows %s: %s %s", secret, f.logged, response.Body)
				}
			}
		})
	}
}

func panickingProvider(context.Context) (domain.Subject, error) {
	return find(987654321)
}

//go:noinline
func find(id int) (domain.Subject, error) { panic(fmt.Sprint("secret: no user ", id)) }

type panickingReader struct{}

func (panickingReader) Read([]byte) (int, error) { panic(errors.New("secret")) }

// panicking is a SessionFactory that panics after the function of the session has returned, as a failing commit could.
type panicking struct{ ports.SessionFactory }

func (r panicking) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	_ = r.SessionFactory.Do(ctx, fn)
	panic("secret")
}

func TestAPanicOfTheFactoryIsAFailure(t *testing.T) {
	f := newFixture(t)
	f.API = f.With(httpapi.WithSession(panicking{f.sessions}))
	response := f.call(t, "recordConsent", jsonBody(valid))
	if problemOf(t, response).Status != 500 {
		t.Errorf("got status %d %s", response.Status, response.Body)
	}
}

func TestTheDefaultLoggerIsSlogDefault(t *testing.T) {
	f := newFixture(t)
	before := slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(f.config.Logger) // after New, like a main function that sets its logger late

	config := f.config
	config.Logger = nil
	api, err := httpapi.New(config)
	require(t, err)
	api.Handle(t.Context(), api.Endpoints()[0], httpapi.Request{Subject: failing(errors.New("broken"))})
	if f.logLine(t)["class"] != "internal" {
		t.Errorf("logged %s", f.logged)
	}
}
