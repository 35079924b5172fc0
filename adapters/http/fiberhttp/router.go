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

// SubjectProvider says whose data a request is about. It is the only access control there is: it authenticates the
// request itself, or stands behind a middleware that does.
//
// A *fiber.Error is answered with its status, fiber.ErrUnauthorized with 401; headers that the provider sets on the
// context, such as WWW-Authenticate, are sent along. A *httpapi.Refusal does the same without Fiber. Any other error is
// answered with 500 and shown to nobody. The subject's strings may point into the request, as those of fiber.Ctx do:
// they are copied. c.UserContext() ends with the time that the request may take.
type SubjectProvider func(c *fiber.Ctx) (domain.Subject, error)

// Router returns the function that mounts the API, adapted by the options, on an application or a group. It may be
// called more than once. Routes that the application adds later under the same prefix go on working: what no endpoint
// takes is offered to them before it is answered with a problem document.
//
// Package middleware/cache of Fiber must leave the routes out. It ignores Cache-Control: no-store, and keeps responses
// under their path alone: it would give one person's data to another. Its Next leaves them out:
//
//	cache.New(cache.Config{Next: func(c *fiber.Ctx) bool {
//		return strings.Contains(c.GetRespHeader(fiber.HeaderCacheControl), "no-store")
//	}})
//
// What it keeps of an export that fails has the status 500. A large export is streamed, and package middleware/compress
// then sends it as it is: it would end a stream that fails as if it were complete.
func Router(api *httpapi.API, subject SubjectProvider, options ...httpapi.Option) func(fiber.Router) {
	r := router{api.With(options...), subject}
	return r.mount
}

// Prefix returns the prefix of a group in the form that API.OpenAPI takes, so "/{tenant}/me" for a group on
// "/:tenant/me". That of an application is empty: where it is mounted it does not know.
func Prefix(host fiber.Router) string {
	group, ok := host.(*fiber.Group)
	if !ok {
		return ""
	}
	segments := strings.Split(group.Prefix, "/")
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
		handle := r.handler(endpoint)
		if hasPurpose {
			// A wildcard: with UnescapePath, the purpose a%2Fb arrives as two segments.
			path, handle = path+"+", r.purposeHandler(endpoint)
		}
		host.Add(endpoint.Method, path, handle)
		if endpoint.Method == http.MethodGet {
			host.Add(http.MethodHead, path, handle)
		}
		if path == "/" {
			host.Add(endpoint.Method, "", handle) // with StrictRouting, "/me" is not "/me/"
		}
	}
	host.Use("/*", r.fallback)
}

func (r router) handler(endpoint httpapi.Endpoint) fiber.Handler {
	return func(c *fiber.Ctx) error { return r.handle(c, endpoint, "") }
}

func (r router) purposeHandler(endpoint httpapi.Endpoint) fiber.Handler {
	return func(c *fiber.Ctx) error {
		purpose := wildcard(c)
		if strings.Contains(purpose, "/") {
			return c.Next() // more than one segment is not our path
		}
		return r.handle(c, endpoint, purpose)
	}
}

func (r router) handle(c *fiber.Ctx, endpoint httpapi.Endpoint, purpose string) error {
	request := newRequest(c)
	request.Purpose = purpose
	request.ContextLasts = endpoint.Method == http.MethodGet && !isOfRequest(c) // the others have no stream
	request.Subject = func(ctx context.Context) (domain.Subject, error) {
		defer c.SetUserContext(c.UserContext()) //nolint:contextcheck // what comes after us gets its own back
		c.SetUserContext(ctx)
		subject, err := r.subject(c)
		var known *httpapi.Refusal
		var refusal *fiber.Error
		if !errors.As(err, &known) && errors.As(err, &refusal) {
			return domain.Subject{}, &httpapi.Refusal{Status: refusal.Code, Err: err}
		}
		return subject, err
	}
	return send(c, r.api.Handle(c.UserContext(), endpoint, request))
}

// fallback comes after all endpoints, and before whatever the application has added later under the same prefix.
func (r router) fallback(c *fiber.Ctx) error {
	own, path := c.Route(), "/"+wildcard(c)
	err := c.Next()
	if c.Route() != own || !isUnrouted(err) {
		return err // somebody has taken it
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

// isUnrouted reports whether err is what Fiber says when no route takes a request.
func isUnrouted(err error) bool {
	var known *fiber.Error
	return errors.As(err, &known) &&
		(known.Code == http.StatusNotFound || known.Code == http.StatusMethodNotAllowed)
}
