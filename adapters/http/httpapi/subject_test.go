package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unsafe"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

func TestTheProviderIsAskedBeforeTheInputIsLookedAt(t *testing.T) {
	for _, endpoint := range newFixture(t).Endpoints() {
		r := jsonBody("{")
		r.Subject, r.Purpose, r.Query = failing(&httpapi.Refusal{Status: 403}), "%zz", "purpose="
		refuses(t, endpoint.OperationID, r, 403, "")
	}
}

func TestARefusalKeepsItsStatus(t *testing.T) {
	for status, want := range map[int]int{
		400: 400, 401: 401, 403: 403, 404: 404, 418: 418, 451: 451, 499: 499, 503: 503, 599: 599,
		// none that could be taken for a success
		0: 500, 100: 500, 200: 500, 204: 500, 302: 500, 399: 500, 600: 500, -1: 500,
	} {
		refuses(t, "erasePersonalData", httpapi.Request{Subject: failing(&httpapi.Refusal{Status: status})}, want, "")
	}
}

func TestAnyOtherErrorOfTheProviderIsTheServersFault(t *testing.T) {
	for _, err := range []error{
		errors.New("secret"),
		domain.ErrInvalid,
		domain.ErrUnavailable,
		context.DeadlineExceeded,
		context.Canceled,
		domain.Invalid("secret", []domain.FieldError{{Field: "secret", Code: "secret", Message: "secret"}}),
		fmt.Errorf("secret: %w", domain.ErrSubject),
	} {
		f := newFixture(t)
		response := f.call(t, "erasePersonalData", httpapi.Request{Subject: failing(err)})
		if response.Status != http.StatusInternalServerError || strings.Contains(string(response.Body), "secret") {
			t.Errorf("%v is answered with %d %s", err, response.Status, response.Body)
		}
		if f.sessions.opened > 0 {
			t.Errorf("%v: opened a session", err)
		}
	}
}

func TestASubjectThatCannotBeUsedIsTheServersFault(t *testing.T) {
	id := func(elements ...string) domain.SubjectID {
		made, err := domain.NewSubjectID(elements...)
		require(t, err)
		return made
	}
	for name, subject := range map[string]domain.Subject{
		"nobody":               {},
		"ref without kind":     {ID: id("42"), Refs: []domain.SubjectRef{{Value: "c-1"}}},
		"ref without value":    {ID: id("42"), Refs: []domain.SubjectRef{{Kind: "supportdesk"}}},
		"id of another arity":  {ID: id("42", "eu")},
		"id of another type":   {ID: id("ada@example.com")},
		"id that is not exact": {ID: id("00987654321")},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			provider := func(context.Context) (domain.Subject, error) { return subject, nil }
			for _, endpoint := range f.Endpoints() {
				// The input is as wrong as can be: the subject comes first.
				response := f.Handle(t.Context(), endpoint, httpapi.Request{Subject: provider, Purpose: "%zz"})
				if response.Status != http.StatusInternalServerError || f.sessions.opened > 0 {
					t.Errorf("%s: answered %d, opened %d sessions", endpoint.OperationID, response.Status, f.sessions.opened)
				}
			}
			if logged := f.logged.String(); !strings.Contains(logged, `"class":"subject"`) ||
				strings.Contains(logged, "987654321") || strings.Contains(logged, "example.com") {
				t.Errorf("logged %s", logged)
			}
		})
	}
}

func TestARefThatNoSystemHasIsTheServersFault(t *testing.T) {
	f := newFixture(t)
	provider := as("42", domain.SubjectRef{Kind: "unheard-of", Value: "secret"})
	for _, operation := range []string{"exportPersonalData", "erasePersonalData"} {
		response := f.call(t, operation, httpapi.Request{Subject: provider})
		if response.Status != http.StatusInternalServerError || strings.Contains(f.logged.String(), "secret") {
			t.Errorf("%s: answered %d, logged %s", operation, response.Status, f.logged)
		}
	}
}

func TestTheSubjectIsCopied(t *testing.T) {
	buffer := []byte("1234567890")
	f := newFixture(t)
	r := jsonBody(valid)
	r.Subject = as(unsafe.String(&buffer[0], len(buffer)))
	f.call(t, "recordConsent", r)
	copy(buffer, "0987654321")
	if got := f.sessions.consents[0].SubjectID.String(); got != "1234567890" {
		t.Errorf("the record is now of %s", got)
	}
}
