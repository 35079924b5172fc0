package httptestsuite

import (
	"bytes"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/domain"
)

// defect is something wrong with an adapter, and the cases that must fail for it, each with a failure that holds the
// text. All others must pass.
type defect struct {
	harness Harness
	want    map[string]string
}

func TestEveryDefectFailsItsCases(t *testing.T) {
	all := map[string]defect{}
	for _, some := range []map[string]defect{answerDefects(), pathDefects(), bodyDefects(), subjectDefects(), routeDefects(), streamDefects()} {
		maps.Copy(all, some)
	}
	caught := map[string]bool{}
	for name, defect := range all {
		for name := range defect.want {
			caught[name] = true
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel() // mostly they wait for servers to stop
			defect.expect(t)
		})
	}
	for _, c := range cases {
		if !caught[c.name] {
			t.Errorf("%q has never failed", c.name)
		}
	}
}

// slow are cases that move very much data. They run only where a defect is about them.
var slow = []string{
	"large export is streamed", "failure halfway breaks the answer off", "answer that nobody reads is given up",
	"export over HTTP/1.0 is whole or fails",
}

// expect runs all cases and expects exactly those in want to fail.
func (d defect) expect(t *testing.T) {
	t.Helper()
	known := map[string]bool{}
	for _, c := range cases {
		known[c.name] = true
		text, expected := d.want[c.name]
		if !expected && slices.Contains(slow, c.name) {
			continue
		}
		switch failures := watch(t, func(t testing.TB) { c.run(t, d.harness) }).text(); {
		case expected && failures == "":
			t.Errorf("%q passed", c.name)
		case !expected && failures != "":
			t.Errorf("%q failed:\n%.600s", c.name, failures)
		case !strings.Contains(failures, text):
			t.Errorf("%q failed, but not for the reason %q:\n%.600s", c.name, text, failures)
		}
	}
	for name := range d.want {
		if !known[name] {
			t.Errorf("there is no case %q", name)
		}
	}
}

// editing is a harness whose answers are edited before they are sent. Those that are streamed go by unedited.
func editing(edit func(r *http.Request, answer *httptest.ResponseRecorder)) Harness {
	return serving(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(subjectHeader) == hoarder {
				next.ServeHTTP(w, r)
				return
			}
			recorded := httptest.NewRecorder()
			next.ServeHTTP(recording{recorded, w}, r)
			edit(r, recorded)
			maps.Copy(w.Header(), recorded.Header())
			w.Header().Del("Content-Length")
			w.WriteHeader(recorded.Code)
			_, _ = w.Write(recorded.Body.Bytes())
		})
	})
}

// recording is a recorder before a server, whose connection is still there.
type recording struct {
	*httptest.ResponseRecorder
	server http.ResponseWriter
}

func (r recording) Unwrap() http.ResponseWriter { return r.server }

// changing is a harness whose requests are changed before the handler gets them.
func changing(change func(r *http.Request)) Harness {
	return serving(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			change(r)
			next.ServeHTTP(w, r)
		})
	})
}

// providing is a harness with another subject provider, which may write into the answer's header.
func providing(subject func(w http.ResponseWriter, r *http.Request) (domain.Subject, error)) Harness {
	return Harness{crowd: 40, Serve: func(t testing.TB, api *httpapi.API, prefix string) string {
		t.Helper()
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ask := func(r *http.Request) (domain.Subject, error) { return subject(w, r) }
			nethttp.Handler(prefix, api, ask).ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}}
}

// replaceBody puts another body into an answer.
func replaceBody(answer *httptest.ResponseRecorder, change func(string) string) {
	answer.Body = bytes.NewBufferString(change(answer.Body.String()))
}
