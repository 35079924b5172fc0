package budget_test

import (
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/shop"
)

const module = "github.com/habeas-data/habeas/"

// stackClock is a clock that records the call stack of the first call of Now. Each service calls Now itself, so this
// stack shows the functions between the handler of a route and its service.
type stackClock struct{ functions []string }

func (c *stackClock) Now() time.Time {
	if c.functions == nil {
		callers := make([]uintptr, 100)
		frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
		for frame, more := frames.Next(); more; frame, more = frames.Next() {
			c.functions = append(c.functions, frame.Function)
		}
	}
	return time.Now()
}

// between returns the functions on the recorded stack that are between the handler and the service. The handler calls
// the service through these functions.
func (c *stackClock) between(t *testing.T, handler, service string) []string {
	t.Helper()
	from, to := -1, -1
	for i, function := range c.functions { // innermost function first
		switch function {
		case module + service:
			from = i + 1
		case module + handler:
			to = i
		}
	}
	if from < 0 || to < from {
		t.Fatalf("%s and %s are not on the stack:\n%s", handler, service, strings.Join(c.functions, "\n"))
	}
	return c.functions[from:to]
}

func TestRequestsKeepTheirBudgetOfFrames(t *testing.T) {
	const frames = 5
	db := databases.SQLite(t)
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	databases.Create(t, db, shop.WithInvoices...)
	for _, request := range []struct{ method, path, body, service string }{
		{"DELETE", "/me", "", "domain/erasure.(*Eraser).Erase"},
		{"POST", "/me/consent", decision, "domain/consent.(*Ledger).Record"},
		{"POST", "/me/restriction", `{"restricted":true}`, "domain/restriction.(*Ledger).Record"},
	} {
		clock := &stackClock{}
		gdpr, err := app.New(app.Config{DB: db, Models: shop.WithInvoices, Clock: clock})
		must(t, err)
		server := fiber.New()
		subject := func(*fiber.Ctx) (domain.Subject, error) { return domain.NewSubject("1") }
		server.Route("/me", gdpr.Router(subject, app.WithRestriction()))
		r := httptest.NewRequest(request.method, request.path, strings.NewReader(request.body))
		r.Header.Set("Content-Type", "application/json")
		response, err := server.Test(r, -1)
		must(t, err)
		must(t, response.Body.Close())
		if response.StatusCode != fiber.StatusOK {
			t.Fatalf("%s %s: %d", request.method, request.path, response.StatusCode)
		}
		between := clock.between(t, "adapters/http/fiberhttp.(*route).handle", request.service)
		t.Logf("%s %s: %d frames:\n%s", request.method, request.path, len(between), strings.Join(between, "\n"))
		if len(between) > frames {
			t.Errorf("%s %s: %d frames, and the budget is %d", request.method, request.path, len(between), frames)
		}
	}
}
