package fiberhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/compress"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/internal/tests/httpfake"
)

// After a request has ended, fasthttp reuses its request object for another request. The work on a stream may continue
// after the client has disconnected, but it must not read the request object any more. The race detector finds such
// reads.
func TestARequestIsNotUsedAfterItsClientHasHungUp(t *testing.T) {
	for name, middleware := range map[string]fiber.Handler{
		"plain":    func(c *fiber.Ctx) error { return c.Next() },
		"compress": compress.New(),
	} {
		t.Run(name, func(t *testing.T) {
			store := newLargeStore()
			store.Ended = make(chan error, 1)
			store.See = func(ctx context.Context) {
				_, _ = ctx.Value("tenant"), ctx.Value(contextKey{})
				_, _ = ctx.Deadline()
				_ = ctx.Err()
				watching, stop := context.WithTimeout(ctx, time.Minute) // as drivers do
				defer stop()
				context.AfterFunc(watching, func() {})
			}
			host := newHost(t, fiber.Config{})
			host.Use(func(c *fiber.Ctx) error {
				c.Locals("tenant", "before")
				c.SetUserContext(c.Context())
				err := c.Next()
				c.Locals("tenant", "after")
				return err
			}, middleware)
			host.Route("/me", fiberhttp.Router(newAPI(t, store), byHeader))
			host.Get("/other", func(c *fiber.Ctx) error {
				c.Locals("tenant", c.Get("X-User"))
				return c.SendString("other")
			})
			address := listen(t, host)
			for i := range 10 {
				client, err := net.Dial("tcp", address)
				require(t, err)
				_, err = fmt.Fprintf(client, "GET /me/export HTTP/1.1\r\nHost: h\r\nX-User: %d\r\nAccept-Encoding: gzip\r\n\r\n", i)
				require(t, err)
				_, err = io.ReadFull(client, make([]byte, 100))
				require(t, err)
				require(t, client.Close())
				for range 5 {
					other, err := host.Test(newRequest("GET", "/other", ""), -1)
					require(t, err)
					other.Body.Close()
				}
				<-store.Ended
				if status, body, err := getExport(t, address); err != nil || status != 200 || !store.IsComplete(body) {
					t.Errorf("the next request: %d with %d bytes, %v", status, len(body), err)
				}
				require(t, <-store.Ended)
			}
		})
	}
}

// Before fasthttp reuses a request object, it closes the stream. Close of the stream waits until the export has
// stopped.
func TestARequestsContextIsNotUsedAfterItsStream(t *testing.T) {
	entered, leave := make(chan context.Context, 100), make(chan struct{})
	store := newLargeStore()
	store.Ended = make(chan error, 1)
	seen := 0
	store.See = func(ctx context.Context) {
		if seen++; seen == httpfake.RecordsUntilCut {
			entered <- ctx
			<-leave
		}
	}
	host := newHost(t, fiber.Config{})
	host.Use(func(c *fiber.Ctx) error {
		c.SetUserContext(context.WithValue(c.Context(), contextKey{}, "of the request"))
		return c.Next()
	})
	host.Route("/me", fiberhttp.Router(newAPI(t, store), byHeader))
	client, err := net.Dial("tcp", listen(t, host))
	require(t, err)
	_, err = io.WriteString(client, "GET /me/export HTTP/1.1\r\nHost: h\r\nX-User: 42\r\n\r\n")
	require(t, err)
	ctx := <-entered
	_, err = io.ReadFull(client, make([]byte, 100)) // the handler has returned
	require(t, err)
	if value := ctx.Value(contextKey{}); value != nil {
		t.Errorf("the work on a stream reads a value of the request: %v", value)
	}
	require(t, client.Close())
	close(leave)
	if err := <-store.Ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
