package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

func TestResultsAreSentAsTheyAre(t *testing.T) {
	f := newFixture(t)
	basis, purpose, reason, expires := domain.BasisContract, "billing", "§147 AO <b>", clock{}.Now().AddDate(10, 0, 0)
	f.sessions.Rows = []domain.ExportRecord{
		{Source: "users", Field: "email", Row: "42", Category: "contact", Value: "<ada@example.com> & co"},
		{
			Source: "invoices", Field: "total", Row: "7", Category: "financial", Value: domain.Number("19.90"),
			LegalBasis: &basis, Purpose: &purpose, RetentionReason: &reason, ExpiresAt: &expires,
		},
		{Source: "users", Field: "theme", Row: "42", Category: "technical", Value: domain.JSON(`{"dark":true}`)},
		{Source: "users", Field: "photo", Row: "42", Category: "special", Value: []byte{0xff, 0x00}},
		{Source: "users", Field: "born", Row: "42", Category: "identity", Value: clock{}.Now()},
		{Source: "users", Field: "phone", Row: "42", Category: "contact", Value: nil},
		{Source: "users", Field: "visits", Row: "42", Category: "behavioral", Value: int64(1) << 60},
	}
	whole := httpapi.Request{Subject: as("42",
		domain.SubjectRef{Kind: "supportdesk", Value: "c-1"}, domain.SubjectRef{Kind: "newsletter", Value: "n-1"})}
	get := func(purpose, query string) httpapi.Request {
		return httpapi.Request{Subject: as("42"), Parameter: purpose, Query: query}
	}

	for i, step := range []struct {
		golden, operation string
		request           httpapi.Request
	}{
		{"consent_status_none", "getConsentStatus", get("newsletter", "")},
		{"consent_given", "recordConsent", jsonBody(`{"granted":true,"policy_version":"v1 ä","purpose":"newsletter"}`)},
		{"consent_status", "getConsentStatus", get("newsletter", "")},
		{"consent_withdrawn", "recordConsent", jsonBody(`{"granted":false,"policy_version":"v2","purpose":"newsletter"}`)},
		{"restriction_status_none", "getRestrictionStatus", get("", "")},
		{"restriction_placed_purpose", "recordRestriction", jsonBody(`{"restricted":true,"purpose":"ads","reason":"wrong"}`)},
		{"restriction_status_purpose", "getRestrictionStatus", get("", "purpose=ads")},
		{"restriction_placed_all", "recordRestriction", jsonBody(`{"restricted":true}`)},
		{"restriction_status_all", "getRestrictionStatus", get("", "purpose=ads")},
		{"restriction_lifted", "recordRestriction", jsonBody(`{"restricted":false,"purpose":null,"reason":null}`)},
		{"export", "exportPersonalData", whole},
		{"erasure", "erasePersonalData", whole},
	} {
		response := f.call(t, step.operation, step.request)
		if response.Status != http.StatusOK || !json.Valid(response.Body) {
			t.Errorf("%s: status %d, body %s", step.golden, response.Status, response.Body)
		}
		golden(t, step.golden, response)
		if f.sessions.Opened != i+1 {
			t.Errorf("%s: not exactly one session: %d after %d requests", step.golden, f.sessions.Opened, i+1)
		}
	}
	if f.logged.Len() > 0 {
		t.Errorf("a success was logged: %s", f.logged)
	}
}

