package httptestsuite

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/promise"
)

// defect is something wrong with an adapter, and the checks that find it.
type defect struct {
	harness Harness
	found   found
}

type (
	found   = promise.Finds[Harness]
	defects = map[string]defect
)

// slow are the checks that move very much data, or wait for long.
var slow = []promise.Check[Harness]{
	largeExportIsStreamed, failureHalfwayAbortsTheResponse, unreadResponseIsAborted,
	exportOverHTTP10IsWholeOrFails, unreadBodyIsNotParsedAsARequest, bodyThatNeverArrivesIs504, requestsShareNoStrings,
}

func TestEveryDefectFailsItsCases(t *testing.T) {
	all := defects{}
	for _, some := range []defects{
		answerDefects(), pathDefects(), bodyDefects(), subjectDefects(), routeDefects(), streamDefects(),
	} {
		maps.Copy(all, some)
	}
	promise.ExpectDefects(t, *update, promises, func(d defect) (Harness, found) { return d.harness, d.found }, all,
		slow...)
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

// without is a harness whose answers lack a header.
func without(header string) Harness {
	return editing(func(_ *http.Request, answer *httptest.ResponseRecorder) { answer.Header().Del(header) })
}

// turning is a harness whose answers have one status instead of another.
func turning(status, into int) Harness {
	return editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
		if answer.Code == status {
			answer.Code = into
		}
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

// raw writes an answer past the server, as it is, and closes the connection once the client has nothing more to say.
func raw(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer connection.Close()
	write(connection, answer)
	_, _ = io.Copy(io.Discard, buffered)
}

func write(to io.Writer, answer *httptest.ResponseRecorder) {
	_, _ = fmt.Fprintf(to, "HTTP/1.1 %d %s\r\n", answer.Code, http.StatusText(answer.Code))
	_ = answer.Header().Write(to)
	_, _ = fmt.Fprintf(to, "\r\n%s", answer.Body)
}

// leavesBodies is a handler behind a server that takes what is left of a body for the next request on the connection.
// It is one for those clients only that do not say who they are.
type leavesBodies struct{ http.Handler }

func (l leavesBodies) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.UserAgent() != "" {
		l.Handler.ServeHTTP(w, r)
		return
	}
	answer := httptest.NewRecorder()
	l.Handler.ServeHTTP(answer, r)
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer connection.Close()
	write(connection, answer)
	reader := bufio.NewReader(buffered)
	for {
		next, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		answer := httptest.NewRecorder()
		l.Handler.ServeHTTP(answer, next)
		write(connection, answer)
	}
}
