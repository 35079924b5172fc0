package httptestsuite

import (
	"net/http"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

// tooLarge is a valid body but for its size.
var tooLarge = strings.Repeat(" ", httpapi.MaxBodySize) + decision

// problems are requests that fail, at least one for each kind of problem that needs no fault of the store.
var problems = []struct {
	golden string
	status int
	request
}{
	{"problem_400", 400, post("/consent", "{")},
	{"problem_401", 401, request{method: http.MethodDelete}.byNobody()},
	{"problem_403", 403, request{method: http.MethodDelete}.as(forbidden)},
	{"problem_404", 404, get("/unknown")},
	{"problem_405", 405, get("/consent")},
	{"problem_413", 413, post("/consent", tooLarge)},
	{"problem_415_content_type", 415, post("/consent", decision).with("Content-Type", "text/plain")},
	{"problem_415_content_coding", 415, post("/consent", decision).with("Content-Encoding", "gzip")},
	{"problem_422_one_field", 422, post("/restriction", `{"restricted":"true"}`)},
	{"problem_422_many_fields", 422, post("/consent", `{"granted":1,"purpose":"","subject_id":"7","policy_version":null}`)},
	{"problem_422_no_object", 422, post("/consent", `[]`)},
	{"problem_422_path", 422, get("/consent/%00")},
	{"problem_422_query", 422, get("/restriction?purpose=a&purpose=b")},
	{"problem_500", 500, get("/export").as(failing)},
}

func problemsAreAnsweredExactly(t testing.TB, harness Harness) {
	w := harness.open(t)
	for _, problem := range problems {
		w.exact(t, problem.golden, problem.status, problem.request)
	}
	w.hasOpenedNone(t)
}

func problemsAreProblemJSONThatIsNotStored(t testing.TB, harness Harness) {
	w := harness.open(t)
	for _, problem := range problems {
		w.expect(t, problem.status, problem.request).hasHeaders(t, problem.request, "application/problem+json")
	}
}
