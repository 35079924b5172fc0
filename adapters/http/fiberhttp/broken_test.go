package fiberhttp_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/gofiber/fiber/v2/middleware/compress"
	"github.com/gofiber/fiber/v2/middleware/etag"
	"github.com/gofiber/fiber/v2/middleware/logger"
	"github.com/gofiber/fiber/v2/middleware/recover"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/internal/tests/httpfake"
)

// copying is a middleware that reads the stream of a response itself, for example to keep a copy of the response. It
// ignores errors of the stream.
func copying(c *fiber.Ctx) error {
	err := c.Next()
	if stream := c.Response().BodyStream(); stream != nil {
		body, _ := io.ReadAll(stream)
		c.Response().SetBody(body)
	}
	return err
}

// caching is a middleware that stores one response. It does the same steps as package middleware/cache of Fiber, in the
// same order. The tests do not use that package, because it depends on one more module.
func caching() fiber.Handler {
	var body, contentType, coding []byte
	status := 0
	var mu sync.Mutex
	return func(c *fiber.Ctx) error {
		mu.Lock()
		defer mu.Unlock()
		if status != 0 {
			c.Response().SetBodyRaw(body)
			c.Response().SetStatusCode(status)
			c.Response().Header.SetContentTypeBytes(contentType)
			if len(coding) > 0 {
				c.Response().Header.SetBytesV(fiber.HeaderContentEncoding, coding)
			}
			return nil
		}
		if err := c.Next(); err != nil {
			return err
		}
		body = bytes.Clone(c.Response().Body())
		status = c.Response().StatusCode()
		contentType = bytes.Clone(c.Response().Header.ContentType())
		coding = bytes.Clone(c.Response().Header.Peek(fiber.HeaderContentEncoding))
		return nil
	}
}

func TestABrokenExportNeverLooksComplete(t *testing.T) {
	logging := logger.New(logger.Config{Format: "${status} ${resBody}\n", Output: io.Discard})
	for name, middlewares := range map[string]func() []fiber.Handler{
		"alone":    func() []fiber.Handler { return []fiber.Handler{} },
		"recover":  func() []fiber.Handler { return []fiber.Handler{recover.New()} },
		"compress": func() []fiber.Handler { return []fiber.Handler{compress.New()} },
		"fast compress": func() []fiber.Handler {
			return []fiber.Handler{compress.New(compress.Config{Level: compress.LevelBestSpeed})}
		},
		"etag":                      func() []fiber.Handler { return []fiber.Handler{etag.New()} },
		"weak etag":                 func() []fiber.Handler { return []fiber.Handler{etag.New(etag.Config{Weak: true})} },
		"cache":                     func() []fiber.Handler { return []fiber.Handler{caching()} },
		"cache outside of compress": func() []fiber.Handler { return []fiber.Handler{caching(), compress.New()} },
		"logged body":               func() []fiber.Handler { return []fiber.Handler{logging} },
		"copied body":               func() []fiber.Handler { return []fiber.Handler{copying} },
		"etag outside of compress":  func() []fiber.Handler { return []fiber.Handler{etag.New(), compress.New()} },
		"etag inside of compress":   func() []fiber.Handler { return []fiber.Handler{compress.New(), etag.New()} },
		"cache inside of compress":  func() []fiber.Handler { return []fiber.Handler{compress.New(), caching()} },
		"log outside of compress":   func() []fiber.Handler { return []fiber.Handler{logging, compress.New()} },
		"all of them": func() []fiber.Handler {
			return []fiber.Handler{recover.New(), logging, compress.New(), etag.New(), caching()}
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			serve := func(store *httpfake.Large) string {
				host := newHost(t, fiber.Config{})
				for _, middleware := range middlewares() {
					host.Use(middleware)
				}
				host.Route("/me", fiberhttp.Router(newAPI(t, store), byHeader))
				return listen(t, host)
			}
			store := newLargeStore()
			address := serve(store)
			store.Cut.Store(true)
			for range 2 { // the second response may come from a cache
				if status, body, err := getExport(t, address); err == nil && status == 200 {
					t.Errorf("a broken export of %d bytes looks complete; is it JSON: %v", len(body), json.Valid(body))
				} else if json.Valid(body) {
					t.Errorf("%d with %d bytes of JSON, %v", status, len(body), err)
				}
			}
			healthy := newLargeStore()
			if status, body, err := getExport(t, serve(healthy)); err != nil || status != 200 || !healthy.IsComplete(body) {
				t.Errorf("an export without a failure: %d with %d bytes, %v", status, len(body), err)
			}
		})
	}
}

