package fiberhttp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// listen serves the host on loopback until the test ends, and returns its address.
func listen(t testing.TB, host *fiber.App) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require(t, err)
	done := make(chan error, 1)
	go func() { done <- host.Listener(listener) }()
	t.Cleanup(func() {
		require(t, host.Shutdown())
		require(t, <-done)
	})
	return listener.Addr().String()
}

// The strings of a Fiber request point into a buffer, and the next request on the connection overwrites this buffer.
// The router must therefore copy the strings.
func TestNothingPointsIntoTheRequest(t *testing.T) {
	const clients, requests = 8, 25
	for _, immutable := range []bool{false, true} {
		t.Run(fmt.Sprintf("immutable=%v", immutable), func(t *testing.T) {
			store := &sessions{}
			host := newHost(t, fiber.Config{Immutable: immutable})
			host.Route("/me", fiberhttp.Router(newAPI(t, store), byHeader))
			address := listen(t, host)

			var group sync.WaitGroup
			for client := range clients {
				group.Go(func() {
					if err := sendMany(address, client, requests); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			if len(store.Consents) != clients*requests || len(store.Lookups) != clients*requests {
				t.Fatalf("the store has %d records and %d lookups", len(store.Consents), len(store.Lookups))
			}
			for _, record := range store.Consents {
				if id := record.SubjectID.String(); record.Purpose != "of "+id || record.PolicyVersion != "for "+id {
					t.Errorf("a record of %s has the purpose %q and version %q", id, record.Purpose, record.PolicyVersion)
				}
			}
			for _, lookup := range store.Lookups {
				if lookup.Purpose != "of-"+lookup.ID {
					t.Errorf("the lookup of %s has the purpose %q", lookup.ID, lookup.Purpose)
				}
			}
		})
	}
}

// sendMany records and reads consents over one connection, each time for another subject.
func sendMany(address string, client, requests int) error {
	connection := &http.Client{Transport: &http.Transport{}}
	defer connection.CloseIdleConnections()
	for i := range requests {
		id := fmt.Sprintf("user-%04d-%04d", client, i)
		body := fmt.Sprintf(`{"granted":true,"purpose":"of %s","policy_version":"for %[1]s"}`, id)
		for _, request := range []*http.Request{
			newRequest("POST", "http://"+address+"/me/consent", body),
			newRequest("GET", "http://"+address+"/me/consent/of-"+id, ""),
		} {
			request.RequestURI = "" // httptest sets it, but a client must not
			request.Header.Set("X-User", id)
			response, err := connection.Do(request)
			if err != nil {
				return err
			}
			text, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil || response.StatusCode != 200 || !strings.Contains(string(text), `"subject_id":"`+id+`"`) {
				return fmt.Errorf("%s got %d %s, %w", id, response.StatusCode, text, err)
			}
		}
	}
	return nil
}

func TestAProvidersErrorDeterminesTheStatus(t *testing.T) {
	for _, test := range []struct {
		err  error
		want int
	}{
		{fiber.ErrUnauthorized, 401},
		{fiber.NewError(403, "secret"), 403},
		{fmt.Errorf("secret: %w", fiber.ErrForbidden), 403},
		{fiber.NewError(499, "secret"), 499},
		{fiber.NewError(503, "secret"), 503},
		{fiber.NewError(200, "secret"), 500},
		{fiber.NewError(302, "secret"), 500},
		{&httpapi.StatusError{Status: 402}, 402},
		{&httpapi.StatusError{Status: 402, Err: fiber.ErrUnauthorized}, 402},
		{errBroken, 500},
	} {
		store := &sessions{}
		host := newHost(t, fiber.Config{})
		host.Route("/me", fiberhttp.Router(newAPI(t, store), func(c *fiber.Ctx) (domain.Subject, error) {
			c.Set("WWW-Authenticate", "Bearer")
			subject := fixture.MustSubject(t, "42")
			return subject, test.err
		}))
		got := send(t, host, newRequest("DELETE", "/me", ""))
		if got.StatusCode != test.want || strings.Contains(got.body, "secret") || store.Opened > 0 {
			t.Errorf("%v: %d %s", test.err, got.StatusCode, got.body)
		}
		if got.Header.Get("Content-Type") != "application/problem+json" || got.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%v: %v", test.err, got.Header)
		}
	}
}

func TestAPanicDoesNotKillTheProcess(t *testing.T) {
	host := newHost(t, fiber.Config{})
	store := &sessions{Before: func(context.Context) error { panic(errBroken) }}
	api := newAPI(t, store)
	host.Route("/store", fiberhttp.Router(api, byHeader))
	host.Route("/provider", fiberhttp.Router(api, func(*fiber.Ctx) (domain.Subject, error) { panic(errBroken) }))
	for _, target := range []string{"/store/export", "/provider/export", "/store/consent/a"} {
		got := send(t, host, newRequest("GET", target, ""))
		if got.StatusCode != 500 || got.Header.Get("Content-Type") != "application/problem+json" ||
			strings.Contains(got.body, "secret") {
			t.Errorf("%s: %d %s", target, got.StatusCode, got.body)
		}
	}
}

type contextKey struct{}

func TestTheContextIsTheHostsWithADeadline(t *testing.T) {
	var afterwards context.Context
	check := func(where string, ctx context.Context) { // immediately, because the context is not used after the request
		deadline, ok := ctx.Deadline()
		if left := time.Until(deadline); !ok || left > httpapi.DefaultTimeout || ctx.Value(contextKey{}) != "the host's" {
			t.Errorf("in the %s: %v left, value %v", where, left, ctx.Value(contextKey{}))
		}
	}
	calls := 0
	store := &sessions{Before: func(ctx context.Context) error {
		check("session", ctx)
		calls++
		return ctx.Err()
	}}
	host := newHost(t, fiber.Config{})
	host.Use(func(c *fiber.Ctx) error {
		c.SetUserContext(context.WithValue(c.UserContext(), contextKey{}, "the host's"))
		err := c.Next()
		afterwards = c.UserContext()
		return err
	})
	host.Route("/me", fiberhttp.Router(newAPI(t, store), func(c *fiber.Ctx) (domain.Subject, error) {
		check("provider", c.UserContext())
		calls++
		return byHeader(c)
	}))
	if got := send(t, host, newRequest("GET", "/me/export", "")); got.StatusCode != 200 {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	if calls != 2 {
		t.Errorf("%d contexts were checked, want 2", calls)
	}
	if _, limited := afterwards.Deadline(); limited || afterwards.Err() != nil {
		t.Error("later handlers have the context of the request to the API")
	}
}

func TestTheErrorHandlerOfTheHostIsNeverCalled(t *testing.T) {
	store := &sessions{}
	host := newHost(t, fiber.Config{}) // its ErrorHandler fails the test
	host.Route("/me", fiberhttp.Router(newAPI(t, store), byHeader, httpapi.WithRestriction()))
	for target, want := range map[string]int{
		"GET /me/unknown": 404, "PUT /me": 405, "POST /me/consent": 415, "GET /me/consent/%zz": 422,
		"GET /me/restriction?purpose": 422,
	} {
		method, path, _ := strings.Cut(target, " ")
		request := newRequest(method, "/me", "")
		request.RequestURI = path
		if got := send(t, host, request); got.StatusCode != want {
			t.Errorf("%s: %d", target, got.StatusCode)
		}
	}
	for err, want := range map[error]int{
		errBroken: 500, fiber.ErrTeapot: 500, domain.ErrUnavailable: 503, context.DeadlineExceeded: 504,
		context.Canceled: 503,
	} {
		store.Before = func(context.Context) error { return err }
		if got := send(t, host, newRequest("GET", "/me/export", "")); got.StatusCode != want {
			t.Errorf("%v: %d", err, got.StatusCode)
		}
	}
}
