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
			editing(func(_ *http.Request, answer *httptest.ResponseRecorder) { answer.Header().Del("Cache-Control") }),
			found{
				"with Cache-Control [], not": {
					resultsAreJSONThatIsNotStored, problemsAreProblemJSONThatIsNotStored, unreachableStoreIs503, deadlineIs504,
					panicEndsOneRequestOnly,
				},
				"with 0 bytes": {optionsNamesTheMethods},
			},
		},
		"answers that may be sniffed": {editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
			answer.Header().Del("X-Content-Type-Options")
		}), found{
			"with X-Content-Type-Options [], not": {
				resultsAreJSONThatIsNotStored, problemsAreProblemJSONThatIsNotStored, unreachableStoreIs503, deadlineIs504,
				panicEndsOneRequestOnly,
			},
		}},
		"a charset": {editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
			if answer.Header().Get("Content-Type") == "application/json" {
				answer.Header().Set("Content-Type", "application/json; charset=utf-8")
			}
		}), found{`with Content-Type ["application/json; charset=utf-8"], not`: {resultsAreJSONThatIsNotStored}}},
		"problems as JSON": {editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
			answer.Header().Set("Content-Type", "application/json")
		}), found{
			`with Content-Type ["application/json"], not`: {
				problemsAreProblemJSONThatIsNotStored, unreachableStoreIs503, deadlineIs504, panicEndsOneRequestOnly,
			},
		}},
		"answers that are written anew": {editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
			var value any
			if answer.Code == 200 && json.Unmarshal(answer.Body.Bytes(), &value) == nil {
				text, _ := json.Marshal(value)
				answer.Body = bytes.NewBuffer(append(text, '\n'))
			}
		}), found{
			"not what consent_statuses.json has":        {purposesThatAreDeclaredAreListed},
			"not what consent_status_none.json has":     {consentIsAnsweredExactly},
			"not what restriction_status_none.json has": {restrictionIsAnsweredExactly},
			"not what export.json has":                  {exportIsAnsweredExactly},
			"not what erasure.json has":                 {erasureIsAnsweredExactly},
		}},
		"problems of the framework's own": {editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
			if answer.Code >= 400 {
				replaceBody(answer, func(string) string { return fmt.Sprintf(`{"status":%d,"detail":"Sorry"}`, answer.Code) })
			}
		}), found{
			"is answered with": {
				purposesThatAreDeclaredAreListed, fieldsAreTakenOnceAndByExactName,
			},
			"not what problem_400.json has":                        {problemsAreAnsweredExactly},
			"GET /consent/%00 is answered with":                    {purposeInAPathIsChecked},
			"GET /restriction?purpose=%ff is answered with":        {purposeInAQuerySelects},
			"not what problem_503.json has":                        {unreachableStoreIs503},
			"not what problem_504.json has":                        {deadlineIs504},
			`is answered with 504 {"status":504,"detail":"Sorry"}`: {bodyThatNeverArrivesIs504},
		}},
		"no time to retry": {
			editing(func(_ *http.Request, answer *httptest.ResponseRecorder) { answer.Header().Del("Retry-After") }),
			found{`Retry-After is ""`: {unreachableStoreIs503}},
		},
		"a timeout that is the server's fault": {editing(func(_ *http.Request, answer *httptest.ResponseRecorder) {
			if answer.Code == 504 {
				answer.Code = 500
			}
		}), found{"answered 500 and not 504": {deadlineIs504}, "is answered with 500": {bodyThatNeverArrivesIs504}}},
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
		}), found{
			"HEAD /consent":                       {purposesThatAreDeclaredAreListed},
			"204 with 0 bytes, where GET has 200": {headIsGetWithoutTheBody},
			"answered 204 and not 405":            {otherMethodsAreRefused},
		}},
	}
}
