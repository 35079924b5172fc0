package httptestsuite

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func purposeInAPathIsDecodedOnce(t testing.TB, harness Harness) {
	w := harness.open(t)
	longest := strings.Repeat("😀", 255)
	for segment, purpose := range map[string]string{
		"ads": "ads", "Ads": "Ads", "consent": "consent", "%61": "a", "a%20b": "a b", "a+b": "a+b", "a%2Bb": "a+b",
		"a%2Fb": "a/b", "a%2fb": "a/b", "%2Fa": "/a", "a%2F": "a/", "a%2F%2Fb": "a//b", "a%252Fb": "a%2Fb", "a%25": "a%",
		"%2F": "/", "%2f%2F": "//", "%2F%2Fa%2F%2f": "//a//", "%252F": "%2F", "%252e": "%2e", "%20%2F": " /",
		"%2e%2e": "..", "%2E": ".", "%2F..": "/..", "%2F.%2F": "/./", "a%2F..%2Fb": "a/../b", "%C3%A4.b-c:d": "ä.b-c:d",
		"a;b=c&d,e": "a;b=c&d,e",
		"a%3Fb%23c": "a?b#c", "ads?purpose=other&%zz": "ads", url.PathEscape(longest): longest,
	} {
		body, err := json.Marshal(map[string]any{"granted": true, "policy_version": "v", "purpose": purpose})
		require(t, err)
		w.expect(t, 200, post("/consent", string(body)))
		r := get("/consent/" + segment)
		got := w.expect(t, 200, r)
		assert(t, got.text("purpose") == purpose && strings.Contains(got.body, `"granted":true`),
			"%s returned %s", r, got.body)
	}
}

func purposeInAPathIsChecked(t testing.TB, harness Harness) {
	w := harness.open(t)
	for segment, code := range map[string]string{
		"%00": "character", "a%00b": "character", "%ff": "character", "%C3": "character",
		strings.Repeat("a", 256): "too_long", strings.Repeat("%F0%9F%98%80", 256): "too_long",
	} {
		r := get("/consent/" + segment)
		got := w.expect(t, 422, r)
		assert(t, strings.Contains(got.body, fmt.Sprintf(`"errors":[{"field":"purpose","code":%q`, code)),
			"%s returned %s", r, got.body)
	}
	for _, segment := range []string{"%zz", "%", "a%2", "%%41"} {
		r := get("/consent/" + segment)
		// A server may respond with 400 itself, because it refuses the request line before it calls a handler.
		if got := w.send(t, r); got.status != 422 && got.status != 400 {
			t.Errorf("%s: got status %d, want 422 or 400: %s", r, got.status, got.body)
		}
	}
	w.hasOpenedNone(t)
}

func purposeInAQueryIsDecoded(t testing.TB, harness Harness) {
	w := harness.open(t)
	for query, purpose := range map[string]string{
		"": "", "?": "", "?other=1&%zz=2": "", "?Purpose=ads": "", "?purpose=ads": "ads", "?x&purpose=ads&y=%zz": "ads",
		"?purpose=a+b%2Bc%26d=e": "a b+c&d=e", "?purpose=a%20b%2Fc": "a b/c", "?%70urpose=ads;b": "ads;b",
		"?purpose=%C3%A4?": "ä?", "?purpose=a%252Fb": "a%2Fb",
	} {
		r := get("/restriction" + query)
		got := w.expect(t, 200, r)
		assert(t, got.text("purpose") == purpose && (purpose != "" || strings.Contains(got.body, `"purpose":null`)),
			"%s returned %s", r, got.body)
	}
	for query, code := range map[string]string{
		"?purpose": "required", "?purpose=": "required", "?purpose=a&purpose=a": "duplicate",
		"?purpose=%zz": "character", "?purpose=%ff": "character", "?purpose=%00": "character",
		"?purpose=" + strings.Repeat("a", 256): "too_long",
	} {
		r := get("/restriction" + query)
		got := w.expect(t, 422, r)
		assert(t, strings.Contains(got.body, `"code":"`+code+`"`), "%s returned %s", r, got.body)
	}
}

