package fiberhttp

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

// SubjectProvider returns the subject of a request. It is the only access control of the API. It must authenticate the
// request, or run behind a middleware that does.
//
// The response to a *fiber.Error has the status of the error, for example 401 for fiber.ErrUnauthorized. Headers that
// the provider sets on c, such as WWW-Authenticate, are sent with the response. A *httpapi.Refusal also sets the status
// and headers. The response to any other error has the status 500 and does not contain the text of the error.
//
// The strings of the subject may point into the request, like the strings of fiber.Ctx, because the router copies them.
// c.UserContext() has the deadline of the request.
type SubjectProvider func(c *fiber.Ctx) (domain.Subject, error)

// Router returns the function that mounts the API, with the options applied, on an application or a group. That
// function may be called more than once. Routes that the application adds later under the same prefix still work. If no
// endpoint matches a request, these routes get it first. If no route matches either, the response is a problem
// document.
//
// Package middleware/cache of Fiber must not cache the routes. It ignores Cache-Control: no-store, and the path alone
// is the key of a cached response. It would therefore send the data of one person to another. The option Next excludes
// the routes:
//
//	cache.New(cache.Config{Next: func(c *fiber.Ctx) bool {
//		return strings.Contains(c.GetRespHeader(fiber.HeaderCacheControl), "no-store")
//	}})
//
// If it caches an export that fails, it stores a response with the status 500. Package middleware/compress does not
// compress a streamed export, because it would finish a stream that fails as if it were complete.
func Router(api *httpapi.API, subject SubjectProvider, options ...httpapi.Option) func(fiber.Router) {
	r := router{api.With(options...), subject}
	return r.mount
}

// Prefix returns the prefix of a group in the form that API.OpenAPI accepts. For example, it returns "/{tenant}/me" for
// a group on "/:tenant/me". For an application, it returns the prefix under which the application is mounted now, or ""
// if it is not mounted. The prefix of a group does not include the mount prefix of its application, because a group
// does not know that prefix.
func Prefix(host fiber.Router) string {
	prefix := ""
	switch host := host.(type) {
	case *fiber.Group:
		prefix = host.Prefix
	case *fiber.App:
		prefix = host.MountPath()
	}
	segments := strings.Split(prefix, "/")
	for i, segment := range segments {
		if name, isParameter := strings.CutPrefix(segment, ":"); isParameter {
			name, _, _ = strings.Cut(strings.TrimSuffix(name, "?"), "<") // "<" begins a constraint
			segments[i] = "{" + name + "}"
		}
	}
	return strings.Join(segments, "/")
}

type router struct {
	api     *httpapi.API
	subject SubjectProvider
}

func (r router) mount(host fiber.Router) {
	for _, endpoint := range r.api.Endpoints() {
		path, _, hasPurpose := strings.Cut(endpoint.Path, "{purpose}")
		if hasPurpose {
			path += "+" // a wildcard, because with UnescapePath the purpose a%2Fb arrives as two segments
		}
		handler := (&route{r, endpoint, hasPurpose}).handle
		host.Add(endpoint.Method, path, handler)
		if endpoint.Method == http.MethodGet {
			host.Add(http.MethodHead, path, handler)
		}
		if path == "/" {
			host.Add(endpoint.Method, "", handler) // with StrictRouting, "/me" and "/me/" are different paths
		}
	}
	host.Use("/*", r.fallback)
}

// route is an endpoint of the API on Fiber.
type route struct {
	router
	endpoint   httpapi.Endpoint
	hasPurpose bool
}

// handle is the fiber.Handler of the route.
func (r *route) handle(c *fiber.Ctx) error {
	purpose := ""
	if r.hasPurpose {
		if purpose = wildcard(c); strings.Contains(purpose, "/") {
			return c.Next() // a path of more segments belongs to the application
		}
	}
	request := newRequest(c)
	request.Purpose = purpose
	request.ContextOutlivesHandle = r.endpoint.Method == http.MethodGet && !isOfRequest(c) // only GET can have a stream
	request.Subject = func(ctx context.Context) (domain.Subject, error) { return r.find(ctx, c) }
	return send(c, r.api.Handle(c.UserContext(), r.endpoint, request))
}

// find calls the SubjectProvider with ctx as the user context.
func (r router) find(ctx context.Context, c *fiber.Ctx) (domain.Subject, error) {
	defer c.SetUserContext(c.UserContext()) //nolint:contextcheck // restores the application's context for later handlers
	c.SetUserContext(ctx)
	subject, err := r.subject(c)
	if err == nil {
		return subject, nil
	}
	var known *httpapi.Refusal
	var refusal *fiber.Error
	if !errors.As(err, &known) && errors.As(err, &refusal) {
		err = &httpapi.Refusal{Status: refusal.Code, Err: err}
	}
	return domain.Subject{}, err
}

// fallback handles requests that match no endpoint. It first calls the routes that the application has added later
// under the prefix, and responds if no such route matches.
func (r router) fallback(c *fiber.Ctx) error {
	own, path := c.Route(), "/"+wildcard(c)
	err := c.Next()
	if c.Route() != own || !isUnrouted(err) {
		return err // a route of the application has handled the request
	}
	if !c.App().Config().CaseSensitive {
		path = strings.ToLower(path)
	}
	response := r.api.Fallback(c.Method(), path)
	if allowed := response.Header.Get(fiber.HeaderAllow); allowed != "" {
		// Fiber has already set the methods of the application's own routes on this path. Allow must list them, too.
		c.Append(fiber.HeaderAllow, strings.Split(allowed, ", ")...)
		response.Header = response.Header.Clone()
		response.Header.Del(fiber.HeaderAllow)
	} else {
		c.Response().Header.Del(fiber.HeaderAllow)
	}
	return send(c, response)
}

// isUnrouted reports whether err is the error of Fiber for a request that matches no route.
func isUnrouted(err error) bool {
	var known *fiber.Error
	return errors.As(err, &known) &&
		(known.Code == http.StatusNotFound || known.Code == http.StatusMethodNotAllowed)
}
