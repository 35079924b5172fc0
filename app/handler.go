package app

import (
	"net/http"
	"strings"

	"github.com/habeas-data/habeas/adapters/http/nethttp"
)

// Handler returns the routes as an http.Handler, for everything under the prefix. It does for net/http, and for every
// router that takes handlers, what Router does for Fiber. It is safe for concurrent use.
//
//	router.Mount("/me", gdpr.Handler("/me", currentSubject)) // chi, which leaves the path as it is
//
// The prefix is the one that the handler sees: "/me", "/{tenant}/me" with a parameter, or "" behind http.StripPrefix.
// The handler needs the requests for the prefix itself, too: DELETE /me is the erasure. For an http.ServeMux see Mount.
//
// The subject provider is the only access control: no route reads an identifier from anywhere else.
func (i *Integration) Handler(
	prefix string, subject nethttp.SubjectProvider, options ...RouterOption,
) http.Handler {
	api := i.api.With(options...)
	i.mounts.add(func() string { return prefix }, api)
	return nethttp.Handler(prefix, api, subject)
}

// Mount mounts the routes under the prefix on an http.ServeMux:
//
//	gdpr.Mount(mux, "/me", currentSubject)
//
// It registers two patterns, "/me" and "/me/": with the second alone, an http.ServeMux would redirect DELETE /me, which
// is the erasure. It panics where mux.Handle would: a pattern is registered already, or is not valid. A middleware, as
// for authentication, goes around the mux, or around Handler.
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
