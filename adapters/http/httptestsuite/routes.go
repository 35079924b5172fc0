package httptestsuite

import (
	"bufio"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

func headIsGetWithoutTheBody(t testing.TB, harness Harness) {
	w := harness.open(t)
	w.staysInStep(t) // runs first, because an additional response could arrive later at any time
	for _, path := range []string{
		"/consent/ads", "/consent/%2F%2F", "/restriction", "/restriction?purpose=", "/unknown",
	} {
		r := get(path)
		want := w.send(t, r)
		r.method = http.MethodHead
		got := w.send(t, r)
		assert(t, got.status == want.status && got.body == "",
			"%s: %d with %d bytes, where GET has %d", r, got.status, len(got.body), want.status)
		for _, name := range []string{"Content-Type", "Cache-Control", "X-Content-Type-Options", "Content-Length"} {
			if name == "Content-Length" && got.header.Get(name) == "" {
				continue // a server may omit Content-Length
			}
			if got, want := got.header.Get(name), want.header.Get(name); got != want {
				t.Errorf("%s: %s is %q, where GET has %q", r, name, got, want)
			}
		}
	}
}

// staysInStep sends several requests over one connection without waiting for the responses. It fails if the response to
// a HEAD or OPTIONS request has a body, because a client would parse this body as the next response.
func (w *world) staysInStep(t testing.TB) {
	t.Helper()
	connection := w.dial(t)
	messages := []struct{ method, path string }{
		{"HEAD", "/consent/ads"}, {"OPTIONS", "/export"}, {"HEAD", "/unknown"}, {"GET", "/consent/last"},
	}
	for _, message := range messages {
		_, err := fmt.Fprintf(connection, "%s %s%s HTTP/1.1\r\nHost: %s\r\n%s: 42\r\n\r\n",
			message.method, w.prefix, message.path, w.host, subjectHeader)
		require(t, err)
	}
	reader := bufio.NewReader(connection)
	for i, message := range messages {
		response, err := http.ReadResponse(reader, &http.Request{Method: message.method})
		if err != nil {
			t.Errorf("%s %s: no response where one should begin: %v", message.method, message.path, err)
			return
		}
		got, err := read(response)
		if last := i == len(messages)-1; err != nil || last && got.text("purpose") != "last" {
			t.Errorf("%s %s: the response belongs to another request: %d %s", message.method, message.path, got.status, got.body)
		}
		if response.Close {
			return // a server may always close the connection
		}
	}
}

// methods lists the methods of each path.
var methods = map[string][]string{
	"":                 {"DELETE", "OPTIONS"},
	"/consent":         {"OPTIONS", "POST"},
	"/consent/ads":     {"GET", "HEAD", "OPTIONS"},
	"/consent/a%2Fb":   {"GET", "HEAD", "OPTIONS"},
	"/consent/%2F":     {"GET", "HEAD", "OPTIONS"},
	"/export":          {"GET", "HEAD", "OPTIONS"},
	"/restriction":     {"GET", "HEAD", "OPTIONS", "POST"},
	"/restriction?x=y": {"GET", "HEAD", "OPTIONS", "POST"},
}

func optionsNamesTheMethods(t testing.TB, harness Harness) {
	w := harness.open(t)
	for path, want := range methods {
		r := request{method: http.MethodOptions, path: path}.withoutSubject() // a browser sends OPTIONS without credentials
		got := w.expect(t, 204, r)
		got.allows(t, r, want)
		assert(t, got.body == "" && got.header.Get("Cache-Control") == "no-store",
			"%s: %v with %d bytes", r, got.header, len(got.body))
	}
	w.expect(t, 404, request{method: http.MethodOptions, path: "/unknown"})
}

func otherMethodsAreRefused(t testing.TB, harness Harness) {
	w := harness.open(t)
	for path, allowed := range methods {
		for _, method := range []string{"DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"} {
			if slices.Contains(allowed, method) {
				continue
			}
			r := request{method: method, path: path}
			w.expect(t, 405, r).allows(t, r, allowed)
		}
	}
	w.hasOpenedNone(t)
}

// allows checks the methods in the header Allow, in any order.
func (res received) allows(t testing.TB, r request, want []string) {
	t.Helper()
	got := strings.Split(strings.ReplaceAll(strings.Join(res.header.Values("Allow"), ","), " ", ""), ",")
	slices.Sort(got)
	assert(t, slices.Equal(got, want), "%s: %d allows %q and not %q", r, res.status, got, want)
}

func otherPathsAreNotFound(t testing.TB, harness Harness) {
	w := harness.open(t)
	for _, path := range []string{
		"/unknown", "/consents", "/consents/ads", "/consent/a/b", "/consent/a%2Fb/c", "/consent/a/b%2Fc",
		"/consent/consent/ads", "/export/x", "/restriction/ads", "/me", "/consent%2Fads", "/me/export", "/%2F",
		"/export/%2F", "/restriction/%2F%2F", "/consent/a/%2F", "/consent/%2F/a",
	} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			got := w.expect(t, 404, request{method: method, path: path})
			allow := got.header.Get("Allow")
			assert(t, allow == "", "%s %s is not found and allows %q", method, path, allow)
		}
	}
	r := get("/consent/") // a missing purpose, or the path without its slash
	if got := w.send(t, r); got.status != 404 && got.status != 405 {
		t.Errorf("%s: got status %d, want 404 or 405: %s", r, got.status, got.body)
	}
	w.hasOpenedNone(t)
}

func erasureIsAtThePrefixItself(t testing.TB, harness Harness) {
	w := harness.open(t)
	for i, path := range []string{"", "/"} {
		w.expect(t, 200, request{method: http.MethodDelete, path: path})
		marks := w.events(t, "42", domain.EventErasureRequested)
		assert(t, marks == i+1, "after %d requests the store has %d erasures", i+1, marks)
	}
}

func everyPrefixWillDo(t testing.TB, harness Harness) {
	for _, prefix := range []string{"", "/api/v1/me", "/consent"} {
		w := harness.openAt(t, prefix, httpapi.Config{}, httpapi.WithRestriction())
		for _, r := range successes {
			if w.prefix+r.path == "" {
				r.path = "/"
			}
			w.expect(t, 200, r)
		}
		w.expect(t, 404, get("/unknown"))
		w.expect(t, 405, get("/consent"))
		w.expect(t, 404, get("/consent/a/b"))
	}
}

func restrictionRoutesAreOptional(t testing.TB, harness Harness) {
	without := harness.openAt(t, "/me", httpapi.Config{})
	with := harness.open(t)
	for _, r := range []request{
		get("/restriction"), post("/restriction", placement), {method: http.MethodOptions, path: "/restriction"},
	} {
		without.expect(t, 404, r)
		got := with.send(t, r)
		assert(t, got.status/100 == 2, "%s: got status %d, want a success: %s", r, got.status, got.body)
	}
	without.expect(t, 200, get("/export"))
}
