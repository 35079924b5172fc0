package httptestsuite

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

// A framework may read the beginning of a body before it calls a handler: of the body with a length, enough is sent.
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
			t.Errorf("a body %s that never arrives gets no answer: %v", framing, err)
			_ = connection.Close()
			continue
		}
		got, err := read(response)
		assert(t, err == nil && got.status == 504 && got.body == string(want),
			"a body %s that never arrives is answered with %d %s, %v", framing, got.status, got.body, err)
		_ = connection.Close()
	}
	w.hasOpenedNone(t)
	w.expect(t, 200, post("/consent", decision))
}

// The end of a body without a length looks like that of a connection that was broken off.
func exportOverHTTP10IsWholeOrFails(t testing.TB, harness Harness) {
	w := openHoard(t, harness)
	get := func() (answer, error) {
		connection := w.dial(t)
		defer connection.Close()
		_, err := io.WriteString(connection, "GET /me/export HTTP/1.0\r\n"+subjectHeader+": "+hoarder+"\r\n\r\n")
		require(t, err)
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			return answer{}, err
		}
		return read(response)
	}
	if got, err := get(); err != nil || got.status != 200 || strings.Count(got.body, `"source":"carts"`) < hoard {
		t.Errorf("a sound export over HTTP/1.0: %d with %d bytes, %v", got.status, len(got.body), err)
	}
	w.sessions.cutExportsAfter(hoard - 1)
	if got, err := get(); err == nil && got.status == 200 {
		t.Errorf("a broken export over HTTP/1.0 looks whole: %d bytes", len(got.body))
	}
}
