package nethttp

import (
	"net/http"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

// Health returns the handler of the probes, for everything under the prefix, which it takes off the path itself. The
// prefix has the form of Handler's. It is safe for concurrent use.
//
// It should not be reachable from outside: a request makes checks of the database, one at a time.
func Health(prefix string, api *httpapi.HealthAPI) http.Handler {
	segments := splitPrefix(prefix)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		send(w, r, api.Route(r.Context(), r.Method, relative(segments, r.URL.EscapedPath())))
	})
}
