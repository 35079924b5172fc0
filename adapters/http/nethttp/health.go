package nethttp

import (
	"net/http"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

// Health returns an http.Handler that serves the probes under the prefix. The handler itself removes the prefix from
// the path of a request. The prefix has the same form as the prefix of Handler. The handler is safe for concurrent use.
//
// The probes should not be reachable from outside, because a request to a probe can start checks that query the
// database. At most one request runs checks at a time.
func Health(prefix string, api *httpapi.HealthAPI) http.Handler {
	segments := splitPrefix(prefix)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		send(w, r, api.Route(r.Context(), r.Method, relative(segments, r.URL.EscapedPath())))
	})
}
