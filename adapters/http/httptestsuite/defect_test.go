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
	"github.com/habeas-data/habeas/internal/tests/promise"
)

// defect is a broken adapter, and the checks that must fail for this adapter, each with a part of its error text.
type defect struct {
	harness Harness
	found   found
}

type (
	found   = promise.Finds[Harness]
	defects = map[string]defect
)

// slow lists the checks that send much data or wait for a timeout.
var slow = []promise.Check[Harness]{
	largeExportIsStreamed, failureHalfwayAbortsTheResponse, unreadResponseIsAborted,
	exportOverHTTP10IsWholeOrFails, unreadBodyIsNotParsedAsARequest, bodyThatNeverArrivesIs504, requestsShareNoStrings,
}

func TestEveryDefectFailsItsCases(t *testing.T) {
	all := defects{}
	for _, some := range []defects{
		responseDefects(), pathDefects(), bodyDefects(), subjectDefects(), routeDefects(), streamDefects(),
	} {
		maps.Copy(all, some)
	}
	promise.ExpectDefects(t, promises, func(d defect) (Harness, found) { return d.harness, d.found }, all)
}

// editing returns the harness of an adapter that changes each response before it is sent. It does not change the
// responses to the subject with many rows, because those are streamed.
func editing(edit func(r *http.Request, response *httptest.ResponseRecorder)) Harness {
	return serving(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(subjectHeader) == bulkSubject {
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

// without returns the harness of an adapter that removes a header from each response.
func without(header string) Harness {
	return editing(func(_ *http.Request, response *httptest.ResponseRecorder) { response.Header().Del(header) })
}

// turning returns the harness of an adapter that replaces one status by another.
func turning(status, into int) Harness {
	return editing(func(_ *http.Request, response *httptest.ResponseRecorder) {
		if response.Code == status {
			response.Code = into
		}
	})
}

// recording is a ResponseWriter that records a response. Unwrap returns the ResponseWriter of the server.
type recording struct {
	*httptest.ResponseRecorder
	server http.ResponseWriter
}

func (r recording) Unwrap() http.ResponseWriter { return r.server }

// changing returns the harness of an adapter that changes each request before the handler gets it.
func changing(change func(r *http.Request)) Harness {
	return serving(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			change(r)
			next.ServeHTTP(w, r)
		})
	})
}

// providing returns the harness of an adapter with another subject provider. The provider may write headers of the
// response.
func providing(subject func(w http.ResponseWriter, r *http.Request) (domain.Subject, error)) Harness {
	return Harness{crowd: 40, Serve: func(t testing.TB, api *httpapi.API, prefix string) string {
		t.Helper()
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			provider := func(r *http.Request) (domain.Subject, error) { return subject(w, r) }
			nethttp.Handler(prefix, api, provider).ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}}
}

// replaceBody replaces the body of a response.
func replaceBody(response *httptest.ResponseRecorder, change func(string) string) {
	response.Body = bytes.NewBufferString(change(response.Body.String()))
}

// raw writes a response directly to the connection, so that the server does not change it. raw closes the connection
// after the client has closed its side.
func raw(w http.ResponseWriter, response *httptest.ResponseRecorder) {
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer connection.Close()
	write(connection, response)
	_, _ = io.Copy(io.Discard, buffered)
}

func write(to io.Writer, response *httptest.ResponseRecorder) {
	_, _ = fmt.Fprintf(to, "HTTP/1.1 %d %s\r\n", response.Code, http.StatusText(response.Code))
	_ = response.Header().Write(to)
	_, _ = fmt.Fprintf(to, "\r\n%s", response.Body)
}

// leavesBodies simulates a server with a defect: if the handler does not read a body to its end, the server parses the
// rest as the next request. The defect affects only requests without a User-Agent.
type leavesBodies struct{ http.Handler }

func (l leavesBodies) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.UserAgent() != "" {
		l.Handler.ServeHTTP(w, r)
		return
	}
	response := httptest.NewRecorder()
	l.Handler.ServeHTTP(response, r)
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer connection.Close()
	write(connection, response)
	reader := bufio.NewReader(buffered)
	for {
		next, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		response := httptest.NewRecorder()
		l.Handler.ServeHTTP(response, next)
		write(connection, response)
	}
}
