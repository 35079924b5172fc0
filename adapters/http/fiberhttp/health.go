package fiberhttp

import (
	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

// Health returns a function that mounts the probes on an application or a group. This function may be called more
// than once.
//
// The probes should not be reachable from outside, because a request to a probe can start checks that query the
// database. At most one request runs checks at a time.
func Health(api *httpapi.HealthAPI) func(fiber.Router) {
	return func(host fiber.Router) {
		for _, path := range []string{httpapi.LivePath, httpapi.ReadyPath} {
			host.All(path, func(c *fiber.Ctx) error {
				return send(c, api.Route(c.UserContext(), c.Method(), path))
			})
		}
	}
}
