package httptestsuite

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

// victim is the subject of the requests that are hidden inside a body. No such request may be carried out.
const victim = "666"

// smuggling returns a body of at least size bytes that contains only requests to erase the victim. One request starts
// at the first byte of the body. Another request starts directly after the maximum number of bytes that the API reads.
// Both positions are needed, because servers differ in how much of a body they read before they respond.
func smuggling(size int) string {
	erasure := func(padding int) string {
		return fmt.Sprintf("DELETE /me HTTP/1.1\r\nHost: h\r\n%s: %s\r\nX: %s\r\n\r\n",
			subjectHeader, victim, strings.Repeat("x", padding))
	}
	one := erasure(0)
	read := httpapi.MaxBodySize + 1
	whole := strings.Repeat(one, read/len(one)-1) + erasure(read%len(one))
	return whole + strings.Repeat(one, (size-read)/len(one)+1)
}

func unreadBodyIsNotParsedAsARequest(t testing.TB, harness Harness) {
	w := harness.open(t)
	const asUser, json = subjectHeader + ": 42\r\n", "Content-Type: application/json\r\n"
	for head, status := range map[string]int{
		"POST /me/consent HTTP/1.1\r\n" + asUser + json: 413,
		"POST /me/consent HTTP/1.1\r\n" + asUser:        415,
		"POST /me/consent HTTP/1.1\r\n" + json:          401,
		"GET /me/consent/ads HTTP/1.1\r\n" + asUser:     200,
		"DELETE /me HTTP/1.1\r\n" + asUser:              200,
		"OPTIONS /me HTTP/1.1\r\n":                      204,
		"GET /me/unknown HTTP/1.1\r\n" + asUser:         404,
		"PUT /me/consent HTTP/1.1\r\n" + asUser:         405,
	} {
		for _, size := range []int{2 * httpapi.MaxBodySize, 10 * httpapi.MaxBodySize} {
			body := smuggling(size)
			for framing, framed := range map[string]string{
				"length": fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body),
				"chunks": fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body),
			} {
				name := fmt.Sprintf("%.25q with %d bytes by %s", head, len(body), framing)
				w.sendSmuggler(t, name, head+"Host: "+w.host+"\r\n"+framed, status)
			}
		}
	}
	w.hasNoEventsOf(t, victim)
}

// sendSmuggler sends a message and then a second request on the same connection. The server must respond to the
// message. It may then close the connection, or respond to the second request. It must not send any other response.
func (w *world) sendSmuggler(t testing.TB, name, message string, status int) {
	t.Helper()
	connection := w.dial(t)
	var sending sync.WaitGroup
	sending.Go(func() {
		// The server may close the connection after the first response. The write then fails.
		_, _ = fmt.Fprintf(connection, "%sGET /me/consent/last HTTP/1.1\r\nHost: %s\r\n%s: 42\r\nConnection: close\r\n\r\n",
			message, w.host, subjectHeader)
	})
	defer sending.Wait()
	defer connection.Close()

	reader := bufio.NewReader(connection)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Errorf("%s: no response: %v", name, err)
		return
	}
	if got, err := read(response); err != nil || got.status != status {
		t.Errorf("%s: got status %d, want %d: %s, %v", name, got.status, status, got.body, err)
	}
	for {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			if timeout, ok := err.(net.Error); ok && timeout.Timeout() { //nolint:errorlint // only the connection's own
				t.Errorf("%s: the connection hangs", name)
			}
			return
		}
		if got, _ := read(response); got.text("purpose") != "last" {
			t.Errorf("%s: there is an unexpected response: %d %.200s", name, got.status, got.body)
			return
		}
	}
}

// A framework may wait for the first bytes of a body before it calls a handler. The request with a Content-Length
// therefore sends the first half of its body.
func bodyThatNeverArrivesIs504(t testing.TB, harness Harness) {
	w := harness.openAt(t, "/me", httpapi.Config{Timeout: 500 * time.Millisecond})
	want, err := testdata.ReadFile("testdata/problem_504.json")
	require(t, err)
	for framing, sent := range map[string]string{
		"in chunks": "Transfer-Encoding: chunked\r\n\r\n",
		"with a length": fmt.Sprintf(
			"Content-Length: %d\r\n\r\n%s", httpapi.MaxBodySize, strings.Repeat(" ", httpapi.MaxBodySize/2)),
	} {
		connection := w.dial(t)
		require(t, connection.SetDeadline(time.Now().Add(patience/4)))
		_, err := io.WriteString(connection, "POST /me/consent HTTP/1.1\r\nHost: h\r\nUser-Agent: habeas\r\n"+
			subjectHeader+": 42\r\nContent-Type: application/json\r\n"+sent)
		require(t, err)
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			t.Errorf("a body %s that never arrives gets no response: %v", framing, err)
			_ = connection.Close()
			continue
		}
		got, err := read(response)
		assert(t, err == nil && got.status == 504 && got.body == string(want),
			"a body %s that never arrives returned %d %s, %v", framing, got.status, got.body, err)
		_ = connection.Close()
	}
	w.hasOpenedNone(t)
	w.expect(t, 200, post("/consent", decision))
}

// Over HTTP/1.0, a body without Content-Length ends when the server closes the connection. If the server closes the
// connection because the export has failed, the client would take the incomplete body for a complete one.
func exportOverHTTP10IsWholeOrFails(t testing.TB, harness Harness) {
	w := openBulk(t, harness, bulkRows)
	get := func() (received, error) {
		connection := w.dial(t)
		defer connection.Close()
		_, err := io.WriteString(connection, "GET /me/export HTTP/1.0\r\n"+subjectHeader+": "+bulkSubject+"\r\n\r\n")
		require(t, err)
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			return received{}, err
		}
		return read(response)
	}
	if got, err := get(); err != nil || got.status != 200 || strings.Count(got.body, `"source":"carts"`) < bulkRows {
		t.Errorf("over HTTP/1.0, an export without a failure returned %d with %d bytes, %v; want a complete export",
			got.status, len(got.body), err)
	}
	w.sessions.cutExportsAfter(bulkRows - 1)
	if got, err := get(); err == nil && got.status == 200 {
		t.Errorf("a broken export over HTTP/1.0 looks complete: %d bytes", len(got.body))
	}
}
