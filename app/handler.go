package app

import (
	"net/http"
	"strings"

	"github.com/habeas-data/habeas/adapters/http/nethttp"
)

// Handler returns an http.Handler that serves the routes of habeas under the prefix. It works with net/http and with
// every router that accepts an http.Handler. For Fiber see Router, for an http.ServeMux see Mount. The handler is safe
// for concurrent use.
//
//	router.Mount("/me", gdpr.Handler("/me", currentSubject)) // chi does not change the request path
//
// Package nethttp describes the paths, and the use with gin.
//
// The prefix is the part of the request path before the routes, as the handler receives it. For example, it is "/me",
// or "/{tenant}/me" with a parameter, or "" behind http.StripPrefix. Requests for the prefix itself must also reach the
// handler, because DELETE /me is the erasure.
//
// The subject provider is the only access control. No route reads an identifier of a subject from the request itself.
func (i *Integration) Handler(
	prefix string, subject nethttp.SubjectProvider, options ...RouterOption,
) http.Handler {
	api := i.api.With(options...)
	i.mounts.add(func() string { return prefix }, api)
	return nethttp.Handler(prefix, api, subject)
}

// Mount registers the routes of habeas under the prefix on an http.ServeMux:
//
//	gdpr.Mount(mux, "/me", currentSubject)
//
// Here, Mount registers the two patterns "/me" and "/me/". With "/me/" alone, an http.ServeMux would redirect DELETE
// /me, which is the erasure. Mount panics if mux.Handle panics, for example because a pattern is registered already.
// Put middleware, such as authentication, around the mux or around Handler.
func (i *Integration) Mount(
	mux *http.ServeMux, prefix string, subject nethttp.SubjectProvider, options ...RouterOption,
) {
	prefix = "/" + strings.Trim(prefix, "/")
	handler := i.Handler(prefix, subject, options...)
	if prefix != "/" {
		mux.Handle(prefix, handler)
		prefix += "/"
	}
	mux.Handle(prefix, handler)
}
