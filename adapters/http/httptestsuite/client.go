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

// patience is the timeout of a response.
const patience = 20 * time.Second

// request is a request to the API. A field that is not set has a default value.
type request struct {
	method    string
	path      string // below the prefix, with the query, exactly as sent
	subject   string // "" means 42
	anonymous bool   // sends no subject
	body      string // as application/json, unless header has another Content-Type
	header    http.Header
	chunked   bool // sends the body in chunks, without Content-Length
}

func get(path string) request { return request{method: http.MethodGet, path: path} }

func post(path, body string) request { return request{method: http.MethodPost, path: path, body: body} }

// withHeader returns the request with these values of a header. Without values, it removes the header.
func (r request) withHeader(name string, values ...string) request {
	r.header = r.header.Clone()
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header[http.CanonicalHeaderKey(name)] = values
	return r
}

func (r request) withSubject(subject string) request {
	r.subject = subject
	return r
}

func (r request) withoutSubject() request {
	r.anonymous = true
	return r
}

func (r request) String() string { return r.method + " " + r.path }

// received is a response whose body has been read.
type received struct {
	status int
	header http.Header
	body   string
}

// newClient returns a client that does not change responses and uses at most the given number of connections.
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

// send sends a request and returns the response. If there is no response, send ends the test case.
func (w *world) send(t testing.TB, r request) received {
	t.Helper()
	got, err := w.try(r)
	if err != nil {
		t.Fatalf("%s gets no response: %v", r, err)
	}
	return got
}

// try sends a request, like send. If there is no response, try returns an error and does not end the test case. Every
// goroutine may therefore call it.
func (w *world) try(r request) (received, error) {
	message := &http.Request{
		Method: r.method,
		// Opaque is sent unchanged.
		URL:    &url.URL{Scheme: "http", Host: w.host, Opaque: w.prefix + r.path},
		Host:   w.host,
		Header: http.Header{subjectHeader: {"42"}, "User-Agent": {"habeas"}},
	}
	if r.subject != "" {
		message.Header.Set(subjectHeader, r.subject)
	}
	if r.anonymous {
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
		return received{}, err
	}
	return read(response)
}

// tryAlone sends a request over a new connection. If the server responds and closes the connection before it has
// received the complete request, tryAlone returns this response, while an http.Client could return an error.
func (w *world) tryAlone(message *http.Request) (received, error) {
	connection, err := w.connect()
	if err != nil {
		return received{}, err
	}
	var sending sync.WaitGroup
	sending.Go(func() { _ = message.Write(connection) })
	defer sending.Wait()
	defer connection.Close()
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: message.Method})
	if err != nil {
		return received{}, err
	}
	return read(response)
}

func read(response *http.Response) (received, error) {
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	return received{response.StatusCode, response.Header, string(body)}, err
}

// expect sends a request and checks the status of the response.
func (w *world) expect(t testing.TB, status int, r request) received {
	t.Helper()
	got := w.send(t, r)
	assert(t, got.status == status, "%s: got status %d, want %d: %.200s", r, got.status, status, got.body)
	return got
}

// text returns the value of a string member of the JSON body, or "" if the member is missing or null.
func (res received) text(name string) string {
	var members map[string]any
	if json.Unmarshal([]byte(res.body), &members) != nil {
		return ""
	}
	text, _ := members[name].(string)
	return text
}

// dial opens a connection to the server, for messages that an http.Client would not send.
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

// testdata contains the expected bodies of responses. These bodies are public API. The tests of this package write the
// files if the flag -update is set.
//
//go:embed testdata/*.json
var testdata embed.FS

// exact sends a request and checks the status of the response. It compares the body with a golden file, byte by byte.
func (w *world) exact(t testing.TB, name string, status int, r request) received {
	t.Helper()
	got := w.expect(t, status, r)
	w.compare(t, name, r, got)
	return got
}

// compare compares the body of a response with a golden file, byte by byte.
func (w *world) compare(t testing.TB, name string, r request, got received) {
	t.Helper()
	if w.golden != nil {
		w.golden(name, got.body)
		return
	}
	want, err := testdata.ReadFile("testdata/" + name + ".json")
	require(t, err)
	assert(t, got.body == string(want), "%s: the body differs from %s.json; got\n%s\nwant\n%s", r, name, got.body, want)
}