func purposesThatAreDeclaredAreListed(t testing.TB, harness Harness) {
	purposes, err := domain.NewPurposes(domain.Purpose{Name: "newsletter"}, domain.Purpose{Name: "a/b"})
	require(t, err)
	w := harness.openAmong(t, purposes, "/me", httpapi.Config{}, httpapi.WithRestriction())
	w.expect(t, 200, post("/consent", `{"granted":true,"policy_version":"v1","purpose":"a/b"}`))
	want := w.exact(t, "consent_statuses", 200, get("/consent"))
	head := w.send(t, request{method: http.MethodHead, path: "/consent"})
	if head.status != want.status || head.body != "" ||
		head.header.Get("Content-Type") != want.header.Get("Content-Type") {
		t.Errorf("HEAD /consent: got status %d with %d bytes, want the status and the Content-Type of GET, and no body",
			head.status, len(head.body))
	}
	w.expect(t, 200, get("/consent/a%2Fb"))
	r := get("/consent/%2F") // a purpose, and not the list
	assert(t, strings.Contains(w.expect(t, 422, r).body, `"code":"unknown"`), "%s is a declared purpose", r)
	for _, r := range []request{
		get("/consent/ads"), get("/restriction?purpose=ads"),
		post("/consent", `{"granted":true,"policy_version":"v1","purpose":"ads"}`),
		post("/restriction", `{"restricted":true,"purpose":"ads"}`),
	} {
		got := w.expect(t, 422, r)
		assert(t, strings.Contains(got.body, `"errors":[{"field":"purpose","code":"unknown"`),
			"%s returned %s", r, got.body)
	}
}

func purposeOfThePastCanBeEnded(t testing.TB, harness Harness) {
	declared, err := domain.NewPurposes(domain.Purpose{Name: "newsletter"})
	require(t, err)
	w := harness.openAmong(t, declared, "/me", httpapi.Config{}, httpapi.WithRestriction())
	zoe, ads := subjectID(t, "42"), "ads"
	w.inSession(t, func(ctx context.Context, s ports.Session) error {
		require(t, s.Restrictions().Append(ctx, domain.RestrictionRecord{
			SubjectID: zoe, Purpose: &ads, Restricted: true, Source: "api",
		}))
		return s.Consents().Append(ctx, domain.ConsentRecord{
			SubjectID: zoe, Purpose: ads, PolicyVersion: "v1", Granted: true, Source: "api",
		})
	})
	withdrawal := post("/consent", `{"granted":false,"policy_version":"v1","purpose":"ads"}`)
	lift := post("/restriction", `{"restricted":false,"purpose":"ads"}`)
	refused := func(r request) {
		t.Helper()
		got := w.expect(t, 422, r)
		assert(t, strings.Contains(got.body, `"errors":[{"field":"purpose","code":"unknown"`), "%s returned %s", r, got.body)
	}
	list := w.expect(t, 200, get("/consent"))
	assert(t, strings.Contains(list.body, `"purpose":"ads","granted":true`), "before: %s", list.body)
	w.expect(t, 200, get("/consent/ads"))
	w.expect(t, 200, get("/restriction?purpose=ads"))
	refused(post("/consent", `{"granted":true,"policy_version":"v1","purpose":"ads"}`))
	refused(post("/restriction", `{"restricted":true,"purpose":"ads"}`))

	w.expect(t, 200, withdrawal)
	w.expect(t, 200, lift)
	list = w.expect(t, 200, get("/consent"))
	assert(t, !strings.Contains(list.body, "ads"), "after: %s", list.body)
	for _, r := range []request{withdrawal, lift, get("/consent/ads"), get("/restriction?purpose=ads")} {
		refused(r)
	}
	consents, restrictions := w.consented(t, "42", ads), w.restricted(t, "42", ads)
	assert(t, len(consents) == 2 && len(restrictions) == 2,
		"%d consents and %d restrictions are recorded, want 2 and 2", len(consents), len(restrictions))
}
