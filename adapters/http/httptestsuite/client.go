package httptestsuite

import (
	"bufio"
	"embed"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

// patience is how long an answer may take.
const patience = 20 * time.Second

// request is one to the API. The zero value of a field is what most requests have.
type request struct {
	method  string
	path    string // below the prefix and with the query, as it goes over the wire
	subject string // "" means 42
	nobody  bool   // sends no subject
	body    string // as application/json, unless header has another Content-Type
	header  http.Header
	chunked bool // sends the body without its length
}

func get(path string) request { return request{method: http.MethodGet, path: path} }

func post(path, body string) request { return request{method: http.MethodPost, path: path, body: body} }

// with returns the request with a header more, or, without values, with none of that name.
func (r request) with(name string, values ...string) request {
	r.header = r.header.Clone()
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header[http.CanonicalHeaderKey(name)] = values
	return r
}

// as returns the request as one of that subject.
func (r request) as(subject string) request {
	r.subject = subject
	return r
}

// byNobody returns the request without a subject.
func (r request) byNobody() request {
	r.nobody = true
	return r
}

func (r request) String() string { return r.method + " " + r.path }

// answer is a response whose body has been read.
type answer struct {
	status int
	header http.Header
	body   string
}

// newClient returns a client that shows answers as they are, over no more connections than it is given.
func newClient(t testing.TB, connections int) *http.Client {
	t.Helper()
	transport := &http.Transport{DisableCompression: true, MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// send returns the answer to a request. A server that gives none ends the case.
func (w *world) send(t testing.TB, r request) answer {
	t.Helper()
	got, err := w.try(r)
	if err != nil {
		t.Fatalf("%s gets no answer: %v", r, err)
	}
	return got
}

// try is send for any goroutine.
func (w *world) try(r request) (answer, error) {
	message := &http.Request{
		Method: r.method,
		// Opaque goes over the wire as it is.
		URL:    &url.URL{Scheme: "http", Host: w.host, Opaque: w.prefix + r.path},
		Host:   w.host,
		Header: http.Header{subjectHeader: {"42"}, "User-Agent": {"habeas"}},
	}
	if r.subject != "" {
		message.Header.Set(subjectHeader, r.subject)
	}
	if r.nobody {
		message.Header.Del(subjectHeader)
	}
	if r.body != "" {
		message.Header.Set("Content-Type", "application/json")
		message.Body, message.ContentLength = io.NopCloser(strings.NewReader(r.body)), int64(len(r.body))
	}
	for name, values := range r.header {
		message.Header[name] = values
	}
	if r.chunked {
		message.ContentLength = -1
	}
	if len(r.body) > httpapi.MaxBodySize {
		return w.tryAlone(message)
	}
	response, err := w.client.Do(message)
	if err != nil {
		return answer{}, err
	}
	return read(response)
}

// tryAlone sends a request over a connection of its own, and reads the answer even where the server has stopped reading
// and closed. An http.Client may report that it could not write, and nothing else.
func (w *world) tryAlone(message *http.Request) (answer, error) {
	connection, err := w.connect()
	if err != nil {
		return answer{}, err
	}
	var sending sync.WaitGroup
	sending.Go(func() { _ = message.Write(connection) })
	defer sending.Wait()
	defer connection.Close()
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: message.Method})
	if err != nil {
		return answer{}, err
	}
	return read(response)
}

func read(response *http.Response) (answer, error) {
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	return answer{response.StatusCode, response.Header, string(body)}, err
}

// expect sends a request, and checks the status of the answer.
func (w *world) expect(t testing.TB, status int, r request) answer {
	t.Helper()
	got := w.send(t, r)
	assert(t, got.status == status, "%s: answered %d and not %d: %.200s", r, got.status, status, got.body)
	return got
}

// text returns a member of the answer's body that is a string, and nothing when it is not there or is null.
func (a answer) text(name string) string {
	var members map[string]any
	if json.Unmarshal([]byte(a.body), &members) != nil {
		return ""
	}
	text, _ := members[name].(string)
	return text
}

// dial opens a connection for what no client would send.
func (w *world) dial(t testing.TB) net.Conn {
	t.Helper()
	connection, err := w.connect()
	if err != nil {
		t.Fatalf("the server cannot be reached: %v", err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}

func (w *world) connect() (net.Conn, error) {
	connection, err := net.DialTimeout("tcp", w.host, patience)
	if err != nil {
		return nil, err
	}
	return connection, connection.SetDeadline(time.Now().Add(patience))
}

// testdata has the bodies of the API's answers, which are public API. This package's own tests write them when they are
// told to.
//
//go:embed testdata/*.json
var testdata embed.FS

// exact sends a request, and checks the status of the response and every byte of its body.
func (w *world) exact(t testing.TB, name string, status int, r request) answer {
	t.Helper()
	got := w.expect(t, status, r)
	if w.golden != nil {
		w.golden(name, got.body)
		return got
	}
	want, err := testdata.ReadFile("testdata/" + name + ".json")
	require(t, err)
	assert(t, got.body == string(want), "%s: not what %s.json has; got\n%s\nwant\n%s", r, name, got.body, want)
	return got
}
