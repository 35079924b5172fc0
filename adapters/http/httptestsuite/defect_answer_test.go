package httptestsuite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
)

func answerDefects() map[string]defect {
	return map[string]defect{
		"answers that may be cached": {
			editing(func(_ *http.Request, answer *httptest.ResponseRecorder) { answer.Header().Del("Cache-Control") }),
			map[string]string{
				"results are JSON that is not stored":          "with Cache-Control [], not",
				"problems are problem JSON that is not stored": "with Cache-Control [], not",
				"options names the methods":                    "with 0 bytes",
				"unreachable store is 503":                     "with Cache-Control [], not",
				"deadline is 504":                              "with Cache-Control [], not",
				"panic ends one request only":                  "with Cache-Control [], not",
			},
		},
		"answers that may be sniffed": {
			editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
				answer.Header().Del("X-Content-Type-Options")
			}),
			map[string]string{
				"results are JSON that is not stored":          "with X-Content-Type-Options [], not",
				"problems are problem JSON that is not stored": "with X-Content-Type-Options [], not",
				"unreachable store is 503":                     "with X-Content-Type-Options [], not",
				"deadline is 504":                              "with X-Content-Type-Options [], not",
				"panic ends one request only":                  "with X-Content-Type-Options [], not",
			},
		},
		"a charset": {
			editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
				if answer.Header().Get("Content-Type") == "application/json" {
					answer.Header().Set("Content-Type", "application/json; charset=utf-8")
				}
			}),
			map[string]string{
				"results are JSON that is not stored": `with Content-Type ["application/json; charset=utf-8"], not`,
			},
		},
		"problems as JSON": {
			editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
				answer.Header().Set("Content-Type", "application/json")
			}),
			map[string]string{
				"problems are problem JSON that is not stored": `with Content-Type ["application/json"], not`,
				"unreachable store is 503":                     `with Content-Type ["application/json"], not`,
				"deadline is 504":                              `with Content-Type ["application/json"], not`,
				"panic ends one request only":                  `with Content-Type ["application/json"], not`,
			},
		},
		"answers that are written anew": {
			editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
				var value any
				if answer.Code == 200 && json.Unmarshal(answer.Body.Bytes(), &value) == nil {
					text, _ := json.Marshal(value)
					answer.Body = bytes.NewBuffer(append(text, '\n'))
				}
			}),
			map[string]string{
				"purposes that are declared are listed": "not what consent_statuses.json has",
				"consent is answered exactly":           "not what consent_status_none.json has",
				"restriction is answered exactly":       "not what restriction_status_none.json has",
				"export is answered exactly":            "not what export.json has",
				"erasure is answered exactly":           "not what erasure.json has",
			},
		},
		"problems of the framework's own": {
			editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
				if answer.Code >= 400 {
					replaceBody(answer, func(string) string { return fmt.Sprintf(`{"status":%d,"detail":"Sorry"}`, answer.Code) })
				}
			}),
			map[string]string{
				"purposes that are declared are listed":   "is answered with",
				"problems are answered exactly":           "not what problem_400.json has",
				"fields are taken once and by exact name": "is answered with",
				"purpose in a path is checked":            "GET /consent/%00 is answered with",
				"purpose in a query selects":              "GET /restriction?purpose=%ff is answered with",
				"unreachable store is 503":                "not what problem_503.json has",
				"deadline is 504":                         "not what problem_504.json has",
				"body that never arrives is 504":          `is answered with 504 {"status":504,"detail":"Sorry"}`,
			},
		},
		"no time to retry": {
			editing(func(_ *http.Request, answer *httptest.ResponseRecorder) { answer.Header().Del("Retry-After") }),
			map[string]string{
				"unreachable store is 503": `Retry-After is ""`,
			},
		},
		"a timeout that is the server's fault": {
			editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
				if answer.Code == 504 {
					answer.Code = 500
				}
			}),
			map[string]string{
				"deadline is 504":                "answered 500 and not 504",
				"body that never arrives is 504": "is answered with 500",
			},
		},
		"a body in answer to HEAD": {
			serving(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodHead {
						next.ServeHTTP(w, r)
						return
					}
					asGet := r.Clone(r.Context())
					asGet.Method = http.MethodGet
					recorded := httptest.NewRecorder()
					next.ServeHTTP(recorded, asGet)
					raw(w, recorded)
				})
			}),
			map[string]string{
				"head is get without the body": "no answer where it should begin",
			},
		},
		"a head of its own": {
			editing(func(r *http.Request, answer *httptest.ResponseRecorder) {
				if r.Method == http.MethodHead {
					answer.Code = 204
				}
			}),
			map[string]string{
				"purposes that are declared are listed": "HEAD /consent",
				"head is get without the body":          "204 with 0 bytes, where GET has 200",
				"other methods are refused":             "answered 204 and not 405",
			},
		},
	}
}
