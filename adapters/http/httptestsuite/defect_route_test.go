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
		"no OPTIONS": {editing(func(r *http.Request, answer *httptest.ResponseRecorder) {
			if r.Method == http.MethodOptions {
				answer.Code = 404
			}
		}), found{"OPTIONS /restriction: 404": {restrictionRoutesAreOptional}}},
		"no Allow": {without("Allow"), found{`allows [""]`: {optionsNamesTheMethods, otherMethodsAreRefused}}},
		"a method too many in Allow": {editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
			if allow := answer.Header().Get("Allow"); allow != "" {
				answer.Header().Set("Allow", allow+", PATCH")
			}
		}), found{`"PATCH"`: {optionsNamesTheMethods, otherMethodsAreRefused}}},
		"no method is not found": {turning(405, 404), found{"answered 404 and not 405": {otherMethodsAreRefused}}},
		"a path with one method only": {editing(func(r *http.Request, answer *httptest.ResponseRecorder) {
			if r.URL.Path == "/me/consent" && r.Method != http.MethodPost && answer.Code == 200 {
				answer.Code = 405
			}
		}), found{"answered 405 and not 200": {purposesThatAreDeclaredAreListed}}},
		"everything below an endpoint": {rewriting(func(escaped string) string {
			if path, _, ok := strings.Cut(escaped, "/export/"); ok {
				return path + "/export"
			}
			return escaped
		}), found{"answered 200 and not 404": {otherPathsAreNotFound}}},
		"an erasure without a slash only": {rewriting(func(escaped string) string {
			if escaped == "/me/" {
				return "/me/nothing"
			}
			return escaped
		}), found{"answered 404 and not 200": {erasureIsAtThePrefixItself}}},
		"one prefix": {Harness{Serve: func(t testing.TB, api *httpapi.API, _ string) string {
			return serving(unchanged).Serve(t, api, "/me")
		}}, found{"answered 404 and not 200": {everyPrefixWillDo}}},
		"restriction for all": {Harness{Serve: func(t testing.TB, api *httpapi.API, prefix string) string {
			return serving(unchanged).Serve(t, api.With(httpapi.WithRestriction()), prefix)
		}}, found{"answered 200 and not 404": {restrictionRoutesAreOptional}}},
	}
}
