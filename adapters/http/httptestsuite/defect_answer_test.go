package httptestsuite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
)

func answerDefects() defects {
	return defects{
		"answers that may be cached": {
			without("Cache-Control"), found{"with Cache-Control [], not": {resultsAreJSONThatIsNotStored}},
		},
		"answers that may be sniffed": {
			without("X-Content-Type-Options"), found{"with X-Content-Type-Options [], not": {resultsAreJSONThatIsNotStored}},
		},
		"a charset": {editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
			if answer.Header().Get("Content-Type") == "application/json" {
				answer.Header().Set("Content-Type", "application/json; charset=utf-8")
			}
		}), found{`with Content-Type ["application/json; charset=utf-8"], not`: {resultsAreJSONThatIsNotStored}}},
		"problems as JSON": {editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
			answer.Header().Set("Content-Type", "application/json")
		}), found{`with Content-Type ["application/json"], not`: {problemsAreProblemJSONThatIsNotStored}}},
		"answers that are written anew": {editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
			var value any
			if answer.Code == 200 && json.Unmarshal(answer.Body.Bytes(), &value) == nil {
				text, _ := json.Marshal(value)
				answer.Body = bytes.NewBuffer(append(text, '\n'))
			}
		}), found{
			"not what consent_status_none.json has": {consentResponsesAreExact},
			"not what export.json has":              {exportResponsesAreExact},
			"not what erasure.json has":             {erasureResponsesAreExact},
		}},
		"problems of the framework's own": {editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
			if answer.Code >= 400 {
				replaceBody(answer, func(string) string { return fmt.Sprintf(`{"status":%d,"detail":"Sorry"}`, answer.Code) })
			}
		}), found{"is answered with": {fieldsAreTakenOnceAndByExactName}}},
		"no time to retry": {without("Retry-After"), found{`Retry-After is ""`: {unreachableStoreIs503}}},
		"a timeout that is the server's fault": {turning(504, 500), found{
			"answered 500 and not 504": {deadlineIs504}, "is answered with 500": {bodyThatNeverArrivesIs504},
		}},
		"a body in answer to HEAD": {serving(func(next http.Handler) http.Handler {
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
		}), found{"no answer where it should begin": {headIsGetWithoutTheBody}}},
		"a head of its own": {editing(func(r *http.Request, answer *httptest.ResponseRecorder) {
			if r.Method == http.MethodHead {
				answer.Code = 204
			}
		}), found{"204 with 0 bytes, where GET has 200": {headIsGetWithoutTheBody}}},
	}
}
