package httptestsuite

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

func subjectDefects() defects {
	return defects{
		"a subject by another header": {providing(func(_ http.ResponseWriter, r *http.Request) (domain.Subject, error) {
			if id := r.Header.Get("X-User-Id"); id != "" {
				return domain.NewSubject(id)
			}
			return Subject(r.Header.Get)
		}), found{
			"POST /consent?subject=43&subject_id=43&user_id=43&id=43 is answered with": {providerAloneNamesTheSubject},
		}},
		"a subject by query": {providing(func(_ http.ResponseWriter, r *http.Request) (domain.Subject, error) {
			if id := r.URL.Query().Get("subject_id"); id != "" {
				return domain.NewSubject(id)
			}
			return Subject(r.Header.Get)
		}), found{
			"POST /consent?subject=43&subject_id=43&user_id=43&id=43 is answered with": {providerAloneNamesTheSubject},
		}},
		"a subject for nobody": {providing(func(_ http.ResponseWriter, r *http.Request) (domain.Subject, error) {
			if r.Header.Get(subjectHeader) == "" {
				return domain.NewSubject("42")
			}
			return Subject(r.Header.Get)
		}), found{
			"answered 200 and not 401": {
				problemsAreAnsweredExactly, problemsAreProblemJSONThatIsNotStored, providerDecidesOnTheStatus,
				headerOfARefusalIsSentAlong,
			},
			": 413 ": {whatIsLeftOfABodyIsNoRequest}, "answered 400 and not 401": {providerComesFirst},
		}},
		"refusals that are errors": {providing(func(_ http.ResponseWriter, r *http.Request) (domain.Subject, error) {
			subject, err := Subject(r.Header.Get)
			if err != nil {
				err = errors.New("refused")
			}
			return subject, err
		}), found{
			"answered 500 and not 401": {
				problemsAreAnsweredExactly, problemsAreProblemJSONThatIsNotStored, providerDecidesOnTheStatus, providerComesFirst,
				headerOfARefusalIsSentAlong,
			},
			": 500 ": {whatIsLeftOfABodyIsNoRequest},
		}},
		"errors that are refusals": {providing(func(_ http.ResponseWriter, r *http.Request) (domain.Subject, error) {
			subject, err := Subject(r.Header.Get)
			if refusal := (*httpapi.Refusal)(nil); err != nil && !errors.As(err, &refusal) {
				err = &httpapi.Refusal{Status: 401}
			}
			return subject, err
		}), found{
			"answered 401 and not 500": {
				problemsAreAnsweredExactly, problemsAreProblemJSONThatIsNotStored, providerDecidesOnTheStatus,
			},
		}},
		"a refusal without its header": {providing(func(_ http.ResponseWriter, r *http.Request) (domain.Subject, error) {
			subject, err := Subject(r.Header.Get)
			if refusal := (*httpapi.Refusal)(nil); errors.As(err, &refusal) {
				err = &httpapi.Refusal{Status: refusal.Status}
			}
			return subject, err
		}), found{`WWW-Authenticate is ""`: {headerOfARefusalIsSentAlong}}},
		"the text of an error in a header": {
			providing(func(w http.ResponseWriter, r *http.Request) (domain.Subject, error) {
				subject, err := Subject(r.Header.Get)
				if err != nil {
					w.Header().Set("X-Error", err.Error())
				}
				return subject, err
			}),
			found{"shows the text of an error": {failuresGiveNothingAway}},
		},
		"the input before the subject": {serving(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.Header.Get("Content-Type"), "text/") {
					r.Header.Set(subjectHeader, "42")
				}
				next.ServeHTTP(w, r)
			})
		}), found{"answered 415 and not 401": {providerComesFirst}}},
		"a panic that goes on": {changing(func(r *http.Request) { _, _ = Subject(r.Header.Get) }), found{
			"gets no answer": {providerDecidesOnTheStatus, failuresGiveNothingAway, panicEndsOneRequestOnly},
		}},
		"a subject of an earlier request": {serving(mixingUp("DELETE /me", func(r, earlier *http.Request) {
			r.Header.Set(subjectHeader, earlier.Header.Get(subjectHeader))
		})), found{"answered 200": {requestsKeepToThemselves}}},
		"a purpose of an earlier request": {serving(mixingUp("GET /me/consent/purpose", func(r, earlier *http.Request) {
			r.URL = earlier.URL
		})), found{"answered 200": {requestsKeepToThemselves}}},
	}
}

// mixingUp now and then mixes up a request with an earlier one that begins alike, as a server does whose buffers are
// used again too early. Of these, each member of the crowd sends one.
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
