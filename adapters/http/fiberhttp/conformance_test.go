package fiberhttp_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/httptestsuite"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/racedetector"
)

// With the race detector, only the configurations with no option and with all options are tested. Without it, each
// option is also tested alone.
func TestConformance(t *testing.T) {
	subject := func(c *fiber.Ctx) (domain.Subject, error) {
		return httptestsuite.Subject(func(name string) string { return c.Get(name) })
	}
	configs := map[string]fiber.Config{
		"default": {},
		"all different": {
			Immutable: true, StreamRequestBody: true, UnescapePath: true, StrictRouting: true, CaseSensitive: true,
		},
	}
	if !racedetector.Enabled {
		maps.Copy(configs, map[string]fiber.Config{
			"immutable": {Immutable: true},
			"streamed":  {StreamRequestBody: true},
			"unescaped": {UnescapePath: true},
			"strict":    {StrictRouting: true, CaseSensitive: true},
		})
	}
	for name, config := range configs {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			waived := map[string]string{}
			if !config.StreamRequestBody {
				waived["body that never arrives is 504"] = "Fiber reads a body before it calls a handler; see ReadTimeout"
			}
			httptestsuite.Test(t, httptestsuite.Harness{
				Waive: waived,
				Serve: func(t testing.TB, api *httpapi.API, prefix string) string {
					t.Helper()
					host := newHost(t, config)
					fiberhttp.Router(api, subject)(host.Group(prefix))
					return "http://" + listen(t, host)
				},
			})
		})
	}
}
