package httptestsuite

import (
	"errors"
	"net/http"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

// subjectHeader is the header in which the requests of the suite name their subject. A real application must not trust
// such a header.
const subjectHeader = "X-Test-Subject"

// Values of the header that make the provider fail. Every other value is an id.
const (
	forbidden = "forbidden"
	failing   = "error"
	panicking = "panic"
)

// confidential is part of every text that no client may receive.
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
		// The refs share the memory of the id. An adapter must not reuse the memory while the refs are in use.
		return domain.NewSubject(id,
			domain.SubjectRef{Kind: desk, Value: id}, domain.SubjectRef{Kind: mailing, Value: id})
	}
}
