package embed_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
)

// These tests check behaviour of Fiber for which package fiberhttp has extra code. If such a test fails after an update
// of Fiber, that code may need a change.

func TestFactFiberOverwritesItsStrings(t *testing.T) {
	for _, mounted := range []bool{false, true} { // Fiber ignores the setting Immutable of a mounted application
		var sent, kept []string
		keep := func(c *fiber.Ctx) error {
			kept = append(kept, c.Params("name"))
			return nil
		}
		server := fiber.New(fiber.Config{DisableStartupMessage: true})
		if mounted {
			sub := fiber.New(fiber.Config{Immutable: true})
			sub.Get("/:name", keep)
			server.Mount("/a", sub)
		} else {
			server.Get("/a/:name", keep)
		}
		address := listen(t, server)
		for i := range 100 { // repeated, because Fiber may use a new buffer
			sent = append(sent, fmt.Sprintf("name-%03d", i))
			get(t, "http://"+address+"/a/"+sent[i])
		}
		if slices.Equal(kept, sent) {
			t.Errorf("mounted=%v: the strings of all requests are still there", mounted)
		}
	}
}

func TestFactAMountedApplicationsSettingsAreIgnored(t *testing.T) {
	sub := fiber.New(fiber.Config{BodyLimit: 3, UnescapePath: true, ErrorHandler: func(c *fiber.Ctx, _ error) error {
		return c.SendString("the sub-application handles")
	}})
	sub.Post("/size", func(c *fiber.Ctx) error { return c.Send(c.Body()) })
	sub.Post("/name/:name", func(c *fiber.Ctx) error { return c.SendString(c.Params("name")) })
	sub.Post("/broken", func(*fiber.Ctx) error { return errHost })
	server := fiber.New()
	server.Mount("/sub", sub)
	for path, want := range map[string]string{
		"/size":      "longer than three bytes", // the reader of a body must check the size
		"/name/a%20": "a%20",                    // the reader must unescape the purpose
		"/broken":    "the sub-application handles",
	} {
		if got := send(t, server, newRequest("", "POST", "/sub"+path, "longer than three bytes")); got.body != want {
			t.Errorf("%s: %s", path, got.body)
		}
	}
}

func TestFactAGroupsErrorsGoToTheHost(t *testing.T) {
	server := fiber.New(fiber.Config{ErrorHandler: func(c *fiber.Ctx, err error) error {
		return c.SendString("the host handles: " + err.Error())
	}})
	server.Group("/me").Get("/export", func(*fiber.Ctx) error { return errHost })
	if got := send(t, server, newRequest("", "GET", "/me/export", "")); got.body != "the host handles: "+errHost.Error() {
		t.Error(got.body)
	}
}

func TestFactTheUserContextHasNoDeadlineAndOutlivesTheClient(t *testing.T) {
	var of context.Context
	server := fiber.New()
	server.Get("/", func(c *fiber.Ctx) error {
		of = c.UserContext()
		return nil
	})
	send(t, server, newRequest("", "GET", "/", ""))
	if _, limited := of.Deadline(); limited || of.Done() != nil {
		t.Error("the context of a request can end")
	}
}

// A panic in a handler ends the process and all other requests. The test provokes the panic in a child process.
func TestFactAPanicKillsTheProcess(t *testing.T) {
	const child = "HABEAS_TEST_PANIC"
	if os.Getenv(child) != "" {
		server := fiber.New(fiber.Config{DisableStartupMessage: true})
		server.Get("/", func(*fiber.Ctx) error { panic(errHost) })
		get(t, "http://"+listen(t, server))
		t.Skip("alive")
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), child+"=1")
	output, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "panic: "+errHost.Error()) {
		t.Errorf("the child lives on: %v\n%s", err, output)
	}
}

// If a request body is longer than the BodyLimit of the host, Fiber calls no route handler. The host's error handler
// creates the response.
func TestFactABodyBeyondTheHostsLimitIsTheHostsToRefuse(t *testing.T) {
	server := fiber.New(fiber.Config{
		DisableStartupMessage: true, BodyLimit: 10,
		ErrorHandler: func(c *fiber.Ctx, err error) error {
			return c.Status(http.StatusTeapot).SendString("the host handles: " + err.Error())
		},
	})
	server.Post("/", func(*fiber.Ctx) error { return nil })
	response, err := http.Post("http://"+listen(t, server), "text/plain", strings.NewReader(strings.Repeat("x", 11)))
	must(t, err)
	if got := read(t, response); got.StatusCode != http.StatusTeapot ||
		!strings.Contains(got.body, "Request Entity Too Large") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

func get(t testing.TB, url string) {
	t.Helper()
	response, err := http.Get(url)
	must(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	must(t, err)
	must(t, response.Body.Close())
}
