package app

import (
	"context"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/domain/health"
)

// Health checks whether this process can serve requests, and whether a person should act. Health returns within
// Config.Health.Timeout.
//
// A process is ready if the database can be reached and has the tables of this version and data map. If the worker runs
// in this process, it must also have shown activity recently. A process is degraded if a person should act, for example
// because the outbox has entries that were given up. See health.Health.
func (i *Integration) Health(ctx context.Context) health.Health { return i.checker.Check(ctx) }

// HealthHandler returns an http.Handler that serves the probes GET /live and GET /ready under the prefix. GET /live
// responds with status 200. GET /ready responds with status 200 if the process is ready, and with 503 otherwise. The
// body of GET /ready is the result of Health. The handler is safe for concurrent use.
//
// The probes need no authentication. Do not make them reachable from outside.
func (i *Integration) HealthHandler(prefix string) http.Handler {
	return nethttp.Health(prefix, i.health)
}

// MountHealth registers the probes under the prefix on an http.ServeMux:
//
//	gdpr.MountHealth(mux, "/health") // GET /health/live and GET /health/ready
//
// MountHealth panics if mux.Handle panics.
func (i *Integration) MountHealth(mux *http.ServeMux, prefix string) {
	prefix = strings.TrimRight("/"+strings.Trim(prefix, "/"), "/")
	handler := i.HealthHandler(prefix)
	mux.Handle(prefix+httpapi.LivePath, handler)
	mux.Handle(prefix+httpapi.ReadyPath, handler)
}

// HealthRouter returns a function that mounts the probes of HealthHandler on a Fiber router. Pass the function to
// fiber.App.Route, or call it with a group:
//
//	server.Route("/health", gdpr.HealthRouter()) // GET /health/live and GET /health/ready
func (i *Integration) HealthRouter() func(fiber.Router) { return fiberhttp.Health(i.health) }
