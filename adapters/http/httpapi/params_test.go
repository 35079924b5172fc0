package httpapi_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/httpfake"
)

func TestThePurposeInAPathIsUnescapedOnce(t *testing.T) {
	for segment, want := range map[string]string{
		"newsletter":   "newsletter",
		"a%2Fb%20c":    "a/b c",
		"a%2fb":        "a/b",
		"a+b":          "a+b",
		"%252F":        "%2F",
		"%C3%A4":       "ä",
		"a;b=c&d?":     "a;b=c&d?",
		"..":           "..",
		"%F0%9F%98%80": "😀",
	} {
		f := newFixture(t)
		response := f.call(t, "getConsentStatus", httpapi.Request{Subject: as("42"), Parameter: segment})
		if got := decode[domain.ConsentStatus](t, response).Purpose; got != want {
			t.Errorf("%s addresses %q", segment, got)
		}
	}
}

func TestAPurposeInAPathThatIsNotValidIsRefused(t *testing.T) {
	for segment, want := range map[string]string{
		"":      "purpose required",
		"%":     "purpose character",
		"%zz":   "purpose character",
		"a%2":   "purpose character",
		"%ff":   "purpose character",
		"a%00b": "purpose character",
		strings.Repeat("%C3%A4", domain.MaxTextLength+1): "purpose too_long",
	} {
		refuses(t, "getConsentStatus", httpapi.Request{Subject: as("42"), Parameter: segment}, 422, want)
	}
	accepts(t, "getConsentStatus",
		httpapi.Request{Subject: as("42"), Parameter: strings.Repeat("%C3%A4", domain.MaxTextLength)})
}

func TestThePurposeInAQuerySelectsTheStatus(t *testing.T) {
	for query, want := range map[string]*string{
		"":                      nil,
		"other=1&%zz=2":         nil,
		"Purpose=ads":           nil,
		"purpose=ads":           ptr("ads"),
		"x&purpose=ads&y=%zz":   ptr("ads"),
		"purpose=a+b%2Bc%26d=e": ptr("a b+c&d=e"),
		"%70urpose=ads;b":       ptr("ads;b"),
	} {
		f := newFixture(t)
		response := f.call(t, "getRestrictionStatus", httpapi.Request{Subject: as("42"), Query: query})
		got := decode[domain.RestrictionStatus](t, response).Purpose
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s selects %v", query, got)
		}
	}
}

func TestAPurposeInAQueryThatIsNotValidIsRefused(t *testing.T) {
	for query, want := range map[string]string{
		"purpose":               "purpose required",
		"purpose=":              "purpose required",
		"purpose=a&purpose=a":   "purpose duplicate",
		"purpose=a&x=1&purpose": "purpose duplicate",
		"purpose=%zz":           "purpose character",
		"purpose=%ff":           "purpose character",
		"purpose=%00":           "purpose character",
		"purpose=" + strings.Repeat("a", domain.MaxTextLength+1): "purpose too_long",
	} {
		refuses(t, "getRestrictionStatus", httpapi.Request{Subject: as("42"), Query: query}, 422, want)
	}
}

func TestEveryPurposeCanBeAddressed(t *testing.T) {
	f := newFixture(t)
	rapid.Check(t, func(r *rapid.T) {
		purpose := rapid.StringMatching(`[^\x00]{1,40}`).Draw(r, "purpose")
		inPath := f.call(t, "getConsentStatus", httpapi.Request{Subject: as("42"), Parameter: url.PathEscape(purpose)})
		if got := decode[domain.ConsentStatus](t, inPath).Purpose; got != purpose {
			r.Errorf("in a path, %q is %q", purpose, got)
		}
		inQuery := f.call(t, "getRestrictionStatus",
			httpapi.Request{Subject: as("42"), Query: url.Values{"purpose": {purpose}}.Encode()})
		if got := decode[domain.RestrictionStatus](t, inQuery).Purpose; got == nil || *got != purpose {
			r.Errorf("in a query, %q is another", purpose)
		}
	})
}

func TestNothingOfARequestIsKept(t *testing.T) {
	buffer := []byte("purpose=newsletter")
	reused := unsafe.String(&buffer[0], len(buffer))
	f := newFixture(t)
	f.call(t, "getRestrictionStatus", httpapi.Request{Subject: as("42"), Query: reused})
	f.call(t, "getConsentStatus", httpapi.Request{Subject: as("42"), Parameter: reused[8:]})
	copy(buffer, "overwritten by the next request")
	want := httpfake.Lookup{ID: "42", Purpose: "newsletter"}
	if kept := f.sessions.Lookups; !slices.Equal(kept, []httpfake.Lookup{want, want}) {
		t.Errorf("the store has %q", kept)
	}
}

func ptr(s string) *string { return &s }
