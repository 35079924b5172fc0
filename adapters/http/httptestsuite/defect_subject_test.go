package httptestsuite

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

func subjectDefects() map[string]defect {
	return map[string]defect{
		"a subject by another header": {
			providing(func(_ http.ResponseWriter, r *http.Request) (domain.Subject, error) {
				if id := r.Header.Get("X-User-Id"); id != "" {
					return domain.NewSubject(id)
				}
				return Subject(r.Header.Get)
			}),
			map[string]string{
				"provider alone names the subject": "POST /consent?subject=43&subject_id=43&user_id=43&id=43 is answered with",
			},
		},
		"a subject by query": {
			providing(func(_ http.ResponseWriter, r *http.Request) (domain.Subject, error) {
				if id := r.URL.Query().Get("subject_id"); id != "" {
					return domain.NewSubject(id)
				}
				return Subject(r.Header.Get)
			}),
			map[string]string{
				"provider alone names the subject": "POST /consent?subject=43&subject_id=43&user_id=43&id=43 is answered with",
			},
		},
		"a subject for nobody": {
			providing(func(_ http.ResponseWriter, r *http.Request) (domain.Subject, error) {
				if r.Header.Get(subjectHeader) == "" {
					return domain.NewSubject("42")
				}
				return Subject(r.Header.Get)
			}),
			map[string]string{
				"problems are answered exactly":                "answered 200 and not 401",
				"problems are problem JSON that is not stored": "answered 200 and not 401",
				"what is left of a body is no request":         ": 413 ",
				"provider decides on the status":               "answered 200 and not 401",
				"provider comes first":                         "answered 400 and not 401",
				"header of a refusal is sent along":            "answered 200 and not 401",
			},
		},
		"refusals that are errors": {
			providing(func(_ http.ResponseWriter, r *http.Request) (domain.Subject, error) {
				subject, err := Subject(r.Header.Get)
				if err != nil {
					err = errors.New("refused")
				}
				return subject, err
			}),
			map[string]string{
				"problems are answered exactly":                "answered 500 and not 401",
				"problems are problem JSON that is not stored": "answered 500 and not 401",
				"what is left of a body is no request":         ": 500 ",
				"provider decides on the status":               "answered 500 and not 401",
				"provider comes first":                         "answered 500 and not 401",
				"header of a refusal is sent along":            "answered 500 and not 401",
			},
		},
		"errors that are refusals": {
			providing(func(_ http.ResponseWriter, r *http.Request) (domain.Subject, error) {
				subject, err := Subject(r.Header.Get)
				if refusal := (*httpapi.Refusal)(nil); err != nil && !errors.As(err, &refusal) {
					err = &httpapi.Refusal{Status: 401}
				}
				return subject, err
			}),
			map[string]string{
				"problems are answered exactly":                "answered 401 and not 500",
				"problems are problem JSON that is not stored": "answered 401 and not 500",
				"provider decides on the status":               "answered 401 and not 500",
			},
		},
		"a refusal without its header": {
			providing(func(_ http.ResponseWriter, r *http.Request) (domain.Subject, error) {
				subject, err := Subject(r.Header.Get)
				if refusal := (*httpapi.Refusal)(nil); errors.As(err, &refusal) {
					err = &httpapi.Refusal{Status: refusal.Status}
				}
				return subject, err
			}),
			map[string]string{
				"header of a refusal is sent along": `WWW-Authenticate is ""`,
			},
		},
		"the text of an error in a header": {
			providing(func(w http.ResponseWriter, r *http.Request) (domain.Subject, error) {
				subject, err := Subject(r.Header.Get)
				if err != nil {
					w.Header().Set("X-Error", err.Error())
				}
				return subject, err
			}),
			map[string]string{
				"failures give nothing away": "shows the text of an error",
			},
		},
		"the input before the subject": {
			serving(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if strings.HasPrefix(r.Header.Get("Content-Type"), "text/") {
						r.Header.Set(subjectHeader, "42")
					}
					next.ServeHTTP(w, r)
				})
			}),
			map[string]string{
				"provider comes first": "answered 415 and not 401",
			},
		},
		"a panic that goes on": {
			changing(func(r *http.Request) { _, _ = Subject(r.Header.Get) }),
			map[string]string{
				"provider decides on the status": "gets no answer",
				"failures give nothing away":     "gets no answer",
				"panic ends one request only":    "gets no answer",
			},
		},
		"a subject of an earlier request": {serving(mixingUp("DELETE /me", func(r, earlier *http.Request) {
			r.Header.Set(subjectHeader, earlier.Header.Get(subjectHeader))
		})), map[string]string{
			"requests keep to themselves": "answered 200",
		}},
		"a purpose of an earlier request": {serving(mixingUp("GET /me/consent/purpose", func(r, earlier *http.Request) {
			r.URL = earlier.URL
		})), map[string]string{
			"requests keep to themselves": "answered 200",
		}},
	}
}

// mixingUp now and then mixes up a request with an earlier one that begins alike, as a server does whose buffers are used
// again too early. Of these, each member of the crowd sends one.
func mixingUp(beginning string, mix func(r, earlier *http.Request)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		var mu sync.Mutex
		var seen []*http.Request
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Method+" "+r.URL.Path, beginning) {
				mu.Lock()
				seen = append(seen, r.Clone(r.Context()))
				if len(seen)%30 == 0 {
					mix(r, seen[len(seen)-2])
				}
				mu.Unlock()
			}
			next.ServeHTTP(w, r)
		})
	}
}
