package fiberhttp_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

func TestACompressedBodyIsNeverDecompressed(t *testing.T) {
	store := &sessions{}
	host := newHost(t, fiber.Config{})
	host.Route("/me", fiberhttp.Router(newAPI(t, store), byHeader))
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write([]byte(decision))
	require(t, err)
	require(t, writer.Close())

	for _, codings := range [][]string{{"gzip"}, {"identity", "gzip"}, {"GZIP"}, {"identity, gzip"}} {
		request := newRequest("POST", "/me/consent", packed.String())
		request.Header["Content-Encoding"] = codings
		if got := send(t, host, request); got.StatusCode != 415 || store.Opened != 0 {
			t.Errorf("%q: %d %s", codings, got.StatusCode, got.body)
		}
	}
	unlabelled := newRequest("POST", "/me/consent", packed.String())
	if got := send(t, host, unlabelled); got.StatusCode != 400 {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	for _, coding := range []string{"identity", "identity, identity"} { // c.Body() would fail for the second value
		plain := newRequest("POST", "/me/consent", decision)
		plain.Header.Set("Content-Encoding", coding)
		if got := send(t, host, plain); got.StatusCode != 200 {
			t.Errorf("%s: %d %s", coding, got.StatusCode, got.body)
		}
	}
}

func TestTheLimitOfABodyIsTheLimitOfTheAPI(t *testing.T) {
	for _, config := range []fiber.Config{
		{}, {BodyLimit: 1 << 30}, {StreamRequestBody: true}, {StreamRequestBody: true, BodyLimit: 1 << 10},
	} {
		host := newHost(t, config)
		host.Route("/me", fiberhttp.Router(newAPI(t, &sessions{}), byHeader))
		padding := strings.Repeat(" ", httpapi.MaxBodySize-len(decision))
		for body, want := range map[string]int{decision: 200, padding + decision: 200, " " + padding + decision: 413} {
			if got := send(t, host, newRequest("POST", "/me/consent", body)); got.StatusCode != want {
				t.Errorf("%d bytes under %+v: %d", len(body), config.BodyLimit, got.StatusCode)
			}
		}
	}
}

// With StreamRequestBody, the rest of a body may be unread when the handler returns. fasthttp then parses this rest as
// the next request on the connection. The router must therefore close the connection.
func TestTheRestOfABodyIsNotParsedAsARequest(t *testing.T) {
	store := &sessions{}
	host := newHost(t, fiber.Config{StreamRequestBody: true})
	host.Route("/me", fiberhttp.Router(newAPI(t, store), byHeader))
	address := listen(t, host)

	smuggled := "DELETE /me HTTP/1.1\r\nHost: h\r\nX-User: victim\r\n\r\n"
	body := strings.Repeat(" ", 3*httpapi.MaxBodySize) + strings.Repeat(smuggled, 1000)
	for request, want := range map[string]int{
		"POST /me/consent HTTP/1.1\r\nX-User: 42\r\nContent-Type: application/json\r\n": 413,
		"POST /me/consent HTTP/1.1\r\nX-User: 42\r\n":                                   415,
		"POST /me/consent HTTP/1.1\r\n":                                                 401,
		"GET /me/consent/ads HTTP/1.1\r\nX-User: 42\r\n":                                200,
		"GET /me/unknown HTTP/1.1\r\nX-User: 42\r\n":                                    404,
		"PUT /me/consent HTTP/1.1\r\nX-User: 42\r\n":                                    405,
	} {
		store.Opened = 0
		connection, err := net.Dial("tcp", address)
		require(t, err)
		go func() {
			// The write may fail, because the server closes the connection before it has read the complete body.
			_, _ = fmt.Fprintf(connection, "%sHost: h\r\nContent-Length: %d\r\n\r\n%s", request, len(body), body)
		}()
		reader := bufio.NewReader(connection)
		response, err := http.ReadResponse(reader, nil)
		require(t, err)
		if got := read(t, response); got.StatusCode != want || !got.Close {
			t.Errorf("%q: %d, closes: %v", request, got.StatusCode, got.Close)
		}
		response.Body.Close()
		if next, err := http.ReadResponse(reader, nil); err == nil {
			t.Errorf("%q: got a second response: %d", request, next.StatusCode)
			next.Body.Close()
		}
		connection.Close()
	}
}

func TestAStreamedBodyThatIsReadKeepsTheConnection(t *testing.T) {
	host := newHost(t, fiber.Config{StreamRequestBody: true})
	host.Route("/me", fiberhttp.Router(newAPI(t, &sessions{}), byHeader))
	connection, err := net.Dial("tcp", listen(t, host))
	require(t, err)
	defer connection.Close()
	reader := bufio.NewReader(connection)
	for _, body := range []string{decision, strings.Repeat(" ", 40<<10) + decision, "{"} {
		_, err := fmt.Fprintf(connection, "POST /me/consent HTTP/1.1\r\nHost: h\r\nX-User: 42\r\n"+
			"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
		require(t, err)
		response, err := http.ReadResponse(reader, nil)
		require(t, err)
		if got := read(t, response); got.Close || got.StatusCode != 200 && body != "{" {
			t.Errorf("%d bytes: %d %s, closes: %v", len(body), got.StatusCode, got.body, got.Close)
		}
		response.Body.Close()
	}
}

// A read deadline belongs to the connection. The deadline for the body of one request must not apply to the next
// request on the same connection.
func TestTheDeadlineOfABodyEndsWithTheBody(t *testing.T) {
	for _, config := range []fiber.Config{
		{StreamRequestBody: true}, {StreamRequestBody: true, ReadTimeout: time.Minute},
	} {
		host := newHost(t, config)
		config := httpapi.Config{Timeout: 200 * time.Millisecond}
		host.Route("/me", fiberhttp.Router(newAPIOf(t, &sessions{}, config), byHeader))
		connection, err := net.Dial("tcp", listen(t, host))
		require(t, err)
		defer connection.Close()
		reader := bufio.NewReader(connection)
		for i := range 2 {
			if i > 0 {
				<-time.After(2 * config.Timeout) // the server waits for the request
			}
			_, err := fmt.Fprintf(connection, "POST /me/consent HTTP/1.1\r\nHost: h\r\nX-User: 42\r\n"+
				"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
				len(decision), decision)
			require(t, err)
			response, err := http.ReadResponse(reader, nil)
			require(t, err)
			if got := read(t, response); got.StatusCode != 200 || got.Close {
				t.Errorf("%d: %d %s, closes: %v", i, got.StatusCode, got.body, got.Close)
			}
			response.Body.Close()
		}
	}
}
