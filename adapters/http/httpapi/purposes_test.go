package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

// withPurposes declares newsletter and ads.
func withPurposes(t *testing.T) func(*httpapi.Config) {
	t.Helper()
	purposes, err := domain.NewPurposes(domain.Purpose{Name: "newsletter"}, domain.Purpose{Name: "ads"})
	require(t, err)
	return func(c *httpapi.Config) {
		c.Consent, c.Restriction = c.Consent.WithPurposes(purposes), c.Restriction.WithPurposes(purposes)
	}
}

func TestDeclaredPurposesAreListed(t *testing.T) {
	f := newFixture(t, withPurposes(t))
	f.call(t, "recordConsent", jsonBody(`{"granted":true,"policy_version":"v2","purpose":"ads"}`))
	golden(t, "consent_statuses", f.call(t, "listConsentStatuses", httpapi.Request{Subject: as("42")}))
	golden(t, "consent_statuses_none", f.call(t, "listConsentStatuses", httpapi.Request{Subject: as("7")}))
	for method, status := range map[string]int{"GET": 200, "HEAD": 200, "OPTIONS": 204, "PUT": 405} {
		if got := f.Route(t.Context(), method, "/consent", httpapi.Request{Subject: as("42")}); got.Status != status {
			t.Errorf("%s: %d %s", method, got.Status, got.Body)
		}
	}
	stranger := httpapi.Request{Subject: failing(&httpapi.StatusError{Status: 401})}
	if got := f.Route(t.Context(), "GET", "/consent", stranger); got.Status != 401 {
		t.Errorf("a stranger: %d", got.Status)
	}
}

func TestAPurposeThatIsNotDeclaredIsRefused(t *testing.T) {
	f := newFixture(t, withPurposes(t))
	for name, test := range map[string]struct {
		operation string
		request   httpapi.Request
		sessions  int // 1 if the ledger looks for something in force
	}{
		"grant":              {"recordConsent", jsonBody(`{"granted":true,"policy_version":"v","purpose":"Ads"}`), 0},
		"withdraw":           {"recordConsent", jsonBody(`{"granted":false,"policy_version":"v","purpose":"Ads"}`), 1},
		"status":             {"getConsentStatus", httpapi.Request{Subject: as("42"), Parameter: "Ads"}, 1},
		"place":              {"recordRestriction", jsonBody(`{"restricted":true,"purpose":"Ads"}`), 0},
		"lift":               {"recordRestriction", jsonBody(`{"restricted":false,"purpose":"Ads"}`), 1},
		"restriction status": {"getRestrictionStatus", httpapi.Request{Subject: as("42"), Query: "purpose=Ads"}, 1},
	} {
		opened := f.sessions.Opened
		response := f.call(t, test.operation, test.request)
		problem := problemOf(t, response)
		if response.Status != 422 || len(problem.Errors) != 1 || problem.Errors[0].Field != "purpose" ||
			problem.Errors[0].Code != "unknown" {
			t.Errorf("%s: %d %s", name, response.Status, response.Body)
		}
		if opened = f.sessions.Opened - opened; opened != test.sessions {
			t.Errorf("%s: %d sessions were opened, want %d", name, opened, test.sessions)
		}
	}
	if f.logged.Len() > 0 {
		t.Errorf("logged %q", f.logged)
	}
	for name, response := range map[string]httpapi.Response{
		"record":             f.call(t, "recordConsent", jsonBody(`{"granted":false,"policy_version":"v","purpose":"ads"}`)),
		"status":             f.call(t, "getConsentStatus", httpapi.Request{Subject: as("42"), Parameter: "newsletter"}),
		"restriction":        f.call(t, "recordRestriction", jsonBody(`{"restricted":true,"purpose":null}`)),
		"restriction status": f.call(t, "getRestrictionStatus", httpapi.Request{Subject: as("42"), Query: "purpose=ads"}),
	} {
		if response.Status != http.StatusOK {
			t.Errorf("%s: %d %s", name, response.Status, response.Body)
		}
	}
}

// If a purpose is not declared, the response lists this error together with the errors of the other fields.
func TestAnUnknownPurposeIsNamedWithTheOtherFaults(t *testing.T) {
	f := newFixture(t, withPurposes(t))
	problem := problemOf(t, f.call(t, "recordConsent", jsonBody(`{"granted":1,"purpose":"x","policy_version":""}`)))
	var named []string
	for _, fault := range problem.Errors {
		named = append(named, fault.Field+":"+fault.Code)
	}
	if want := []string{"granted:type", "policy_version:required", "purpose:unknown"}; !slices.Equal(named, want) {
		t.Errorf("got %q, want %q", named, want)
	}
}

func TestWithoutDeclaredPurposesThereIsNoList(t *testing.T) {
	f := newFixture(t)
	if got := f.Route(t.Context(), "GET", "/consent", httpapi.Request{Subject: as("42")}); got.Status != 405 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	for name, api := range map[string]*httpapi.API{"plain": f.API, "purposes": newFixture(t, withPurposes(t)).API} {
		document, err := api.OpenAPI("/me")
		require(t, err)
		listed := strings.Contains(string(document), "listConsentStatuses")
		if defined := strings.Contains(string(document), `"ConsentStatuses":`); listed != (name == "purposes") ||
			defined != listed {
			t.Errorf("%s: described %v, with its schema %v", name, listed, defined)
		}
	}
}