func TestEveryProblemHasItsShape(t *testing.T) {
	coded := func(code domain.Code) error {
		return &domain.Error{Code: code, Op: "secret", Message: "secret", Err: errors.New("secret")}
	}
	for _, test := range []struct {
		name     string
		status   int
		request  httpapi.Request
		sessions error // of SessionFactory.Do
	}{
		{"400", http.StatusBadRequest, jsonBody(`{`), nil},
		{"401", 401, httpapi.Request{Subject: failing(&httpapi.StatusError{Status: 401, Err: errors.New("secret")})}, nil},
		{"403", 403, httpapi.Request{Subject: failing(fmt.Errorf("secret: %w", &httpapi.StatusError{Status: 403}))}, nil},
		{"413", 413, jsonBody(strings.Repeat(" ", httpapi.MaxBodySize) + "1"), nil},
		{"415_content_type", 415, httpapi.Request{Subject: as("42"), Body: strings.NewReader(`{}`)}, nil},
		{"415_content_coding", 415, httpapi.Request{
			Subject: as("42"), ContentType: "application/json", ContentEncoding: "gzip", Body: strings.NewReader(`{}`),
		}, nil},
		{"422_not_an_object", 422, jsonBody(`[]`), nil},
		{"422_fields", 422, jsonBody(`{"granted":1,"purpose":"","subject_id":"7","policy_version":null}`), nil},
		{"500", 500, jsonBody(valid), errors.New("secret")},
		{"503_unavailable", 503, jsonBody(valid), coded(domain.ErrUnavailable)},
		{"503_canceled", 503, jsonBody(valid), context.Canceled},
		{"504", 504, jsonBody(valid), context.DeadlineExceeded},
	} {
		f := newFixture(t)
		f.sessions.Before = func(context.Context) error { return test.sessions }
		response := f.call(t, "recordConsent", test.request)
		if problemOf(t, response).Status != test.status {
			t.Errorf("%s: got status %d", test.name, response.Status)
		}
		if strings.Contains(string(response.Body), "secret") {
			t.Errorf("%s: shows the error's text: %s", test.name, response.Body)
		}
		if test.status < 500 && (f.sessions.Opened > 0 || f.logged.Len() > 0) {
			t.Errorf("%s: opened %d sessions and logged %q", test.name, f.sessions.Opened, f.logged)
		}
		golden(t, "problem_"+test.name, response)
	}
}

// valid is a valid body for recordConsent.
const valid = `{"granted":true,"policy_version":"v1","purpose":"newsletter"}`

func TestAFactoryThatRetriesGivesTheResultOfTheLastAttempt(t *testing.T) {
	f := newFixture(t)
	f.sessions.Twice = true
	f.sessions.Rows = []domain.ExportRecord{{Source: "users", Field: "email", Row: "42", Value: "once"}}
	response := f.call(t, "exportPersonalData", httpapi.Request{Subject: as("42")})
	if response.Status != http.StatusOK || strings.Count(string(response.Body), "once") != 1 {
		t.Errorf("got %d %s", response.Status, response.Body)
	}
}

func TestAResultThatCannotBeEncodedIsAnInternalError(t *testing.T) {
	f := newFixture(t)
	f.sessions.Rows = []domain.ExportRecord{{Source: "users", Value: domain.JSON(`{"secret`)}}
	response := f.call(t, "exportPersonalData", httpapi.Request{Subject: as("42")})
	problem := problemOf(t, response)
	if problem.Status != http.StatusInternalServerError || strings.Contains(f.logged.String(), "secret") {
		t.Errorf("got %s, logged %s", response.Body, f.logged)
	}
}

func TestARequestEndsWithItsDeadline(t *testing.T) {
	f := newFixture(t, func(c *httpapi.Config) { c.Timeout = time.Millisecond })
	f.sessions.Before = func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	response := f.call(t, "exportPersonalData", httpapi.Request{Subject: as("42")})
	if problemOf(t, response).Status != http.StatusGatewayTimeout {
		t.Errorf("got %d", response.Status)
	}
}

func TestTheDefaultDeadlineHoldsForTheProviderToo(t *testing.T) {
	f := newFixture(t)
	var left time.Duration
	f.call(t, "exportPersonalData", httpapi.Request{Subject: func(ctx context.Context) (domain.Subject, error) {
		deadline, _ := ctx.Deadline()
		left = time.Until(deadline)
		return domain.NewSubject("42")
	}})
	if left <= 0 || left > httpapi.DefaultTimeout {
		t.Errorf("the provider had %v", left)
	}
}

func TestARequestEndsWithItsClient(t *testing.T) {
	f := newFixture(t)
	f.sessions.Before = func(ctx context.Context) error { return ctx.Err() }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	response := f.Handle(ctx, f.Endpoints()[2], httpapi.Request{Subject: as("42")})
	if problemOf(t, response).Status != http.StatusServiceUnavailable {
		t.Errorf("got %d", response.Status)
	}
}
