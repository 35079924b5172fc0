package fiberhttp_test

import (
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/httptestsuite"
	"github.com/habeas-data/habeas/domain"
)

func TestConformance(t *testing.T) {
	subject := func(c *fiber.Ctx) (domain.Subject, error) {
		return httptestsuite.Subject(func(name string) string { return c.Get(name) })
	}
	for name, config := range map[string]fiber.Config{
		"default":   {},
		"immutable": {Immutable: true},
		"streamed":  {StreamRequestBody: true},
		"unescaped": {UnescapePath: true},
		"strict":    {StrictRouting: true, CaseSensitive: true},
		"all different": {
			Immutable: true, StreamRequestBody: true, UnescapePath: true, StrictRouting: true, CaseSensitive: true,
		},
	} {
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
