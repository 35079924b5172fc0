package fiberhttp_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/internal/tests/httpfake"
)

// The client must not read, and the export must exceed the buffers of the connection.
func TestAShutdownDoesNotWaitForASlowReader(t *testing.T) {
	for _, version := range []string{"1.1", "1.0"} {
		store := newLargeStore()
		store.Ended = make(chan error, 1)
		host := newHost(t, fiber.Config{})
		host.Route("/me", fiberhttp.Router(newAPI(t, store), byHeader))
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require(t, err)
		done := make(chan error, 1)
		go func() { done <- host.Listener(httpfake.Narrow{Listener: listener}) }()
		client, err := net.Dial("tcp", listener.Addr().String())
		require(t, err)
		defer client.Close()
		require(t, client.(*net.TCPConn).SetReadBuffer(4<<10))
		_, err = io.WriteString(client, "GET /me/export HTTP/"+version+"\r\nHost: h\r\nX-User: 42\r\n\r\n")
		require(t, err)
		_, err = io.ReadFull(client, make([]byte, 100))
		require(t, err)
		require(t, <-store.Ended) // although the client does not read
		began := time.Now()
		require(t, host.Shutdown())
		require(t, <-done)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("HTTP/%s: the shutdown took %v", version, took)
		}
	}
}
