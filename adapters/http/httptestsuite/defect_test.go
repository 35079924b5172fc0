package httptestsuite

import (
	"bytes"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/domain"
)

// defect is something wrong with an adapter, and the checks that find it.
type defect struct {
	harness Harness
	found   found
}

// found are the checks that must fail, by a text that a failure holds. All others must pass.
type found map[string][]func(testing.TB, Harness)

type defects = map[string]defect

// reason returns the text that a failure of the promise is to hold, if it is to fail.
func (f found) reason(p promise) (text string, expected bool) {
	for reason, checks := range f {
		if p.isIn(checks) {
			text, expected = reason, true
		}
	}
	return text, expected
}

func (p promise) isIn(checks []func(testing.TB, Harness)) bool {
	return slices.ContainsFunc(checks, func(check func(testing.TB, Harness)) bool {
		return reflect.ValueOf(check).Pointer() == reflect.ValueOf(p.check).Pointer()
	})
}

func TestEveryDefectFailsItsCases(t *testing.T) {
	caught := map[string]bool{}
	for _, some := range []defects{
		answerDefects(), pathDefects(), bodyDefects(), subjectDefects(), routeDefects(), streamDefects(),
	} {
		for name, defect := range some {
			for _, p := range promises {
				_, expected := defect.found.reason(p)
				caught[p.name] = caught[p.name] || expected
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel() // mostly they wait for servers to stop
				defect.expect(t)
			})
		}
	}
	for name, caught := range caught {
		if !caught {
			t.Errorf("%q has never failed", name)
		}
	}
}

// slow are checks that move very much data. They run only where a defect is about them.
var slow = []func(testing.TB, Harness){
	largeExportIsStreamed, failureHalfwayBreaksTheAnswerOff, answerThatNobodyReadsIsGivenUp, exportOverHTTP10IsWholeOrFails,
}

// expect checks all promises and expects exactly those that find the defect to fail.
func (d defect) expect(t *testing.T) {
	t.Helper()
	for _, p := range promises {
		text, expected := d.found.reason(p)
		if !expected && p.isIn(slow) {
			continue
		}
		switch failures := watch(t, func(t testing.TB) { p.check(t, d.harness) }).text(); {
		case expected && failures == "":
			t.Errorf("%q passed", p.name)
		case !expected && failures != "":
			t.Errorf("%q failed:\n%.600s", p.name, failures)
		case !strings.Contains(failures, text):
			t.Errorf("%q failed, but not for the reason %q:\n%.600s", p.name, text, failures)
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
