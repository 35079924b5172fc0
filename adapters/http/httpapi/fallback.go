package httpapi

import (
	"net/http"
	"slices"
	"strings"
)

// Fallback returns the response to a request that matches no endpoint. The status is 405 if the path has endpoints for
// other methods, and otherwise 404. Both responses are problem documents. The status is 204 for OPTIONS on a path that
// has endpoints. The path is relative to the prefix and still percent-encoded.
func (a *API) Fallback(method, path string) Response {
	allowed := a.methods(path)
	switch {
	case method == http.MethodOptions && len(allowed) > 0:
		return newResponse(http.StatusNoContent, http.Header{"Allow": {strings.Join(allowed, ", ")}}, nil)
	case len(allowed) == 0 || slices.Contains(allowed, method):
		return problem(http.StatusNotFound, "There is no such resource.").response()
	default:
		notAllowed := problem(http.StatusMethodNotAllowed, "The resource does not support this method.").response()
		notAllowed.Header.Set("Allow", strings.Join(allowed, ", "))
		return notAllowed
	}
}

// methods returns the methods of the path, or nil for a path that has no endpoint.
func (a *API) methods(path string) []string {
	var methods []string
	for _, endpoint := range a.endpoints {
		if _, ok := endpoint.match(path); !ok {
			continue
		}
		methods = append(methods, endpoint.Method)
		if endpoint.Method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	if methods != nil {
		methods = append(methods, http.MethodOptions)
	}
	return methods
}

// match reports whether the path belongs to the endpoint. It returns the value of the path parameter, if the endpoint
// has one.
func (e Endpoint) match(path string) (parameter string, ok bool) {
	before, _, hasParameter := strings.Cut(e.Path, "{")
	if !hasParameter {
		return "", path == e.Path
	}
	segment, ok := strings.CutPrefix(path, before)
	return segment, ok && segment != "" && !strings.Contains(segment, "/")
}
