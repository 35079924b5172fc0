package httptestsuite

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

func routeDefects() map[string]defect {
	return map[string]defect{
		"no OPTIONS": {
			editing(func(r *http.Request, answer *httptest.ResponseRecorder) {
				if r.Method == http.MethodOptions {
					answer.Code = 404
				}
			}),
			map[string]string{
				"options names the methods":            "answered 404 and not 204",
				"restriction is there when asked for":  "OPTIONS /restriction: 404",
				"what is left of a body is no request": ": 404 ",
			},
		},
		"no Allow": {
			editing(func(_ *http.Request, answer *httptest.ResponseRecorder) { answer.Header().Del("Allow") }),
			map[string]string{
				"options names the methods": `allows [""]`,
				"other methods are refused": `allows [""]`,
			},
		},
		"a method too many in Allow": {
			editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
				if allow := answer.Header().Get("Allow"); allow != "" {
					answer.Header().Set("Allow", allow+", PATCH")
				}
			}),
			map[string]string{
				"options names the methods": `"PATCH"`,
				"other methods are refused": `"PATCH"`,
			},
		},
		"no method is not found": {
			editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
				if answer.Code == 405 {
					answer.Code = 404
				}
			}),
			map[string]string{
				"problems are answered exactly":                "answered 404 and not 405",
				"problems are problem JSON that is not stored": "answered 404 and not 405",
				"other methods are refused":                    "answered 404 and not 405",
				"every prefix will do":                         "answered 404 and not 405",
				"what is left of a body is no request":         ": 404 ",
			},
		},
		"a path with one method only": {
			editing(func(r *http.Request, answer *httptest.ResponseRecorder) {
				if r.URL.Path == "/me/consent" && r.Method != http.MethodPost && answer.Code == 200 {
					answer.Code = 405
				}
			}),
			map[string]string{
				"purposes that are declared are listed": "answered 405 and not 200",
			},
		},
		"everything below an endpoint": {
			rewriting(func(escaped string) string {
				if path, _, ok := strings.Cut(escaped, "/export/"); ok {
					return path + "/export"
				}
				return escaped
			}),
			map[string]string{
				"other paths are not found": "answered 200 and not 404",
			},
		},
		"an erasure without a slash only": {
			rewriting(func(escaped string) string {
				if escaped == "/me/" {
					return "/me/nothing"
				}
				return escaped
			}),
			map[string]string{
				"erasure is at the prefix itself": "answered 404 and not 200",
			},
		},
		"one prefix": {
			Harness{crowd: 40, Serve: func(t testing.TB, api *httpapi.API, _ string) string {
				t.Helper()
				return serving(unchanged).Serve(t, api, "/me")
			}},
			map[string]string{
				"every prefix will do": "answered 404 and not 200",
			},
		},
		"restriction for all": {
			Harness{crowd: 40, Serve: func(t testing.TB, api *httpapi.API, prefix string) string {
				t.Helper()
				return serving(unchanged).Serve(t, api.With(httpapi.WithRestriction()), prefix)
			}},
			map[string]string{
				"restriction is there when asked for": "answered 200 and not 404",
			},
		},
	}
}
