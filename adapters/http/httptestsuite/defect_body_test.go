package httptestsuite

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

// rereading is a harness whose bodies are changed before the handler gets them.
func rereading(change func(body []byte) []byte) Harness {
	return changing(func(r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			r.Body = io.NopCloser(bytes.NewReader(change(body)))
		}
	})
}

func bodyDefects() defects {
	return defects{
		"a body that is cut": {
			rereading(func(body []byte) []byte { return body[:min(len(body), httpapi.MaxBodySize)] }),
			found{"answered 400 and not 413": {bodiesHaveALimit}},
		},
		"a lower limit": {
			serving(func(next http.Handler) http.Handler { return http.MaxBytesHandler(next, httpapi.MaxBodySize/2) }),
			found{"not what problem_413.json has": {problemResponsesAreExact}, "answered 413 and not 200": {bodiesHaveALimit}},
		},
		"no limit": {rereading(bytes.TrimSpace), found{"answered 200 and not 413": {bodiesHaveALimit}}},
		"a body that is parsed and written anew": {rereading(func(body []byte) []byte {
			var members map[string]any
			if json.NewDecoder(bytes.NewReader(body)).Decode(&members) != nil {
				return body
			}
			text, _ := json.Marshal(members)
			return text
		}), found{"answered 200": {invalidJSONIsRefused}}},
		"any type is JSON": {changing(func(r *http.Request) {
			if r.Header.Get("Content-Type") != "" {
				r.Header.Set("Content-Type", "application/json")
			}
		}), found{"answered 200 and not 415": {problemsAreProblemJSONThatIsNotStored, onlyApplicationJSONIsRead}}},
		"no parameters in a type": {changing(func(r *http.Request) {
			if strings.Contains(r.Header.Get("Content-Type"), ";") {
				r.Header.Set("Content-Type", "text/plain")
			}
		}), found{"answered 415 and not 200": {onlyApplicationJSONIsRead}}},
		"a body that is unpacked": {rereading(func(body []byte) []byte {
			unpacked, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				return body
			}
			text, _ := io.ReadAll(unpacked)
			return text
		}), found{"answered 200 and not 400": {contentCodingsAreRefused}, "gets no answer": {bodyThatNeverArrivesIs504}}},
		"the first line of a coding": {changing(func(r *http.Request) {
			if coding := r.Header.Get("Content-Encoding"); coding != "" {
				r.Header.Set("Content-Encoding", coding)
			}
		}), found{"answered 400 and not 415": {contentCodingsAreRefused}}},
		"any coding is refused": {changing(func(r *http.Request) {
			if r.Header.Get("Content-Encoding") != "" {
				r.Header.Set("Content-Encoding", "gzip")
			}
		}), found{"answered 415 and not 200": {contentCodingsAreRefused}}},
		"the rest of a body is the next request": {
			serving(func(next http.Handler) http.Handler { return leavesBodies{next} }),
			found{
				"and there is another answer: 200": {unreadBodyIsNotParsedAsARequest},
				"was not taken committed":          {unreadResponseIsAborted},
			},
		},
	}
}
