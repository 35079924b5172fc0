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

func bodyDefects() map[string]defect {
	return map[string]defect{
		"a body that is cut": {
			rereading(func(body []byte) []byte { return body[:min(len(body), httpapi.MaxBodySize)] }),
			map[string]string{
				"problems are answered exactly":                "answered 400 and not 413",
				"problems are problem JSON that is not stored": "answered 400 and not 413",
				"64 KiB are read and no more":                  "answered 400 and not 413",
				"what is left of a body is no request":         ": 400 ",
				"body that never arrives is 504":               "gets no answer",
			},
		},
		"a lower limit": {
			serving(func(next http.Handler) http.Handler { return http.MaxBytesHandler(next, httpapi.MaxBodySize/2) }),
			map[string]string{
				"problems are answered exactly": "not what problem_413.json has",
				"64 KiB are read and no more":   "answered 413 and not 200",
			},
		},
		"no limit": {
			rereading(bytes.TrimSpace),
			map[string]string{
				"problems are answered exactly":                "answered 200 and not 413",
				"problems are problem JSON that is not stored": "answered 200 and not 413",
				"64 KiB are read and no more":                  "answered 200 and not 413",
				"body that never arrives is 504":               "gets no answer",
			},
		},
		"a body that is parsed and written anew": {
			rereading(func(body []byte) []byte {
				var members map[string]any
				if json.NewDecoder(bytes.NewReader(body)).Decode(&members) != nil {
					return body
				}
				text, _ := json.Marshal(members)
				return text
			}),
			map[string]string{
				"problems are answered exactly":                "answered 200 and not 413",
				"problems are problem JSON that is not stored": "answered 200 and not 413",
				"64 KiB are read and no more":                  "answered 200 and not 413",
				"what is no JSON is refused":                   "answered 200",
				"fields are taken once and by exact name":      "answered 200 and not 422",
				"body that never arrives is 504":               "gets no answer",
			},
		},
		"any type is JSON": {
			changing(func(r *http.Request) {
				if r.Header.Get("Content-Type") != "" {
					r.Header.Set("Content-Type", "application/json")
				}
			}),
			map[string]string{
				"problems are answered exactly":                "answered 200 and not 415",
				"problems are problem JSON that is not stored": "answered 200 and not 415",
				"only application/json is read":                "answered 200 and not 415",
			},
		},
		"no parameters in a type": {
			changing(func(r *http.Request) {
				if strings.Contains(r.Header.Get("Content-Type"), ";") {
					r.Header.Set("Content-Type", "text/plain")
				}
			}),
			map[string]string{
				"only application/json is read": "answered 415 and not 200",
			},
		},
		"a body that is unpacked": {
			rereading(func(body []byte) []byte {
				unpacked, err := gzip.NewReader(bytes.NewReader(body))
				if err != nil {
					return body
				}
				text, _ := io.ReadAll(unpacked)
				return text
			}),
			map[string]string{
				"no content coding is undone":    "answered 200 and not 400",
				"body that never arrives is 504": "gets no answer",
			},
		},
		"the first line of a coding": {
			changing(func(r *http.Request) {
				if coding := r.Header.Get("Content-Encoding"); coding != "" {
					r.Header.Set("Content-Encoding", coding)
				}
			}),
			map[string]string{
				"no content coding is undone": "answered 400 and not 415",
			},
		},
		"any coding is refused": {
			changing(func(r *http.Request) {
				if r.Header.Get("Content-Encoding") != "" {
					r.Header.Set("Content-Encoding", "gzip")
				}
			}),
			map[string]string{
				"no content coding is undone": "answered 415 and not 200",
			},
		},
		"the rest of a body is the next request": {
			serving(func(next http.Handler) http.Handler { return leavesBodies{next} }),
			map[string]string{
				"what is left of a body is no request": "and there is another answer: 200",
				"answer that nobody reads is given up": "was not taken committed", // it is gathered first
			},
		},
	}
}
