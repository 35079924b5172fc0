package httptestsuite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
)

func responseDefects() defects {
	return defects{
		"responses that may be cached": {
			without("Cache-Control"), found{"with Cache-Control [], not": {resultsAreUncachedJSON}},
		},
		"responses that may be sniffed": {
			without("X-Content-Type-Options"), found{"with X-Content-Type-Options [], not": {resultsAreUncachedJSON}},
		},
		"a charset": {editing(func(_ *http.Request, response *httptest.ResponseRecorder) {
			if response.Header().Get("Content-Type") == "application/json" {
				response.Header().Set("Content-Type", "application/json; charset=utf-8")
			}
		}), found{`with Content-Type ["application/json; charset=utf-8"], not`: {resultsAreUncachedJSON}}},
		"problems as JSON": {editing(func(_ *http.Request, response *httptest.ResponseRecorder) {
			response.Header().Set("Content-Type", "application/json")
		}), found{`with Content-Type ["application/json"], not`: {problemsAreUncachedProblemJSON}}},
		"responses that are encoded again": {editing(func(_ *http.Request, response *httptest.ResponseRecorder) {
			var value any
			if response.Code == 200 && json.Unmarshal(response.Body.Bytes(), &value) == nil {
				text, _ := json.Marshal(value)
				response.Body = bytes.NewBuffer(append(text, '\n'))
			}
		}), found{
			"differs from consent_status_none.json": {consentResponsesAreExact},
			"differs from export.json":              {exportResponsesAreExact},
			"differs from erasure.json":             {erasureResponsesAreExact},
		}},
		"problems of the framework's own": {editing(func(_ *http.Request, response *httptest.ResponseRecorder) {
			if response.Code >= 400 {
				replaceBody(response, func(string) string { return fmt.Sprintf(`{"status":%d,"detail":"Sorry"}`, response.Code) })
			}
		}), found{"returned": {fieldsAreTakenOnceAndByExactName}}},
		"no Retry-After":                       {without("Retry-After"), found{`Retry-After is ""`: {unreachableStoreIs503}}},
		"a refusal that is the server's fault": {turning(409, 500), found{"409": {grantsOfErasedPeopleAre409}}},
		"a timeout that is the server's fault": {turning(504, 500), found{
			"remove the deadline at io.EOF": {deadlineIs504}, "returned 500": {bodyThatNeverArrivesIs504},
		}},
		"a body in response to HEAD": {serving(func(next http.Handler) http.Handler {
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
		}), found{"no response where one should begin": {headIsGetWithoutTheBody}}},
		"a different status for HEAD": {editing(func(r *http.Request, response *httptest.ResponseRecorder) {
			if r.Method == http.MethodHead {
				response.Code = 204
			}
		}), found{"204 with 0 bytes, where GET has 200": {headIsGetWithoutTheBody}}},
	}
}
