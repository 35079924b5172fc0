package httptestsuite

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
)

type found = promise.Finds[Harness]

// slow lists the checks that send much data or wait for a timeout.
var slow = []promise.Check[Harness]{
	largeExportIsStreamed, failureHalfwayAbortsTheResponse, unreadResponseIsAborted,
	exportOverHTTP10IsWholeOrFails, unreadBodyIsNotParsedAsARequest, bodyThatNeverArrivesIs504, requestsShareNoStrings,
}

func TestAdaptersThatMixUpPeopleOrRequestsAreFoundOut(t *testing.T) {
	type defect struct { // a broken adapter, and the checks that must fail for it, each with a part of its error text
		harness Harness
		found   found
	}
	promise.ExpectDefects(t, promises, func(d defect) (Harness, found) { return d.harness, d.found }, map[string]defect{
		"a subject by another header": {namedBy(func(r *http.Request) string { return r.Header.Get("X-User-Id") }), found{
			"&id=43 returned": {providerAloneNamesTheSubject},
		}},
		"a subject by query": {namedBy(func(r *http.Request) string { return r.URL.Query().Get("subject_id") }), found{
			"&id=43 returned": {providerAloneNamesTheSubject},
		}},
		"a subject without a header": {namedBy(func(r *http.Request) string {
			if r.Header.Get(subjectHeader) == "" {
				return "42"
			}
			return ""
		}), found{"got status 200, want 401": {headerOfARefusalIsSentAlong}}},
		"a panic that is not recovered": {serving(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = Subject(r.Header.Get)
				next.ServeHTTP(w, r)
			})
		}), found{
			"gets no response": {failuresShowNoErrorText, panicEndsOneRequestOnly},
		}},
		"a subject of an earlier request": {serving(mixingUp("DELETE /me", func(r, earlier *http.Request) {
			r.Header.Set(subjectHeader, earlier.Header.Get(subjectHeader))
		})), found{"got status 200": {requestsShareNoStrings}}},
		"a purpose of an earlier request": {serving(mixingUp("GET /me/consent/purpose", func(r, earlier *http.Request) {
			r.URL = earlier.URL
		})), found{"got status 200": {requestsShareNoStrings}}},
		"the rest of a body is the next request": {
			serving(func(next http.Handler) http.Handler { return leavesBodies{next} }),
			found{
				"there is an unexpected response: 200": {unreadBodyIsNotParsedAsARequest},
				"of an unread response committed":      {unreadResponseIsAborted},
			},
		},
	})
}

// namedBy returns the harness of a defective adapter. The adapter takes the id of the subject from the wrong part of
// the request, which the given function reads. If this part is empty, the adapter takes the correct subject.
func namedBy(name func(r *http.Request) string) Harness {
	return providing(func(r *http.Request) (domain.Subject, error) {
		if id := name(r); id != "" {
			return domain.NewSubject(id)
		}
		return Subject(r.Header.Get)
	})
}

// providing returns the harness of an adapter with another subject provider.
func providing(subject func(r *http.Request) (domain.Subject, error)) Harness {
	return Harness{crowd: 40, Serve: func(t testing.TB, api *httpapi.API, prefix string) string {
		t.Helper()
		server := httptest.NewServer(nethttp.Handler(prefix, api, subject))
		t.Cleanup(server.Close)
		return server.URL
	}}
}

// mixingUp returns a middleware that simulates a server that reuses a buffer while a request still uses the buffer. It
// changes some of the requests whose method and path begin with the given text. The function mix copies parts of an
// earlier request into such a request.
func mixingUp(beginning string, mix func(r, earlier *http.Request)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		var mu sync.Mutex
		var seen []*http.Request
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Method+" "+r.URL.Path, beginning) {
				mu.Lock()
				seen = append(seen, r.Clone(r.Context()))
				if len(seen)%30 == 0 {
					mix(r, seen[len(seen)-2])
				}
				mu.Unlock()
			}
			next.ServeHTTP(w, r)
		})
	}
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

func write(to io.Writer, response *httptest.ResponseRecorder) {
	_, _ = fmt.Fprintf(to, "HTTP/1.1 %d %s\r\n", response.Code, http.StatusText(response.Code))
	_ = response.Header().Write(to)
	_, _ = fmt.Fprintf(to, "\r\n%s", response.Body)
}
