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
		i.mounts.add(func() string { return fiberhttp.Prefix(router) }, api)
		mount(router)
	}
}

// OpenAPI returns the OpenAPI 3.1 document, in JSON, of exactly the routes that were mounted under the prefix.
//
// The prefix is the one that clients use. It may begin with more than the prefix of the router's own group, because an
// application can be mounted by another one. If the Integration has a single router, OpenAPI accepts any prefix, also
// one that a proxy has changed. Otherwise it returns domain.ErrConfiguration for a prefix under which no router was
// mounted.
func (i *Integration) OpenAPI(prefix string) ([]byte, error) {
	api := i.mounts.at(prefix)
	if api == nil {
		return nil, domain.Misconfigured("app", "no router is mounted under the prefix "+prefix)
	}
	return api.OpenAPI(prefix)
}

// mounts are the places where routers were mounted, for OpenAPI. Fiber does not lead from a prefix back to its router.
type mounts struct {
	mu  sync.Mutex
	all []mounted
}

type mounted struct {
	prefix func() string // a Fiber application knows its own only once it is mounted itself
	api    *httpapi.API
}

func (m *mounts) add(prefix func() string, api *httpapi.API) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, mounted{prefix, api})
}

// at returns the API of the router whose own prefix is the longest end of the prefix, the last one of several. Returns
// nil if there is none. A group does not know where its application is mounted.
func (m *mounts) at(prefix string) (found *httpapi.API) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.all) == 1 {
		return m.all[0].api
	}
	asked, longest := "/"+strings.Trim(prefix, "/"), 0
	for _, router := range m.all {
		own := "/" + strings.Trim(router.prefix(), "/")
		fits := own == asked || own != "/" && strings.HasSuffix(asked, own)
		if fits && len(own) >= longest {
			found, longest = router.api, len(own)
		}
	}
	return found
}
