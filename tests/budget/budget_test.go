// Package budget tests the cost of requests: the numbers of round trips to the database and of allocations. It counts,
// and does not measure durations, so that the results are the same on slow and fast machines.
package budget_test

import (
	"context"
	"database/sql"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/internal/tests/shop"
	"github.com/habeas-data/habeas/ports"
)

func TestMain(m *testing.M) { postgres.Main(m) }

var must = fixture.Must

// steps is the number of steps in an erasure of shop.WithInvoices, one for each table: the erasure deletes parcels,
// anonymizes customers and retains invoices.
const steps = 3

type world struct {
	db       *bun.DB
	api      *httpapi.API
	sessions ports.SessionFactory
	trips    *atomic.Int64
}

func newWorld(t *testing.T) world {
	t.Helper()
	connector, err := newCounting(postgres.NewDatabase(t))
	must(t, err)
	sqldb := sql.OpenDB(connector)
	t.Cleanup(func() { _ = sqldb.Close() })
	db := bun.NewDB(sqldb, pgdialect.New())
	shop.Open(t, db, shop.WithInvoices)
	shop.AddCustomers(t, db, 1, 1)
	databases.Insert(t, db, &shop.Invoice{CustomerID: 1, Address: "1 Main Street", IssuedAt: time.Now()})
	gdpr, err := app.New(app.Config{DB: db, Models: shop.WithInvoices})
	must(t, err)
	stack := gdpr.Stack()
	api, err := stack.API(httpapi.Config{Timeout: time.Minute})
	must(t, err)
	return world{db, api, stack.Sessions, connector.trips}
}

// request sends a request, which must succeed.
func (w world) request(t testing.TB, method, path, body string) {
	t.Helper()
	response := w.api.Route(context.Background(), method, path, httpapi.Request{
		Subject:     func(context.Context) (domain.Subject, error) { return domain.NewSubject("1") },
		ContentType: "application/json", Body: strings.NewReader(body),
	})
	if response.Status != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, path, response.Status, response.Body)
	}
}

const decision = `{"purpose":"newsletter","policy_version":"1","granted":true}`

// requests has the maximum numbers of round trips and of allocations for each request. The maximum of allocations is
// about a fifth higher than the current number, because the number changes with the versions of Go and of the drivers.
var requests = []struct {
	method, path, body string
	trips              int64
	allocations        float64
}{
	{http.MethodGet, "/export", "", 2, 226}, // the first request, because each later request adds records to the export
	{http.MethodPost, "/consent", decision, 1, 88},
	{http.MethodGet, "/consent/newsletter", "", 1, 64},
	{http.MethodDelete, "/", "", steps + 2, 470},
}

func TestRequestsKeepTheirBudgetOfRoundTrips(t *testing.T) {
	w := newWorld(t)
	for _, request := range requests {
		w.request(t, request.method, request.path, request.body) // the driver prepares its statements on the first request
		before := w.trips.Load()
		w.request(t, request.method, request.path, request.body)
		if trips := w.trips.Load() - before; trips < 1 || trips > request.trips {
			t.Errorf("%s %s: %d round trips, and the budget is %d", request.method, request.path, trips, request.trips)
		}
		t.Logf("%s %s: %d round trips of %d", request.method, request.path, w.trips.Load()-before, request.trips)
	}
}

func TestHoldingsAreReadInOneStatement(t *testing.T) {
	w := newWorld(t)
	held := func() (held []domain.Holding) {
		must(t, w.sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
			id, _ := domain.NewSubjectID("1")
			held, err = s.Subjects().Holdings(ctx, id)
			return err
		}))
		return held
	}
	w.request(t, http.MethodPost, "/consent", decision) // admits the process to the tables
	held()                                              // the driver prepares, and the store reads the schema
	before := w.trips.Load()
	if got, trips := held(), w.trips.Load()-before; trips != 1 || len(got) != steps {
		t.Errorf("%d holdings in %d round trips", len(got), trips)
	}
}

func TestRequestsKeepTheirBudgetOfAllocations(t *testing.T) {
	w := newWorld(t)
	for _, request := range requests {
		allocations := testing.AllocsPerRun(100, func() { w.request(t, request.method, request.path, request.body) })
		t.Logf("%s %s: %v allocations of %v", request.method, request.path, allocations, request.allocations)
		if allocations > request.allocations {
			t.Errorf("%s %s: %v allocations, and the budget is %v", request.method, request.path, allocations,
				request.allocations)
		}
	}
}

// Each row of parcels adds one record to an export. The maximum of allocations per row is higher than the current
// number, because the race detector allocates too.
func TestTheRowsOfAnExportKeepTheirBudgetOfAllocations(t *testing.T) {
	w := newWorld(t)
	export := func() { w.request(t, http.MethodGet, "/export", "") }
	const rows, budget = 500, 10.0
	few := testing.AllocsPerRun(20, export)
	shop.AddParcels(t, w.db, 1, rows)
	each := (testing.AllocsPerRun(20, export) - few) / rows
	t.Logf("%.1f allocations for each row of an export", each)
	if each > budget {
		t.Errorf("%.1f allocations for each row of an export, and the budget is %.1f", each, budget)
	}
}
