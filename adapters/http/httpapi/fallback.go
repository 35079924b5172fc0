package httpapi

import (
	"net/http"
	"slices"
	"strings"
)

// Fallback answers a request that no endpoint takes: 404, or, where the path has endpoints for other methods, 405; both
// with a problem document. OPTIONS on such a path is answered 204. The path is relative to the prefix and still
// percent-encoded.
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

// methods lists what the path can be asked with, or nothing for a path that has no endpoint.
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

// match reports whether the path is the endpoint's, and returns the segment that stands for the parameter, if any.
func (e Endpoint) match(path string) (parameter string, ok bool) {
	before, _, hasParameter := strings.Cut(e.Path, "{")
	if !hasParameter {
		return "", path == e.Path
	}
	segment, ok := strings.CutPrefix(path, before)
	return segment, ok && segment != "" && !strings.Contains(segment, "/")
}
