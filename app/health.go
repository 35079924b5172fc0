package app

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/health"
)

// checkHealth wires the checks of the store and of the worker of this process.
func (i *Integration) checkHealth(c Config) (err error) {
	options := c.Health
	options.LateAfter = cmp.Or(options.LateAfter, c.Saga.LateAfter)
	i.checker, err = i.stack.Health(health.Config{
		Clock: c.Clock, Worker: i.worker, PollInterval: c.PollInterval, Options: options,
	})
	if err != nil {
		return err
	}
	i.health, err = httpapi.NewHealth(i.checker, c.Logger)
	return err
}

// Health checks whether this process can serve requests, and whether a person should look at the outbox. It returns
// within Config.Health.Timeout.
//
// A process is ready if the database can be reached, all migrations are applied, and the worker, if it runs in this
// process, was seen to work lately. It is degraded if the outbox has entries that were given up or that are late.
func (i *Integration) Health(ctx context.Context) domain.Health { return i.checker.Check(ctx) }

// HealthHandler returns the probes as an http.Handler, for everything under the prefix: GET /live and GET /ready. The
// first one has the status 200 if the process responds. The second one has the status 200 if it is ready, and
// otherwise 503; its body is that of Health. It is safe for concurrent use.
//
// The probes need no authentication, and should not be reachable from outside.
func (i *Integration) HealthHandler(prefix string) http.Handler {
	return nethttp.Health(prefix, i.health)
}

// MountHealth mounts the probes under the prefix on an http.ServeMux:
//
//	gdpr.MountHealth(mux, "/health") // GET /health/live and GET /health/ready
//
// It panics where mux.Handle would.
func (i *Integration) MountHealth(mux *http.ServeMux, prefix string) {
	prefix = strings.TrimRight("/"+strings.Trim(prefix, "/"), "/")
	handler := i.HealthHandler(prefix)
	mux.Handle(prefix+httpapi.LivePath, handler)
	mux.Handle(prefix+httpapi.ReadyPath, handler)
}

// HealthRouter returns the function that mounts the probes, for fiber.App.Route or called on a group:
//
//	server.Route("/health", gdpr.HealthRouter()) // GET /health/live and GET /health/ready
//
// They are those of HealthHandler.
func (i *Integration) HealthRouter() func(fiber.Router) { return fiberhttp.Health(i.health) }
