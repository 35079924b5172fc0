package httptestsuite

import (
	"errors"
	"net/http"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

// subjectHeader is the header of a test request that has the id of the subject. A real application must not trust such
// a header.
const subjectHeader = "X-Test-Subject"

// The following values of the header make the subject provider fail. Every other value is the id of a subject.
const (
	forbidden = "forbidden"
	failing   = "error"
	panicking = "panic"
)

// confidential is a word that no response may contain. The suite puts it into errors and into data of other subjects.
const confidential = "Rumpelstiltskin"

// Subject returns the subject of a test request. The parameter header is a function that returns the value of a header
// of the request, or "" if the header is missing.
//
// The subject provider of the tested server must call Subject and return its result unchanged. It must not recover a
// panic of Subject:
//
//	func(r *http.Request) (domain.Subject, error) { return httptestsuite.Subject(r.Header.Get) }
func Subject(header func(name string) string) (domain.Subject, error) {
	switch id := header(subjectHeader); id {
	case "":
		challenge := http.Header{"WWW-Authenticate": {`Bearer realm="suite"`}}
		return domain.Subject{}, &httpapi.StatusError{
			Status: http.StatusUnauthorized, Header: challenge, Err: errors.New(confidential),
		}
	case forbidden:
		return domain.Subject{}, &httpapi.StatusError{Status: http.StatusForbidden, Err: errors.New(confidential)}
	case failing:
		return domain.Subject{}, errors.New(confidential)
	case panicking:
		panic(confidential)
	default:
		// The refs use the same memory as the id. If an adapter lets the framework reuse this memory too early, a test fails.
		return domain.NewSubject(id,
			domain.SubjectRef{Kind: desk, Value: id}, domain.SubjectRef{Kind: mailing, Value: id})
	}
}
