package nethttp_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

func newAPI(t *testing.T) *httpapi.API {
	t.Helper()
	dataMap := fixture.MustMap(t, users)
	store, err := memory.New(dataMap, memory.Options{})
	require(t, err)
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	require(t, err)
	api, err := engines.API(httpapi.Config{Logger: slog.New(slog.DiscardHandler)})
	require(t, err)
	return api
}

var require = fixture.Must

func as42(*http.Request) (domain.Subject, error) { return domain.NewSubject("42") }

// send calls a handler with a request, and returns the recorded response. The request has the URL that a server would
// have parsed from the target.
func send(t *testing.T, handler http.Handler, method, target string) *httptest.ResponseRecorder {
	t.Helper()
	line := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: h\r\n\r\n", method, target)
	request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(line)))
	require(t, err)
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, request)
	return response
}

func TestThePrefixIsTakenOffThePath(t *testing.T) {
	api := newAPI(t)
	for _, test := range []struct {
		prefix, path string
		status       int
	}{
		{"/me", "/me/export", 200},
		{"me/", "/me/export", 200},
		{"/a/b/me", "/a/b/me/export", 200},
		{"", "/export", 200},
		{"/", "/export", 200},
		{"/me", "/m%65/export", 200},
		{"/über uns", "/%C3%BCber%20uns/export", 200},
		{"/%C3%BCber%20uns", "/%C3%BCber%20uns/export", 200},
		{"/a%2Fb", "/a%2Fb/export", 200},
		{"/{tenant}/me", "/acme/me/export", 200},
		{"/{tenant}/me", "/a%2Fb%20c/me/export", 200},
		{"/{tenant}/{user}", "/consent/export/export", 200},
		{"/v1/{tenant}", "/v1/x/consent/ads", 200},

		{"/me", "/me/export/", 404},
		{"/me", "/me//export", 404},
		{"/me", "//me/export", 404},
		{"/me", "/ME/export", 404},
		{"/me", "/me/Export", 404},
		{"/me", "/me/expor%74", 404},
		{"/me", "/menu/export", 404},
		{"/me", "/m/export", 404},
		{"/me", "/you/export", 404},
		{"/me", "/you/me/export", 404},
		{"/me", "/export", 404},
		{"/me", "/", 404},
		{"", "/me/export", 404},
		{"", "//export", 404},
		{"/a/b", "/a%2Fb/export", 404},
		{"/a/b", "/a/export", 404},
		{"/{tenant}/me", "//me/export", 404},
		{"/{tenant}/me", "/a/b/me/export", 404},
		{"/{tenant}/me", "/me/export", 404},
		{"/{tenant}", "/export", 405}, // "export" is the tenant
	} {
		handler := nethttp.Handler(test.prefix, api, as42)
		if got := send(t, handler, "GET", test.path); got.Code != test.status ||
			got.Code != 200 && got.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("under %q, %s: %d %s", test.prefix, test.path, got.Code, got.Body)
		}
	}
}

func TestTheErasureIsAtThePrefixWithAndWithoutSlash(t *testing.T) {
	api := newAPI(t)
	for _, test := range []struct{ prefix, path string }{
		{"/me", "/me"}, {"/me", "/me/"}, {"", "/"}, {"/{tenant}/me", "/acme/me"}, {"/{tenant}/me", "/acme/me/"},
	} {
		if got := send(t, nethttp.Handler(test.prefix, api, as42), "DELETE", test.path); got.Code != 200 {
			t.Errorf("under %q, %s: %d %s", test.prefix, test.path, got.Code, got.Body)
		}
	}
	stripped := http.StripPrefix("/me", nethttp.Handler("", api, as42))
	for _, path := range []string{"/me", "/me/"} {
		if got := send(t, stripped, "DELETE", path); got.Code != 200 {
			t.Errorf("behind StripPrefix, %s: %d %s", path, got.Code, got.Body)
		}
	}
	if got := send(t, nethttp.Handler("/me", api, as42), "DELETE", "/me//"); got.Code != 404 {
		t.Errorf("two slashes: %d", got.Code)
	}
}

// If an application mounts only "/me/", http.ServeMux redirects "/me" to "/me/". The documentation of the package warns
// of this mistake.
func TestAMuxWithOnlyTheFinalSlashDoesNotErase(t *testing.T) {
	called := false
	handler := nethttp.Handler("/me", newAPI(t), func(r *http.Request) (domain.Subject, error) {
		called = true
		return as42(r)
	})
	mux := http.NewServeMux()
	mux.Handle("/me/", handler)
	if got := send(t, mux, "DELETE", "/me"); got.Code/100 != 3 || got.Header().Get("Location") != "/me/" || called {
		t.Errorf("%d, Location %q", got.Code, got.Header().Get("Location"))
	}
	mux.Handle("/me", handler)
	if got := send(t, mux, "DELETE", "/me"); got.Code != 200 || !called {
		t.Errorf("with both: %d %s", got.Code, got.Body)
	}
}

