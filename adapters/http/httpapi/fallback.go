package httpapi

import (
	"net/http"
	"slices"
	"strings"
)

// Fallback returns the response to a request that matches no endpoint:
//
//   - 204 for OPTIONS on the path of an endpoint
//   - 405 for another method on the path of an endpoint that does not support this method
//   - 404 for a path without an endpoint
//
// The responses 404 and 405 are problem documents. The parameter path is relative to the prefix and still
// percent-encoded.
func (a *API) Fallback(method, path string) Response {
	allowed := a.methods(path)
	switch {
	case method == http.MethodOptions && len(allowed) > 0:
		return newResponse(http.StatusNoContent, http.Header{"Allow": {strings.Join(allowed, ", ")}}, nil)
	case len(allowed) == 0 || slices.Contains(allowed, method):
		return noResource.response()
	default:
		notAllowed := problem(http.StatusMethodNotAllowed, "The resource does not support this method.").response()
		notAllowed.Header.Set("Allow", strings.Join(allowed, ", "))
		return notAllowed
	}
}

// methods returns the methods that the endpoints on the path support, or nil if the path has no endpoint.
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

// match reports whether the path is the path of the endpoint. If the endpoint has a path parameter, match returns its
// value.
func (e Endpoint) match(path string) (parameter string, ok bool) {
	before, _, hasParameter := strings.Cut(e.Path, "{")
	if !hasParameter {
		return "", path == e.Path
	}
	segment, ok := strings.CutPrefix(path, before)
	return segment, ok && segment != "" && !strings.Contains(segment, "/")
}
