package httptestsuite

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// rewriting is a harness whose escaped paths are changed before the handler gets them.
func rewriting(change func(escaped string) string) Harness {
	return changing(func(r *http.Request) {
		escaped := change(r.URL.EscapedPath())
		if plain, err := url.PathUnescape(escaped); err == nil {
			r.URL.Path, r.URL.RawPath = plain, escaped
		}
	})
}

func pathDefects() map[string]defect {
	return map[string]defect{
		"paths that are unescaped first": {
			changing(func(r *http.Request) { r.URL.RawPath = "" }),
			map[string]string{
				"purposes that are declared are listed": "answered 404 and not 200",
				"options names the methods":             "answered 404 and not 204",
				"other methods are refused":             "answered 404 and not 405",
				"other paths are not found":             "answered 200 and not 404",
				"purpose in a path is unescaped once":   "answered 404 and not 200",
				"requests keep to themselves":           "answered 404",
			},
		},
		"purposes that are unescaped twice": {
			rewriting(func(escaped string) string {
				plain, err := url.PathUnescape(escaped)
				if err != nil || !strings.Contains(plain, "%") {
					return escaped
				}
				return plain
			}),
			map[string]string{
				"purpose in a path is unescaped once": "GET /consent/a%252Fb is answered with",
			},
		},
		"dots that are followed": {
			rewriting(func(escaped string) string {
				if !strings.Contains(strings.ToLower(escaped), "%2e") {
					return escaped
				}
				return path.Clean(strings.ReplaceAll(strings.ToLower(escaped), "%2e", "."))
			}),
			map[string]string{
				"purpose in a path is unescaped once": "answered 405 and not 200",
			},
		},
		"a plus that is a space": {
			rewriting(func(escaped string) string { return strings.ReplaceAll(escaped, "+", "%20") }),
			map[string]string{
				"purpose in a path is unescaped once": "GET /consent/a+b is answered with",
			},
		},
		"purposes in lower case": {
			rewriting(func(escaped string) string {
				if strings.Contains(escaped, "%") {
					return escaped
				}
				return strings.ToLower(escaped)
			}),
			map[string]string{
				"purpose in a path is unescaped once": "GET /consent/Ads is answered with",
			},
		},
		"paths that are cut": {
			rewriting(func(escaped string) string { return escaped[:min(len(escaped), len("/me/consent/%F0%9F%98%80"))] }),
			map[string]string{
				"purpose in a path is unescaped once": "is answered with",
				"purpose in a path is checked":        "answered 200 and not 422",
				"requests keep to themselves":         "answered 200",
			},
		},
		"a purpose by default": {
			rewriting(func(escaped string) string {
				if strings.HasSuffix(escaped, "/consent/") {
					return escaped + "default"
				}
				return escaped
			}),
			map[string]string{
				"other paths are not found": "GET /consent/: 200",
			},
		},
		"a query's plus that is a plus": {
			changing(func(r *http.Request) { r.URL.RawQuery = strings.ReplaceAll(r.URL.RawQuery, "+", "%2B") }),
			map[string]string{
				"purpose in a query selects": "GET /restriction?purpose=a+b%2Bc%26d=e is answered with",
			},
		},
		"a query that is parsed and written anew": {
			changing(func(r *http.Request) { r.URL.RawQuery = r.URL.Query().Encode() }),
			map[string]string{
				"purpose in a query selects": "answered 200 and not 422",
			},
		},
		"no query": {
			changing(func(r *http.Request) { r.URL.RawQuery = "" }),
			map[string]string{
				"purposes that are declared are listed":        "answered 200 and not 422",
				"restriction is answered exactly":              "not what restriction_status_purpose.json has",
				"problems are answered exactly":                "answered 200 and not 422",
				"problems are problem JSON that is not stored": "answered 200 and not 422",
				"purpose in a query selects":                   "GET /restriction?purpose=ads is answered with",
				"requests keep to themselves":                  "answered 200",
			},
		},
	}
}
