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
// the provider sets on c, such as WWW-Authenticate, are sent with the response. A *httpapi.StatusError also sets the
// status and headers. The response to any other error has the status 500 and does not contain the text of the error.
//
// The strings of the subject may point into the request, like the strings of fiber.Ctx, because the router copies them.
// c.UserContext() has the deadline of the request.
type SubjectProvider func(c *fiber.Ctx) (domain.Subject, error)

// Router returns a function that mounts the API, with the options applied, on an application or a group. The returned
// function may be called more than once.
//
// The application may add further routes under the same prefix later. A request that matches no endpoint of the API is
// passed to these routes. If none of them matches, the response is a problem document.
//
// Do not let package middleware/cache of Fiber cache the responses of the API. It would send the data of one person to
// another person, because it ignores Cache-Control: no-store and finds a cached response only by its path. Exclude the
// responses of the API with the option Next of that package:
//
//	cache.New(cache.Config{Next: func(c *fiber.Ctx) bool {
//		return strings.Contains(c.GetRespHeader(fiber.HeaderCacheControl), "no-store")
//	}})
//
// Package middleware/compress of Fiber does not compress a streamed export, because the router removes the header
// Accept-Encoding of the request. Otherwise, if an export failed, compress would end the body as if it were complete.
func Router(api *httpapi.API, subject SubjectProvider, options ...httpapi.Option) func(fiber.Router) {
	r := router{api.With(options...), subject}
	return r.mount
}

// Prefix returns the prefix of a group in the form that API.OpenAPI accepts. For example, it returns "/{tenant}/me" for
// a group on "/:tenant/me". For an application, it returns the prefix under which the application is mounted now, or ""
// if the application is not mounted. The prefix of a group does not include the prefix under which its application is
// mounted, because a group does not know that prefix.
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
			name, _, _ = strings.Cut(strings.TrimSuffix(name, "?"), "<") // the text after "<" is a constraint
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
		path, _, hasParameter := strings.Cut(endpoint.Path, "{")
		if hasParameter {
			path += "+" // a wildcard, because with UnescapePath the parameter a%2Fb arrives as two segments
		}
		handler := (&route{r, endpoint, hasParameter}).handle
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

// route serves one endpoint of the API.
type route struct {
	router
	endpoint     httpapi.Endpoint
	hasParameter bool
}

// handle is the fiber.Handler of the route.
func (r *route) handle(c *fiber.Ctx) error {
	if endsInSlashes(c) {
		return c.Next() // Fiber has cut off a segment, so this is another path
	}
	parameter := ""
	if r.hasParameter {
		if parameter = wildcard(c); strings.Contains(parameter, "/") {
			return c.Next() // the API has no path with a further segment
		}
	}
	request := r.newRequest(c)
	request.Parameter = parameter
	request.ContextOutlivesHandle = r.endpoint.Method == http.MethodGet && !isOfRequest(c) // only GET can have a stream
	return send(c, r.api.Handle(c.UserContext(), r.endpoint, request))
}

// find calls the SubjectProvider. During the call, ctx is the user context of c.
func (r router) find(ctx context.Context, c *fiber.Ctx) (domain.Subject, error) {
	defer c.SetUserContext(c.UserContext()) //nolint:contextcheck // restores the application's context for later handlers
	c.SetUserContext(ctx)
	subject, err := r.subject(c)
	if err == nil {
		return subject, nil
	}
	var known *httpapi.StatusError
	var refusal *fiber.Error
	if !errors.As(err, &known) && errors.As(err, &refusal) {
		err = &httpapi.StatusError{Status: refusal.Code, Err: err}
	}
	return domain.Subject{}, err
}

// fallback handles requests that Fiber has matched with no endpoint. It first calls the routes that the application has
// added later under the prefix, and responds if no such route matches.
func (r router) fallback(c *fiber.Ctx) error {
	own, path := c.Route(), "/"+wildcard(c)
	err := c.Next()
	if c.Route() != own || !isUnrouted(err) {
		return err // a route of the application has handled the request
	}
	if !c.App().Config().CaseSensitive {
		path = strings.ToLower(path)
	}
	response := r.api.Route(c.UserContext(), c.Method(), path, r.newRequest(c))
	allowed := response.Header.Get(fiber.HeaderAllow)
	if allowed == "" || endsInSlashes(c) { // the header Allow that Fiber has set is that of another path
		c.Response().Header.Del(fiber.HeaderAllow)
	}
	if allowed != "" {
		// Fiber has already set the header Allow to the methods of the application's own routes on this path. The methods of
		// the API are added to them.
		c.Append(fiber.HeaderAllow, strings.Split(allowed, ", ")...)
		response.Header = response.Header.Clone()
		response.Header.Del(fiber.HeaderAllow)
	}
	return send(c, response)
}

// isUnrouted reports whether err can be the error that Fiber returns for a request without a matching route.
func isUnrouted(err error) bool {
	var known *fiber.Error
	return errors.As(err, &known) &&
		(known.Code == http.StatusNotFound || known.Code == http.StatusMethodNotAllowed)
}