func TestTheProviderHasTheRequestWithTheDeadline(t *testing.T) {
	type key struct{}
	var seen *http.Request
	var value any // read by the provider, because the context has no values after the request
	mux := http.NewServeMux()
	mux.Handle("/{tenant}/me/", nethttp.Handler("/{tenant}/me", newAPI(t), func(r *http.Request) (domain.Subject, error) {
		seen, value = r, r.Context().Value(key{})
		return as42(r)
	}))
	outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, "the host's")))
	})
	if got := send(t, outer, "GET", "/acme/me/export"); got.Code != 200 {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	deadline, ok := seen.Context().Deadline()
	if left := time.Until(deadline); !ok || left > httpapi.DefaultTimeout || value != "the host's" {
		t.Errorf("%v left, value %v", left, value)
	}
	if seen.PathValue("tenant") != "acme" || seen.URL.Path != "/acme/me/export" {
		t.Errorf("tenant %q, path %s", seen.PathValue("tenant"), seen.URL.Path)
	}
}

func TestARequestEndsWithItsClient(t *testing.T) {
	var ended error
	handler := nethttp.Handler("/me", newAPI(t), func(r *http.Request) (domain.Subject, error) {
		ended = r.Context().Err()
		return as42(r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/me/export", nil))
	if ended == nil {
		t.Error("the provider's context has not ended with the client")
	}
}

func TestTheLengthIsAlwaysKnown(t *testing.T) {
	handler := nethttp.Handler("/me", newAPI(t), as42)
	for _, path := range []string{"/me/consent/ads", "/me/unknown"} {
		get, head := send(t, handler, "GET", path), send(t, handler, "HEAD", path)
		length := strconv.Itoa(get.Body.Len())
		if get.Header().Get("Content-Length") != length || head.Header().Get("Content-Length") != length ||
			head.Body.Len() > 0 {
			t.Errorf("%s: %s bytes with Content-Length %q; HEAD: Content-Length %q with %d bytes", path, length,
				get.Header().Get("Content-Length"), head.Header().Get("Content-Length"), head.Body.Len())
		}
	}
	if got := send(t, handler, "OPTIONS", "/me"); got.Code != 204 || got.Header().Get("Content-Length") != "" {
		t.Errorf("204 with a length: %v", got.Header())
	}
}

func TestTheAPIsHeadersReplaceThoseOfAMiddleware(t *testing.T) {
	handler := nethttp.Handler("/me", newAPI(t), as42)
	middleware := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Cache-Control", "Content-Type", "Content-Length", "X-Request-Id"} {
			w.Header().Set(name, "7")
		}
		handler.ServeHTTP(w, r)
	})
	got := send(t, middleware, "GET", "/me/export")
	if got.Header().Get("Cache-Control") != "no-store" || got.Header().Get("Content-Type") != "application/json" ||
		got.Header().Get("Content-Length") != strconv.Itoa(got.Body.Len()) || got.Header().Get("X-Request-Id") != "7" {
		t.Errorf("sent %v", got.Header())
	}
}

func TestOptionsAreThoseOfTheHandler(t *testing.T) {
	api := newAPI(t)
	for _, test := range []struct {
		options []httpapi.Option
		want    int
	}{{nil, 404}, {[]httpapi.Option{httpapi.WithRestriction()}, 200}} {
		got := send(t, nethttp.Handler("/me", api, as42, test.options...), "GET", "/me/restriction")
		if got.Code != test.want {
			t.Errorf("with %d options: %d", len(test.options), got.Code)
		}
	}
}

// The server of net/http reads up to 256 KiB of a body that the handler has not read. If more is left, the server
// closes the connection.
func TestTheServerClosesOnABodyThatIsFarTooLarge(t *testing.T) {
	server := httptest.NewServer(nethttp.Handler("/me", newAPI(t), as42))
	defer server.Close()
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	require(t, err)
	defer connection.Close()
	const size = 1 << 30 // the announced size; the client sends only a small part
	_, err = fmt.Fprintf(connection,
		"POST /me/consent HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		size, strings.Repeat(" ", httpapi.MaxBodySize+1))
	require(t, err)
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require(t, err)
	defer response.Body.Close()
	if response.StatusCode != 413 || !response.Close {
		t.Errorf("%d, closes: %v", response.StatusCode, response.Close)
	}
}
