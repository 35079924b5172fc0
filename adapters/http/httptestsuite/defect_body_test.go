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

// rereading returns the harness of an adapter that replaces the body of a request before the handler reads it.
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
			found{"got status 400, want 413": {bodiesHaveALimit}},
		},
		"a lower limit": {
			serving(func(next http.Handler) http.Handler { return http.MaxBytesHandler(next, httpapi.MaxBodySize/2) }),
			found{"differs from problem_413.json": {problemResponsesAreExact}, "got status 413, want 200": {bodiesHaveALimit}},
		},
		"no limit": {rereading(bytes.TrimSpace), found{"got status 200, want 413": {bodiesHaveALimit}}},
		"a body that is parsed and encoded again": {rereading(func(body []byte) []byte {
			var members map[string]any
			if json.NewDecoder(bytes.NewReader(body)).Decode(&members) != nil {
				return body
			}
			text, _ := json.Marshal(members)
			return text
		}), found{"got status 200": {invalidJSONIsRefused}}},
		"any type is JSON": {changing(func(r *http.Request) {
			if r.Header.Get("Content-Type") != "" {
				r.Header.Set("Content-Type", "application/json")
			}
		}), found{"got status 200, want 415": {problemsAreUncachedProblemJSON, onlyApplicationJSONIsRead}}},
		"no parameters in a type": {changing(func(r *http.Request) {
			if strings.Contains(r.Header.Get("Content-Type"), ";") {
				r.Header.Set("Content-Type", "text/plain")
			}
		}), found{"got status 415, want 200": {onlyApplicationJSONIsRead}}},
		"a body that is unpacked": {rereading(func(body []byte) []byte {
			unpacked, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				return body
			}
			text, _ := io.ReadAll(unpacked)
			return text
		}), found{"got status 200, want 400": {contentCodingsAreRefused}, "gets no response": {bodyThatNeverArrivesIs504}}},
		"the first line of a coding": {changing(func(r *http.Request) {
			if coding := r.Header.Get("Content-Encoding"); coding != "" {
				r.Header.Set("Content-Encoding", coding)
			}
		}), found{"got status 400, want 415": {contentCodingsAreRefused}}},
		"any coding is refused": {changing(func(r *http.Request) {
			if r.Header.Get("Content-Encoding") != "" {
				r.Header.Set("Content-Encoding", "gzip")
			}
		}), found{"got status 415, want 200": {contentCodingsAreRefused}}},
		"the rest of a body is the next request": {
			serving(func(next http.Handler) http.Handler { return leavesBodies{next} }),
			found{
				"there is an unexpected response: 200": {unreadBodyIsNotParsedAsARequest},
				"of an unread response committed":      {unreadResponseIsAborted},
			},
		},
	}
}