// Package middleware/compress of Fiber must not compress a stream. If the stream failed, compress would finish the
// compressed body, and the next middlewares would take it for a complete document.
func TestAStreamIsNotCompressed(t *testing.T) {
	store := newLargeStore()
	host := newHost(t, fiber.Config{})
	host.Use(compress.New())
	host.Route("/me", fiberhttp.Router(newAPI(t, store), byHeader))
	address := listen(t, host)
	for _, accepted := range []string{"gzip", "br", "deflate", "gzip, br;q=0.5"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/me/export", nil)
		require(t, err)
		request.Header.Set("X-User", "42")
		request.Header.Set("Accept-Encoding", accepted)
		response, err := http.DefaultClient.Do(request)
		require(t, err)
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if coding := response.Header.Get("Content-Encoding"); err != nil || coding != "" || !store.IsComplete(body) {
			t.Errorf("%s: %d bytes in %q, %v", accepted, len(body), coding, err)
		}
	}
}

func TestAnExportOverHTTP10HasALength(t *testing.T) {
	for _, connection := range []string{"", "Connection: keep-alive\r\n"} {
		store := newLargeStore()
		host := newHost(t, fiber.Config{})
		host.Route("/me", fiberhttp.Router(newAPI(t, store), byHeader))
		address := listen(t, host)
		get := func(method string) (int, int64, []byte) {
			client, err := net.Dial("tcp", address)
			require(t, err)
			defer client.Close()
			_, err = io.WriteString(client, method+" /me/export HTTP/1.0\r\nX-User: 42\r\n"+connection+"\r\n")
			require(t, err)
			response, err := http.ReadResponse(bufio.NewReader(client), &http.Request{Method: method})
			require(t, err)
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			require(t, err)
			return response.StatusCode, response.ContentLength, body
		}
		if status, length, body := get("GET"); status != 200 || int(length) != len(body) || !store.IsComplete(body) {
			t.Errorf("%d with %d of %d bytes", status, len(body), length)
		}
		store.Cut.Store(true)
		for _, method := range []string{"GET", "HEAD"} {
			if status, _, _ := get(method); status != 500 {
				t.Errorf("%s: %d", method, status)
			}
		}
	}
}

func TestAHeadOfABrokenExportIsAFailure(t *testing.T) {
	store := newLargeStore()
	store.Cut.Store(true)
	host := newHost(t, fiber.Config{})
	host.Route("/me", fiberhttp.Router(newAPI(t, store), byHeader))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodHead, "http://"+listen(t, host)+"/me/export", nil)
	require(t, err)
	request.Header.Set("X-User", "42")
	response, err := http.DefaultClient.Do(request)
	require(t, err)
	defer response.Body.Close()
	if response.StatusCode != 500 {
		t.Errorf("%d", response.StatusCode)
	}
}

// A request from Fiber's adaptor or from App.Test has no connection that the handler could close on a failure.
func TestAnExportWithoutAConnectionIsBuffered(t *testing.T) {
	store := newLargeStore()
	host := newHost(t, fiber.Config{})
	host.Route("/me", fiberhttp.Router(newAPI(t, store), byHeader))
	server := httptest.NewServer(adaptor.FiberApp(host))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	if status, body, err := getExport(t, address); err != nil || status != 200 || !store.IsComplete(body) {
		t.Errorf("%d with %d bytes, %v", status, len(body), err)
	}
	store.Cut.Store(true)
	if status, _, err := getExport(t, address); err != nil || status != 500 {
		t.Errorf("%d, %v", status, err)
	}
	got := send(t, host, newRequest("GET", "/me/export", ""))
	if got.StatusCode != 500 || got.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}
