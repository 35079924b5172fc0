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
		}), found{
			"answered 404 and not 204": {optionsNamesTheMethods}, "OPTIONS /restriction: 404": {restrictionIsThereWhenAskedFor},
			": 404 ": {whatIsLeftOfABodyIsNoRequest},
		}},
		"no Allow": {
			editing(func(_ *http.Request, answer *httptest.ResponseRecorder) { answer.Header().Del("Allow") }),
			found{`allows [""]`: {optionsNamesTheMethods, otherMethodsAreRefused}},
		},
		"a method too many in Allow": {editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
			if allow := answer.Header().Get("Allow"); allow != "" {
				answer.Header().Set("Allow", allow+", PATCH")
			}
		}), found{`"PATCH"`: {optionsNamesTheMethods, otherMethodsAreRefused}}},
		"no method is not found": {editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
			if answer.Code == 405 {
				answer.Code = 404
			}
		}), found{
			"answered 404 and not 405": {
				problemsAreAnsweredExactly, problemsAreProblemJSONThatIsNotStored, otherMethodsAreRefused, everyPrefixWillDo,
			},
			": 404 ": {whatIsLeftOfABodyIsNoRequest},
		}},
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
		"one prefix": {Harness{crowd: 40, Serve: func(t testing.TB, api *httpapi.API, _ string) string {
			t.Helper()
			return serving(unchanged).Serve(t, api, "/me")
		}}, found{"answered 404 and not 200": {everyPrefixWillDo}}},
		"restriction for all": {Harness{crowd: 40, Serve: func(t testing.TB, api *httpapi.API, prefix string) string {
			t.Helper()
			return serving(unchanged).Serve(t, api.With(httpapi.WithRestriction()), prefix)
		}}, found{"answered 200 and not 404": {restrictionIsThereWhenAskedFor}}},
	}
}
