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

// SubjectProvider returns the subject of a request. It is the only access control: it authenticates the request itself,
// or stands behind a middleware that does.
//
// The response to a *fiber.Error has its status, 401 for fiber.ErrUnauthorized. Headers that the provider sets on the
// context, such as WWW-Authenticate, are sent along. A *httpapi.Refusal does the same without Fiber. The response to
// any other error has the status 500 and nothing of its text.
//
// The subject's strings may point into the request, as those of fiber.Ctx do: the router copies them. c.UserContext()
// ends with the time that the request may take.
type SubjectProvider func(c *fiber.Ctx) (domain.Subject, error)

// Router returns the function that mounts the API, adapted by the options, on an application or a group. It may be
// called more than once. Routes that the application adds later under the same prefix go on working: they get a request
// that no endpoint takes before the response is a problem document.
//
// Package middleware/cache of Fiber must leave the routes out. It ignores Cache-Control: no-store, and stores responses
// under their path alone: it would give one person's data to another. Its Next leaves them out:
//
//	cache.New(cache.Config{Next: func(c *fiber.Ctx) bool {
//		return strings.Contains(c.GetRespHeader(fiber.HeaderCacheControl), "no-store")
//	}})
//
// An export that fails is stored with the status 500. A large export is streamed, and package middleware/compress sends
// it as it is: it would end a stream that fails as if it were complete.
func Router(api *httpapi.API, subject SubjectProvider, options ...httpapi.Option) func(fiber.Router) {
	r := router{api.With(options...), subject}
	return r.mount
}

// Prefix returns the prefix of a group in the form that API.OpenAPI takes, so "/{tenant}/me" for a group on
// "/:tenant/me". The prefix of an application is the one that it is mounted under at present, and empty if it is not
// mounted. The prefix of a group lacks it: a group does not know where its application is mounted.
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
			path += "+" // a wildcard: with UnescapePath, the purpose a%2Fb arrives as two segments
		}
		handler := (&route{r, endpoint, hasPurpose}).handle
		host.Add(endpoint.Method, path, handler)
		if endpoint.Method == http.MethodGet {
			host.Add(http.MethodHead, path, handler)
		}
		if path == "/" {
			host.Add(endpoint.Method, "", handler) // with StrictRouting, "/me" is not "/me/"
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
	request.ContextLasts = r.endpoint.Method == http.MethodGet && !isOfRequest(c) // the others have no stream
	request.Subject = func(ctx context.Context) (domain.Subject, error) { return r.find(ctx, c) }
	return send(c, r.api.Handle(c.UserContext(), r.endpoint, request))
}

// find calls the SubjectProvider under the context.
func (r router) find(ctx context.Context, c *fiber.Ctx) (domain.Subject, error) {
	defer c.SetUserContext(c.UserContext()) //nolint:contextcheck // later handlers get the context of the application
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

// fallback is called after all endpoints, and before the routes that the application has added later under the prefix.
func (r router) fallback(c *fiber.Ctx) error {
	own, path := c.Route(), "/"+wildcard(c)
	err := c.Next()
	if c.Route() != own || !isUnrouted(err) {
		return err // a route of the application has taken it
	}
	if !c.App().Config().CaseSensitive {
		path = strings.ToLower(path)
	}
	response := r.api.Fallback(c.Method(), path)
	if allowed := response.Header.Get(fiber.HeaderAllow); allowed != "" {
		// Fiber has noted the methods of the application's own routes on this path: they are allowed as well.
		c.Append(fiber.HeaderAllow, strings.Split(allowed, ", ")...)
		response.Header = response.Header.Clone()
		response.Header.Del(fiber.HeaderAllow)
	} else {
		c.Response().Header.Del(fiber.HeaderAllow)
	}
	return send(c, response)
}

// isUnrouted reports whether err is the error of Fiber for a request that no route takes.
func isUnrouted(err error) bool {
	var known *fiber.Error
	return errors.As(err, &known) &&
		(known.Code == http.StatusNotFound || known.Code == http.StatusMethodNotAllowed)
}
