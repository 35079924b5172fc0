package httptestsuite

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/register"
	held "github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

// openRegister serves the API with the register of requests and its routes.
func (h Harness) openRegister(t testing.TB) *world {
	t.Helper()
	of := &ids{}
	of.last.Store(1000) // apart from those of the services
	kept, err := register.New(register.Config{
		Clock: &clock{}, IDs: of, Secrets: &secrets{}, Rules: held.Rules{Zone: time.UTC},
	})
	require(t, err)
	return h.openAt(t, "/me", httpapi.Config{Requests: kept}, httpapi.WithRestriction(), httpapi.WithRequests())
}

// secrets is a counter.
type secrets struct{ last atomic.Int64 }

func (s *secrets) Number() (number [13]byte) {
	number[12] = byte(s.last.Add(1)) //nolint:gosec // a test makes few
	return number
}

const (
	firstNumber  = "10000000000000000000"
	secondNumber = "20000000000000000000"
	opening      = `{"kind":"access"}`
)

func openRequest() request { return post("/requests", opening) }

func withdraw(number string) request {
	return request{method: http.MethodDelete, path: "/requests/" + number}
}

func requestResponsesAreExact(t testing.TB, harness Harness) {
	w := harness.openRegister(t)
	w.exact(t, "requests_none", 200, get("/requests"))
	opened := w.exact(t, "request_opened", 201, openRequest())
	assert(t, opened.header.Get("Location") == "requests/"+firstNumber, "Location is %q", opened.header.Get("Location"))
	w.exact(t, "request_opened", 200, openRequest())
	w.exact(t, "requests", 200, get("/requests"))
	w.exact(t, "request_withdrawn", 200, withdraw(firstNumber))
	w.exact(t, "request_withdrawn", 200, withdraw(firstNumber))
	w.exact(t, "request_withdrawn", 200, get("/requests/"+firstNumber))
	w.exact(t, "problem_422_request", 422, post("/requests", `{"kind":"objection"}`))
}

func requestsAreFoundAsPeopleWriteThem(t testing.TB, harness Harness) {
	w := harness.openRegister(t)
	w.expect(t, 201, openRequest())
	for _, written := range []string{firstNumber, "l0000-ooooo-00000-OOOOO", "10000%2000000%20%2000000%2000000"} {
		w.expect(t, 200, get("/requests/"+written))
	}
	for _, wrong := range []string{secondNumber, "1", "%zz", "1000000000000000000u", firstNumber + "0", "%C3%A4"} {
		got := w.send(t, get("/requests/"+wrong))
		assert(t, got.status == 404 || got.status == 400, "%s: got status %d", wrong, got.status)
	}
	for _, r := range []request{get("/requests/" + firstNumber), withdraw(firstNumber)} {
		got := w.expect(t, 404, r.withSubject("43"))
		none := w.expect(t, 404, withdraw(secondNumber))
		assert(t, got.body == none.body, "the number of another person looks different: %s", got.body)
	}
	got := w.expect(t, 200, get("/requests").withSubject("43"))
	assert(t, strings.Contains(got.body, `"requests":[]`), "another person sees %s", got.body)
}

func requestRoutesAreOptional(t testing.TB, harness Harness) {
	without := harness.open(t)
	for _, r := range []request{get("/requests"), openRequest(), withdraw(firstNumber)} {
		without.expect(t, 404, r)
	}
	unset := harness.openAt(t, "/me", httpapi.Config{}, httpapi.WithRequests())
	for _, r := range []request{get("/requests"), openRequest(), withdraw(firstNumber)} {
		unset.expect(t, 500, r)
	}
	unset.hasOpenedNone(t)
}

func rightsAreRecordedAsRequests(t testing.TB, harness Harness) {
	w := harness.openRegister(t)
	open := w.expect(t, 201, openRequest()).text("number")
	exported := w.expect(t, 200, get("/export")).text("request")
	assert(t, exported != "" && exported != open, "the export has the number %q", exported)
	got := w.expect(t, 200, get("/requests/"+open))
	assert(t, got.text("state") == "received", "an export without a system has closed the request: %s", got.body)
	got = w.expect(t, 200, get("/requests/"+exported))
	assert(t, got.text("state") == "fulfilled" && strings.Contains(got.body, `"partly":true`), "the export: %s", got.body)
	w.expect(t, 200, post("/restriction", placement))
	w.expect(t, 200, post("/restriction", `{"restricted":false}`))
	got = w.expect(t, 200, get("/requests"))
	assert(t, strings.Count(got.body, `"number"`) == 3, "not three requests: %s", got.body)
	erased := w.expect(t, 200, request{method: http.MethodDelete}).text("request")
	assert(t, erased != "", "the erasure has no number")
	for _, number := range []string{exported, erased} {
		n := 0
		for _, event := range w.trail(t, "42") {
			if event.Payload[domain.PayloadOperationID] == number {
				n++
			}
		}
		assert(t, n > 2, "%d events have the number of a request", n)
	}
}

func requestsHaveALimit(t testing.TB, harness Harness) {
	w := harness.openRegister(t)
	for range register.DailyLimit {
		w.expect(t, 200, withdraw(w.expect(t, 201, openRequest()).text("number")))
	}
	w.exact(t, "problem_429", 429, openRequest())
	w.expect(t, 429, request{method: http.MethodDelete})
	w.expect(t, 200, get("/export"))
	w.expect(t, 201, openRequest().withSubject("43"))
}

func requestsThatAreDecidedStay(t testing.TB, harness Harness) {
	w := harness.openRegister(t)
	w.expect(t, 200, post("/restriction", placement))
	got := w.exact(t, "problem_409_decided", 409, withdraw(firstNumber))
	assert(t, strings.Contains(got.body, "fulfilled"), "the state is missing: %s", got.body)
}

func heldErasuresAre409(t testing.TB, harness Harness) {
	w := harness.openRegister(t)
	w.inSession(t, func(ctx context.Context, s ports.Session) error {
		return s.Register().Holds.Add(ctx, held.Hold{
			ID: "h1", SubjectID: subjectID(t, "42"), Ground: held.LegalClaims, PlacedBy: "ada",
			PlacedAt: time.Now(), ReviewAt: time.Now(),
		})
	})
	w.exact(t, "problem_409_held", 409, request{method: http.MethodDelete})
	w.expect(t, 200, get("/export"))
	w.expect(t, 200, request{method: http.MethodDelete}.withSubject("43"))
}
