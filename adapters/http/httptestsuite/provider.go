package httptestsuite

import (
	"net/http"
	"strings"
	"testing"
)

func providerDecidesOnTheStatus(t testing.TB, harness Harness) {
	w := harness.open(t)
	for _, r := range successes {
		w.expect(t, 401, r.withoutSubject())
		w.expect(t, 403, r.withSubject(forbidden))
		w.expect(t, 500, r.withSubject(failing))
		w.expect(t, 500, r.withSubject(panicking))
		w.expect(t, 500, r.withSubject("no number")) // the key of the data map cannot hold this id
	}
	w.hasOpenedNone(t)
}

func providerIsCalledFirst(t testing.TB, harness Harness) {
	w := harness.open(t)
	for _, r := range []request{
		post("/consent", "{"), post("/consent", decision).withHeader("Content-Type", "text/plain"),
		post("/consent", tooLarge), get("/consent/%00"), get("/restriction?purpose="),
	} {
		w.expect(t, 401, r.withoutSubject())
		w.expect(t, 403, r.withSubject(forbidden))
	}
}

func providerAloneNamesTheSubject(t testing.TB, harness Harness) {
	w := harness.open(t)
	for _, r := range successes {
		separator := "?"
		if strings.Contains(r.path, "?") {
			separator = "&"
		}
		r.path += separator + "subject=43&subject_id=43&user_id=43&id=43"
		for _, name := range []string{
			"X-Subject", "X-Subject-Id", "X-User", "X-User-Id", "Subject", "Authorization", "Cookie", "From",
		} {
			r = r.withHeader(name, "43")
		}
		if got := w.expect(t, 200, r); got.text("subject_id") != "42" || strings.Contains(got.body, confidential) {
			t.Errorf("%s returned %s", r, got.body)
		}
	}
	for _, r := range []request{get("/43/export"), {method: http.MethodDelete, path: "/43"}, get("/consent/43/ads")} {
		w.expect(t, 404, r)
	}
	w.expect(t, 200, get("/consent/43"))
	w.hasNoEventsOf(t, "43")
}

func headerOfARefusalIsSentAlong(t testing.TB, harness Harness) {
	w := harness.open(t)
	for _, r := range successes {
		got := w.expect(t, 401, r.withoutSubject())
		challenge := got.header.Get("WWW-Authenticate")
		assert(t, challenge == `Bearer realm="suite"`, "%s: WWW-Authenticate is %q", r, challenge)
	}
}
