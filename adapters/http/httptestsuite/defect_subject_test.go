package httptestsuite

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

// namedBy returns the harness of a defective adapter. The adapter takes the id of the subject from the wrong part of
// the request, which the given function reads. If this part is empty, the adapter takes the correct subject.
func namedBy(name func(r *http.Request) string) Harness {
	return providing(func(_ http.ResponseWriter, r *http.Request) (domain.Subject, error) {
		if id := name(r); id != "" {
			return domain.NewSubject(id)
		}
		return Subject(r.Header.Get)
	})
}

// failingWith returns the harness of an adapter that replaces the errors of the subject provider.
func failingWith(other func(w http.ResponseWriter, err error) error) Harness {
	return providing(func(w http.ResponseWriter, r *http.Request) (domain.Subject, error) {
		subject, err := Subject(r.Header.Get)
		if err != nil {
			err = other(w, err)
		}
		return subject, err
	})
}

func subjectDefects() defects {
	return defects{
		"a subject by another header": {namedBy(func(r *http.Request) string { return r.Header.Get("X-User-Id") }), found{
			"&id=43 returned": {providerAloneNamesTheSubject},
		}},
		"a subject by query": {namedBy(func(r *http.Request) string { return r.URL.Query().Get("subject_id") }), found{
			"&id=43 returned": {providerAloneNamesTheSubject},
		}},
		"a subject without a header": {namedBy(func(r *http.Request) string {
			if r.Header.Get(subjectHeader) == "" {
				return "42"
			}
			return ""
		}), found{"got status 200, want 401": {headerOfARefusalIsSentAlong}}},
		"refusals that are errors": {failingWith(func(http.ResponseWriter, error) error {
			return errors.New("refused")
		}), found{"got status 500, want 401": {providerIsCalledFirst}}},
		"errors that are refusals": {failingWith(func(_ http.ResponseWriter, err error) error {
			if refusal := (*httpapi.StatusError)(nil); !errors.As(err, &refusal) {
				err = &httpapi.StatusError{Status: 401}
			}
			return err
		}), found{"got status 401, want 500": {providerDecidesOnTheStatus}}},
		"a refusal without its header": {failingWith(func(_ http.ResponseWriter, err error) error {
			if refusal := (*httpapi.StatusError)(nil); errors.As(err, &refusal) {
				err = &httpapi.StatusError{Status: refusal.Status}
			}
			return err
		}), found{`WWW-Authenticate is ""`: {headerOfARefusalIsSentAlong}}},
		"the text of an error in a header": {failingWith(func(w http.ResponseWriter, err error) error {
			w.Header().Set("X-Error", err.Error())
			return err
		}), found{"shows the text of an error": {failuresShowNoErrorText}}},
		"the input is read before the subject": {serving(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.Header.Get("Content-Type"), "text/") {
					r.Header.Set(subjectHeader, "42")
				}
				next.ServeHTTP(w, r)
			})
		}), found{"got status 415, want 401": {providerIsCalledFirst}}},
		"a panic that is not recovered": {changing(func(r *http.Request) { _, _ = Subject(r.Header.Get) }), found{
			"gets no response": {failuresShowNoErrorText, panicEndsOneRequestOnly},
		}},
		"a subject of an earlier request": {serving(mixingUp("DELETE /me", func(r, earlier *http.Request) {
			r.Header.Set(subjectHeader, earlier.Header.Get(subjectHeader))
		})), found{"got status 200": {requestsShareNoStrings}}},
		"a purpose of an earlier request": {serving(mixingUp("GET /me/consent/purpose", func(r, earlier *http.Request) {
			r.URL = earlier.URL
		})), found{"got status 200": {requestsShareNoStrings}}},
	}
}

// mixingUp returns a middleware that simulates a server that reuses a buffer while a request still uses the buffer. It
// changes some of the requests whose method and path begin with the given text. The function mix copies parts of an
// earlier request into such a request.
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
