package nethttp_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/internal/tests/httpfake"
)

// The client must not read, and the export must exceed the buffers of the connection.
func TestAShutdownDoesNotWaitForASlowReader(t *testing.T) {
	for _, version := range []string{"1.1", "1.0"} {
		store := newLargeStore(t)
		server := httptest.NewUnstartedServer(nethttp.Handler("/me", store.api(t), as42))
		server.Listener = httpfake.Narrow{Listener: server.Listener}
		server.Start()
		defer server.Close()
		client, err := net.Dial("tcp", server.Listener.Addr().String())
		require(t, err)
		defer client.Close()
		require(t, client.(*net.TCPConn).SetReadBuffer(4<<10))
		_, err = io.WriteString(client, "GET /me/export HTTP/"+version+"\r\nHost: h\r\n\r\n")
		require(t, err)
		_, err = io.ReadFull(client, make([]byte, 100))
		require(t, err)
		began := time.Now()
		require(t, server.Config.Shutdown(t.Context()))
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("HTTP/%s: the shutdown took %v", version, took)
		}
	}
}

func TestAStreamOfAnUnknownServerIsComplete(t *testing.T) {
	store := newLargeStore(t)
	got := send(t, nethttp.Handler("/me", store.api(t), as42), http.MethodGet, "/me/export")
	if got.Code != http.StatusOK || !store.IsComplete(got.Body.Bytes()) {
		t.Errorf("%d with %d bytes", got.Code, got.Body.Len())
	}
}
