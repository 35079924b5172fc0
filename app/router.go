package app

import (
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// RouterOption adapts one router.
type RouterOption = httpapi.Option

// WithRestriction adds the routes for the restriction of processing (Art. 18 GDPR). By default there are none.
func WithRestriction() RouterOption { return httpapi.WithRestriction() }

// WithTags puts the tags on every operation of the router in the OpenAPI document. The default is the tag "gdpr".
func WithTags(tags ...string) RouterOption { return httpapi.WithTags(tags...) }

// WithSession makes one router take its sessions from f instead of Integration.Sessions.
func WithSession(f ports.SessionFactory) RouterOption { return httpapi.WithSession(f) }

// Router returns the function that mounts the routes, for fiber.App.Route or called on a group:
//
//	server.Route("/me", gdpr.Router(currentSubject))
//	gdpr.Router(currentSubject)(server.Group("/me", authenticate))
//
// The subject provider is the only access control: no route reads an identifier from anywhere else.
func (i *Integration) Router(subject fiberhttp.SubjectProvider, options ...RouterOption) func(fiber.Router) {
	api := i.api.With(options...)
	mount := fiberhttp.Router(api, subject)
	return func(router fiber.Router) {
		i.mounts.add(fiberhttp.Prefix(router), api)
		mount(router)
	}
}

// OpenAPI returns the OpenAPI 3.1 document, in JSON, of exactly the routes that were mounted under the prefix.
//
// If the Fiber application is itself mounted by another one, the Integration does not know the outer part of the
// prefix. If the Integration has a single router, OpenAPI therefore accepts any prefix. Otherwise it returns
// domain.ErrConfiguration for a prefix under which no router was mounted.
func (i *Integration) OpenAPI(prefix string) ([]byte, error) {
	api, ok := i.mounts.at(prefix)
	if !ok {
		return nil, domain.Misconfigured("app", "no router is mounted under the prefix "+prefix)
	}
	return api.OpenAPI(prefix)
}

// mounts has the API of each prefix, for OpenAPI. Fiber does not lead from a prefix back to its router.
type mounts struct {
	mu  sync.Mutex
	all map[string]*httpapi.API
}

func (m *mounts) add(prefix string, api *httpapi.API) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[string]*httpapi.API{}
	}
	m.all[strings.TrimSuffix(prefix, "/")] = api
}

func (m *mounts) at(prefix string) (*httpapi.API, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if api, ok := m.all[strings.TrimSuffix(prefix, "/")]; ok {
		return api, true
	}
	if len(m.all) == 1 {
		for _, api := range m.all {
			return api, true
		}
	}
	return nil, false
}
