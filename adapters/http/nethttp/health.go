package nethttp

import (
	"net/http"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

// Health returns the handler of the probes for all paths under the prefix. It removes the prefix from the path itself.
// The prefix has the same form as for Handler. The handler is safe for concurrent use.
//
// The probes should not be reachable from outside, because a request can run checks of the database. At most one
// request runs checks at a time.
func Health(prefix string, api *httpapi.HealthAPI) http.Handler {
	segments := splitPrefix(prefix)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		send(w, r, api.Route(r.Context(), r.Method, relative(segments, r.URL.EscapedPath())))
	})
}
