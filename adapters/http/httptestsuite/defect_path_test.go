package httptestsuite

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
)

// rewriting returns the harness of an adapter that replaces the escaped path of a request before the handler gets it.
func rewriting(change func(escaped string) string) Harness {
	return changing(func(r *http.Request) {
		escaped := change(r.URL.EscapedPath())
		if plain, err := url.PathUnescape(escaped); err == nil {
			r.URL.Path, r.URL.RawPath = plain, escaped
		}
	})
}

func pathDefects() defects {
	return defects{
		"paths that are unescaped first": {changing(func(r *http.Request) { r.URL.RawPath = "" }), found{
			"got status 200, want 404": {otherPathsAreNotFound},
		}},
		"purposes that are unescaped twice": {rewriting(func(escaped string) string {
			plain, err := url.PathUnescape(escaped)
			if err != nil || !strings.Contains(plain, "%") {
				return escaped
			}
			return plain
		}), found{"GET /consent/a%252Fb returned": {purposeInAPathIsDecodedOnce}}},
		"dots that are followed": {rewriting(func(escaped string) string {
			if !strings.Contains(strings.ToLower(escaped), "%2e") {
				return escaped
			}
			return path.Clean(strings.ReplaceAll(strings.ToLower(escaped), "%2e", "."))
		}), found{"got status 405, want 200": {purposeInAPathIsDecodedOnce}}},
		"a plus that is a space": {
			rewriting(func(escaped string) string { return strings.ReplaceAll(escaped, "+", "%20") }),
			found{"GET /consent/a+b returned": {purposeInAPathIsDecodedOnce}},
		},
		"purposes in lower case": {rewriting(func(escaped string) string {
			if strings.Contains(escaped, "%") {
				return escaped
			}
			return strings.ToLower(escaped)
		}), found{"GET /consent/Ads returned": {purposeInAPathIsDecodedOnce}}},
		"paths that are cut": {
			rewriting(func(escaped string) string { return escaped[:min(len(escaped), len("/me/consent/%F0%9F%98%80"))] }),
			found{"got status 200, want 422": {purposeInAPathIsChecked}},
		},
		"a purpose by default": {rewriting(func(escaped string) string {
			if strings.HasSuffix(escaped, "/consent/") {
				return escaped + "default"
			}
			return escaped
		}), found{"GET /consent/: got status 200": {otherPathsAreNotFound}}},
		"a query's plus that is a plus": {
			changing(func(r *http.Request) { r.URL.RawQuery = strings.ReplaceAll(r.URL.RawQuery, "+", "%2B") }),
			found{"GET /restriction?purpose=a+b%2Bc%26d=e returned": {purposeInAQueryIsDecoded}},
		},
		"a query that is parsed and encoded again": {
			changing(func(r *http.Request) { r.URL.RawQuery = r.URL.Query().Encode() }),
			found{"got status 200, want 422": {purposeInAQueryIsDecoded}},
		},
		"no query": {changing(func(r *http.Request) { r.URL.RawQuery = "" }), found{
			"differs from restriction_status_purpose.json": {restrictionResponsesAreExact},
		}},
		"purposes that the adapter checks": {editing(func(_ *http.Request, response *httptest.ResponseRecorder) {
			if strings.Contains(response.Body.String(), `"purpose":"ads","policy_version":"v1","granted":false`) {
				response.Code = http.StatusUnprocessableEntity
			}
		}), found{"got status 422, want 200": {purposeOfThePastCanBeEnded}}},
	}
}
