package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

func TestTheProviderIsCalledBeforeTheInputIsChecked(t *testing.T) {
	for _, endpoint := range newFixture(t).Endpoints() {
		r := jsonBody("{")
		r.Subject, r.Parameter, r.Query = failing(&httpapi.StatusError{Status: 403}), "%zz", "purpose="
		refuses(t, endpoint.OperationID, r, 403, "")
	}
}

func TestARefusalKeepsItsStatus(t *testing.T) {
	for status, want := range map[int]int{
		400: 400, 401: 401, 403: 403, 404: 404, 418: 418, 451: 451, 499: 499, 503: 503, 599: 599,
		// A status that a client could take for a success becomes 500.
		0: 500, 100: 500, 200: 500, 204: 500, 302: 500, 399: 500, 600: 500, -1: 500,
	} {
		refuses(t, "erasePersonalData", httpapi.Request{Subject: failing(&httpapi.StatusError{Status: status})}, want, "")
	}
}

func TestARefusalSendsItsHeaderAlong(t *testing.T) {
	challenges := []string{"Basic", "Bearer"}
	header := http.Header{
		"www-authenticate": challenges, "content-type": {"text/plain"}, "Cache-Control": {"public"},
		"X-Content-Type-Options": {"none"},
	}
	f := newFixture(t)
	refusal := fmt.Errorf("secret: %w", &httpapi.StatusError{Status: 401, Header: header})
	response := f.call(t, "erasePersonalData", httpapi.Request{Subject: failing(refusal)})
	if got := response.Header.Values("Www-Authenticate"); !slices.Equal(got, []string{"Basic", "Bearer"}) {
		t.Errorf("sent %q", got)
	}
	if problemOf(t, response).Status != 401 || response.Header.Get("Cache-Control") != "no-store" ||
		response.Header.Get("X-Content-Type-Options") != "nosniff" || len(response.Header) != 4 {
		t.Errorf("sent %v", response.Header)
	}
	response.Header["Www-Authenticate"][0] = "changed"
	if challenges[0] != "Basic" {
		t.Error("the response shares memory with the refusal")
	}

	notOne := &httpapi.StatusError{Status: 200, Header: http.Header{"Location": {"/login"}}}
	response = f.call(t, "erasePersonalData", httpapi.Request{Subject: failing(notOne)})
	if response.Status != 500 || response.Header.Get("Location") != "" {
		t.Errorf("got status %d, sent %v", response.Status, response.Header)
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
			t.Errorf("%v: got status %d %s", err, response.Status, response.Body)
		}
		if f.sessions.Opened > 0 {
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
		"no subject":           {},
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
				// The purpose is not valid either. The status is 500 because of the subject, which is checked before the purpose.
				response := f.Handle(t.Context(), endpoint, httpapi.Request{Subject: provider, Parameter: "%zz"})
				if response.Status != http.StatusInternalServerError || f.sessions.Opened > 0 {
					t.Errorf("%s: got status %d, opened %d sessions", endpoint.OperationID, response.Status, f.sessions.Opened)
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
			t.Errorf("%s: got status %d, logged %s", operation, response.Status, f.logged)
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
	if got := f.sessions.Consents[0].SubjectID.String(); got != "1234567890" {
		t.Errorf("the record is now of %s", got)
	}
}
