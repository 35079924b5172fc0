package httptestsuite

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

// victim is a subject that no request is for, but for those inside of bodies.
const victim = "666"

// smuggling is a body of at least that size that is nothing but erasures of the victim. One begins where a server begins
// that has read nothing of it, and one where a server goes on that has read what it may.
func smuggling(size int) string {
	erasure := func(padding int) string {
		return fmt.Sprintf("DELETE /me HTTP/1.1\r\nHost: h\r\n%s: %s\r\nX: %s\r\n\r\n", subjectHeader, victim, strings.Repeat("x", padding))
	}
	one := erasure(0)
	read := httpapi.MaxBodySize + 1
	whole := strings.Repeat(one, read/len(one)-1) + erasure(read%len(one))
	return whole + strings.Repeat(one, (size-read)/len(one)+1)
}

func whatIsLeftOfABodyIsNoRequest(t testing.TB, harness Harness) {
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

// sendSmuggler sends a message, and behind it a last request. There must be the answer to the message and, if the server
// goes on reading, that to the last request; nothing else.
func (w *world) sendSmuggler(t testing.TB, name, message string, status int) {
	t.Helper()
	connection := w.dial(t)
	var sending sync.WaitGroup
	sending.Go(func() {
		// Fails once the server has closed, which is as it should be.
		_, _ = fmt.Fprintf(connection, "%sGET /me/consent/last HTTP/1.1\r\nHost: %s\r\n%s: 42\r\nConnection: close\r\n\r\n",
			message, w.host, subjectHeader)
	})
	defer sending.Wait()
	defer connection.Close()

	reader := bufio.NewReader(connection)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Errorf("%s: no answer: %v", name, err)
		return
	}
	if got, err := read(response); err != nil || got.status != status {
		t.Errorf("%s: %d %s, %v", name, got.status, got.body, err)
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
			t.Errorf("%s: and there is another answer: %d %.200s", name, got.status, got.body)
			return
		}
	}
}
