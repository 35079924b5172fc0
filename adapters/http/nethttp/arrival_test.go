package nethttp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/http/nethttp"
)

// The server of net/http reads the rest of a request body before it sends the response. Without a read deadline, a body
// that never arrives would delay the response.
func TestABodyThatNeverArrivesDoesNotDelayTheResponse(t *testing.T) {
	store := newLargeStore(t)
	store.timeout = 300 * time.Millisecond
	server := httptest.NewServer(nethttp.Handler("/me", store.api(t), as42))
	defer server.Close()
	const json = "Content-Type: application/json\r\n"
	for head, want := range map[string]int{
		"POST /me/consent HTTP/1.1\r\n" + json:                         504,
		"POST /me/consent HTTP/1.1\r\nExpect: 100-continue\r\n" + json: 504,
		"POST /me/consent HTTP/1.1\r\nContent-Type: text/plain\r\n":    415,
		"POST /me/unknown HTTP/1.1\r\n":                                404,
		"GET /me/consent/ads HTTP/1.1\r\n":                             200,
		"DELETE /me HTTP/1.1\r\n":                                      200,
	} {
		for _, framing := range []string{
			"Content-Length: 100\r\n\r\n", "Content-Length: 100\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n",
		} {
			began := time.Now()
			client, err := net.Dial("tcp", server.Listener.Addr().String())
			require(t, err)
			require(t, client.SetDeadline(began.Add(10*time.Second)))
			_, err = io.WriteString(client, head+"Host: h\r\n"+framing)
			require(t, err)
			reader := bufio.NewReader(client)
			response, err := http.ReadResponse(reader, nil)
			if err == nil && response.StatusCode == http.StatusContinue {
				response, err = http.ReadResponse(reader, nil)
			}
			if err != nil {
				t.Errorf("%q %q: %v", head, framing, err)
				client.Close()
				continue
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if response.StatusCode != want || err != nil || time.Since(began) > 3*time.Second {
				t.Errorf("%q %q: %d %s after %v, %v", head, framing, response.StatusCode, body, time.Since(began), err)
			}
			client.Close()
		}
	}
}

func TestABodyThatNeverArrivesOverHTTP2(t *testing.T) {
	store := newLargeStore(t)
	store.timeout = 300 * time.Millisecond
	server := httptest.NewUnstartedServer(nethttp.Handler("/me", store.api(t), as42))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	body, sender := io.Pipe()
	defer func() { _ = sender.Close() }()
	response, err := server.Client().Post(server.URL+"/me/consent", "application/json", body)
	require(t, err)
	defer response.Body.Close()
	if response.StatusCode != 504 || response.ProtoMajor != 2 {
		t.Errorf("%d over %s", response.StatusCode, response.Proto)
	}
}

// The read deadline for a body must be removed when the body has arrived. Otherwise the server would later treat the
// expired deadline as a disconnect of the client, and cancel the context of the request.
func TestABodyThatHasArrivedLeavesNoDeadline(t *testing.T) {
	store := newLargeStore(t)
	store.timeout = 500 * time.Millisecond
	ended := make(chan error, 1)
	handler := nethttp.Handler("/me", store.api(t), as42)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		if r.Method == http.MethodPost {
			select {
			case <-r.Context().Done():
				ended <- context.Cause(r.Context())
			case <-time.After(time.Second):
				ended <- nil
			}
		}
	}))
	defer server.Close()
	client, err := net.Dial("tcp", server.Listener.Addr().String())
	require(t, err)
	defer client.Close()
	reader := bufio.NewReader(client)
	const body = `{"granted":true,"policy_version":"v1","purpose":"newsletter"}`
	for range 2 {
		_, err = fmt.Fprintf(client, "POST /me/consent HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"+
			"Content-Length: %d\r\n\r\n%s", len(body), body)
		require(t, err)
		response, err := http.ReadResponse(reader, nil)
		require(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		require(t, err)
		response.Body.Close()
		if err := <-ended; err != nil || response.StatusCode != 200 {
			t.Errorf("%d, and the request ended: %v", response.StatusCode, err)
		}
	}
}

func TestALimitOfTheHostsIs413(t *testing.T) {
	handler := http.MaxBytesHandler(nethttp.Handler("/me", newAPI(t), as42), 100)
	for body, want := range map[string]int{strings.Repeat(" ", 200): 413, "{": 400} {
		request := httptest.NewRequest("POST", "/me/consent", strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		got := httptest.NewRecorder()
		handler.ServeHTTP(got, request)
		if got.Code != want || got.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%d bytes: %d %s", len(body), got.Code, got.Body)
		}
	}
}
