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

// RouterOption is an option of one router.
type RouterOption = httpapi.Option

// WithRestriction adds the routes for the restriction of processing (Art. 18 GDPR). By default, these routes do not
// exist. The routes only record and return restrictions. The application must check for a restriction before it
// processes data.
func WithRestriction() RouterOption { return httpapi.WithRestriction() }

// WithRequests adds the routes of the register of requests: a person opens, reads and withdraws requests. They need
// Config.Requests: without it, they return the status 500.
func WithRequests() RouterOption { return httpapi.WithRequests() }

// WithTags sets the OpenAPI tags of every operation of the router. The default is the tag "gdpr".
func WithTags(tags ...string) RouterOption { return httpapi.WithTags(tags...) }

// WithSession makes one router use the session factory f instead of Integration.Sessions.
func WithSession(f ports.SessionFactory) RouterOption { return httpapi.WithSession(f) }

// Router returns a function that mounts the routes of habeas on a Fiber router. Pass the function to fiber.App.Route,
// or call it with a group:
//
//	server.Route("/me", gdpr.Router(currentSubject))
//	gdpr.Router(currentSubject)(server.Group("/me", authenticate))
//
// The subject provider is the only access control. No route reads an identifier of a subject from the request itself.
func (i *Integration) Router(subject fiberhttp.SubjectProvider, options ...RouterOption) func(fiber.Router) {
	api := i.api.With(options...)
	mount := fiberhttp.Router(api, subject)
	return func(router fiber.Router) {
		i.mounts.add(func() string { return fiberhttp.Prefix(router) }, api)
		mount(router)
	}
}

// OpenAPI returns the OpenAPI 3.1 document of the routes under the prefix, in JSON.
//
// The parameter prefix is the prefix that clients use, such as "/api/me". It may be longer than the prefix of the
// router's own group, such as "/me", because an application can be mounted by another application. OpenAPI finds the
// router as follows:
//
//   - If the Integration has one router, OpenAPI accepts any prefix, because a proxy may have changed the prefix.
//   - Otherwise the prefix of a router must be the end of the parameter prefix. The longest such prefix counts. If
//     there is no such router, OpenAPI returns domain.ErrConfiguration.
func (i *Integration) OpenAPI(prefix string) ([]byte, error) {
	api := i.mounts.find(prefix)
	if api == nil {
		return nil, domain.Misconfigured("app", "no router is mounted under the prefix "+prefix)
	}
	return api.OpenAPI(prefix)
}

// mounts has the prefix and the API of each mounted router. OpenAPI needs this list, because Fiber cannot find a router
// by its prefix.
type mounts struct {
	mu  sync.Mutex
	all []mounted
}

type mounted struct {
	prefix func() string // a function, because a Fiber application gets its prefix only when it is mounted
	api    *httpapi.API
}

func (m *mounts) add(prefix func() string, api *httpapi.API) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, mounted{prefix, api})
}

// find returns the API of a router. The parameter prefix is a prefix that clients use. If there is only one router,
// find returns the API of this router. Otherwise it returns the API of the router whose own prefix is the longest
// suffix of the parameter prefix, or nil if there is none. If several routers have the same prefix, the last one
// counts. The method compares suffixes, because a Fiber group does not know the prefix at which its application is
// mounted.
func (m *mounts) find(prefix string) (found *httpapi.API) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.all) == 1 {
		return m.all[0].api
	}
	requested, longest := "/"+strings.Trim(prefix, "/"), 0
	for _, router := range m.all {
		own := "/" + strings.Trim(router.prefix(), "/")
		fits := own == requested || own != "/" && strings.HasSuffix(requested, own)
		if fits && len(own) >= longest {
			found, longest = router.api, len(own)
		}
	}
	return found
}
