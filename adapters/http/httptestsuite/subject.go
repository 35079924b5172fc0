package httptestsuite

import (
	"errors"
	"net/http"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

// subjectHeader is what the suite's requests name their subject by. No application would believe it.
const subjectHeader = "X-Test-Subject"

// What the header says when there is to be no subject. Everything else is an id.
const (
	forbidden = "forbidden"
	failing   = "error"
	panicking = "panic"
)

// confidential is in every text that must reach no client.
const confidential = "Rumpelstiltskin"

// Subject returns the subject of a request. The subject provider of the server under test calls it with a function that
// returns a header of the request, or nothing if the header is missing. The provider returns the result unchanged, and
// must not recover a panic of Subject:
//
//	func(r *http.Request) (domain.Subject, error) { return httptestsuite.Subject(r.Header.Get) }
func Subject(header func(name string) string) (domain.Subject, error) {
	switch id := header(subjectHeader); id {
	case "":
		challenge := http.Header{"WWW-Authenticate": {`Bearer realm="suite"`}}
		return domain.Subject{}, &httpapi.Refusal{
			Status: http.StatusUnauthorized, Header: challenge, Err: errors.New(confidential),
		}
	case forbidden:
		return domain.Subject{}, &httpapi.Refusal{Status: http.StatusForbidden, Err: errors.New(confidential)}
	case failing:
		return domain.Subject{}, errors.New(confidential)
	case panicking:
		panic(confidential)
	default:
		// The refs hold the same string: an adapter must not let go of it while they are in use.
		return domain.NewSubject(id,
			domain.SubjectRef{Kind: desk, Value: id}, domain.SubjectRef{Kind: mailing, Value: id})
	}
}
