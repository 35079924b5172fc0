package httptestsuite

import (
	"net/http"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

const (
	decision  = `{"granted":true,"policy_version":"v1 ä","purpose":"newsletter"}`
	placement = `{"restricted":true}`
)

func consentResponsesAreExact(t testing.TB, harness Harness) {
	w := harness.open(t)
	w.exact(t, "consent_status_none", 200, get("/consent/newsletter"))
	w.exact(t, "consent_given", 200, post("/consent", decision))
	w.exact(t, "consent_status", 200, get("/consent/newsletter"))
	w.exact(t, "consent_withdrawn", 200,
		post("/consent", `{"granted":false,"policy_version":"v2","purpose":"newsletter"}`))
}

func restrictionResponsesAreExact(t testing.TB, harness Harness) {
	w := harness.open(t)
	w.exact(t, "restriction_status_none", 200, get("/restriction"))
	w.exact(t, "restriction_placed_purpose", 200,
		post("/restriction", `{"restricted":true,"purpose":"ads","reason":"wrong"}`))
	w.exact(t, "restriction_status_purpose", 200, get("/restriction?purpose=ads"))
	w.exact(t, "restriction_placed_all", 200, post("/restriction", placement))
	w.exact(t, "restriction_status_all", 200, get("/restriction?purpose=ads"))
	w.exact(t, "restriction_lifted", 200, post("/restriction", `{"restricted":false,"purpose":null,"reason":null}`))
}

func exportResponsesAreExact(t testing.TB, harness Harness) {
	w := harness.open(t)
	w.exact(t, "export", 200, get("/export"))
	w.exact(t, "export_without_rows", 200, get("/export").withSubject("7"))
}

func erasureResponsesAreExact(t testing.TB, harness Harness) {
	w := harness.open(t)
	w.exact(t, "erasure", 200, request{method: http.MethodDelete})
	assert(t, len(w.trail(t, "42")) != 0, "the store has no event of an erasure")
	w.hasNoEventsOf(t, "43")
}

// successes has one successful request for each endpoint.
var successes = []request{
	post("/consent", decision),
	get("/consent/newsletter"),
	get("/export"),
	{method: http.MethodDelete},
	post("/restriction", placement),
	get("/restriction"),
}

func resultsAreUncachedJSON(t testing.TB, harness Harness) {
	w := harness.open(t)
	for _, r := range successes {
		w.expect(t, 200, r).hasHeaders(t, r, "application/json")
	}
}

// hasHeaders checks the headers that every response must have.
func (res received) hasHeaders(t testing.TB, r request, contentType string) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Type": contentType, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
	} {
		got := res.header.Values(name)
		assert(t, len(got) == 1 && got[0] == want, "%s: %d with %s %q, not %q", r, res.status, name, got, want)
	}
}

// tooLarge is a body whose JSON is valid but whose size exceeds the limit.
var tooLarge = strings.Repeat(" ", httpapi.MaxBodySize) + decision

// problems has failing requests, at least one for each problem document that the API returns while the store works.
var problems = []struct {
	golden string
	status int
	request
}{
	{"problem_400", 400, post("/consent", "{")},
	{"problem_401", 401, request{method: http.MethodDelete}.withoutSubject()},
	{"problem_403", 403, request{method: http.MethodDelete}.withSubject(forbidden)},
	{"problem_404", 404, get("/unknown")},
	{"problem_405", 405, get("/consent")},
	{"problem_413", 413, post("/consent", tooLarge)},
	{"problem_415_content_type", 415, post("/consent", decision).withHeader("Content-Type", "text/plain")},
	{"problem_415_content_coding", 415, post("/consent", decision).withHeader("Content-Encoding", "gzip")},
	{"problem_422_one_field", 422, post("/restriction", `{"restricted":"true"}`)},
	{
		"problem_422_many_fields", 422,
		post("/consent", `{"granted":1,"purpose":"","subject_id":"7","policy_version":null}`),
	},
	{"problem_422_no_object", 422, post("/consent", `[]`)},
	{"problem_422_path", 422, get("/consent/%00")},
	{"problem_422_query", 422, get("/restriction?purpose=a&purpose=b")},
	{"problem_500", 500, get("/export").withSubject(failing)},
}

func problemResponsesAreExact(t testing.TB, harness Harness) {
	w := harness.open(t)
	for _, problem := range problems {
		w.exact(t, problem.golden, problem.status, problem.request)
	}
	w.hasOpenedNone(t)
}

func problemsAreUncachedProblemJSON(t testing.TB, harness Harness) {
	w := harness.open(t)
	for _, problem := range problems {
		w.expect(t, problem.status, problem.request).hasHeaders(t, problem.request, "application/problem+json")
	}
}
