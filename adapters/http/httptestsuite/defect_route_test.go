package httptestsuite

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

func routeDefects() defects {
	return defects{
		"no OPTIONS": {editing(func(r *http.Request, response *httptest.ResponseRecorder) {
			if r.Method == http.MethodOptions {
				response.Code = 404
			}
		}), found{"OPTIONS /restriction: got status 404": {restrictionRoutesAreOptional}}},
		"no Allow": {without("Allow"), found{`allows [""]`: {optionsNamesTheMethods, otherMethodsAreRefused}}},
		"a method too many in Allow": {editing(func(_ *http.Request, response *httptest.ResponseRecorder) {
			if allow := response.Header().Get("Allow"); allow != "" {
				response.Header().Set("Allow", allow+", PATCH")
			}
		}), found{`"PATCH"`: {optionsNamesTheMethods, otherMethodsAreRefused}}},
		"404 for an unknown method": {turning(405, 404), found{"got status 404, want 405": {otherMethodsAreRefused}}},
		"a path with one method only": {editing(func(r *http.Request, response *httptest.ResponseRecorder) {
			if r.URL.Path == "/me/consent" && r.Method != http.MethodPost && response.Code == 200 {
				response.Code = 405
			}
		}), found{"got status 405, want 200": {purposesThatAreDeclaredAreListed}}},
		"everything below an endpoint": {rewriting(func(escaped string) string {
			if path, _, ok := strings.Cut(escaped, "/export/"); ok {
				return path + "/export"
			}
			return escaped
		}), found{"got status 200, want 404": {otherPathsAreNotFound}}},
		"an erasure without a slash only": {rewriting(func(escaped string) string {
			if escaped == "/me/" {
				return "/me/nothing"
			}
			return escaped
		}), found{"got status 404, want 200": {erasureIsAtThePrefixItself}}},
		"one prefix": {Harness{Serve: func(t testing.TB, api *httpapi.API, _ string) string {
			return serving(unchanged).Serve(t, api, "/me")
		}}, found{"got status 404, want 200": {everyPrefixWillDo}}},
		"restriction for all": {Harness{Serve: func(t testing.TB, api *httpapi.API, prefix string) string {
			return serving(unchanged).Serve(t, api.With(httpapi.WithRestriction()), prefix)
		}}, found{"got status 200, want 404": {restrictionRoutesAreOptional}}},
	}
}
