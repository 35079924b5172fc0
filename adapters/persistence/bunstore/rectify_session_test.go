package bunstore_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

func TestRectifyingIsOneStatementPerTableWithoutAValueInIt(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		hook := &statements{}
		r := newRectifiable(t, databases.WithHook(db, hook), 0)
		r.cacheCatalog(t)
		var runs [][]string
		for i, orders := range []int{1, 5000} {
			r.ordersOfEach = orders
			subject := r.seedAs(t, int64(987654+i))
			subject.Refs = r.alice.Refs
			runs = append(runs, r.statementsOf(t, hook, func(ctx context.Context, session ports.Session) error {
				result, err := r.rectifier.RectifySubject(ctx, session, subject, corrected, rectification.AllColumns())
				if result.Rectified["orders"] != int64(orders) {
					t.Errorf("%v of %d orders", result.Rectified, orders)
				}
				return err
			}))
		}
		appends := 1 // the entry and the events
		lock := 2    // locks the ledgers, and reads the subject's row
		if db.Dialect().Name() == dialect.SQLite {
			appends, lock = 2, 1
		}
		if !slices.Equal(runs[0], runs[1]) || len(runs[0]) != 1+lock+3+appends+1 {
			t.Errorf("%d statements: %q\n%d statements: %q", len(runs[0]), runs[0], len(runs[1]), runs[1])
		}
		for _, text := range runs[0] {
			if strings.Contains(text, "secret") || strings.Contains(text, "987654") {
				t.Errorf("a value stands in %q", text)
			}
		}
	})
}

// failOnUpdate creates a trigger that makes each update of a row of the table fail.
func failOnUpdate(t testing.TB, db *bun.DB, table string) {
	t.Helper()
	failing := []string{
		"CREATE TRIGGER fail BEFORE UPDATE ON " + table + " BEGIN SELECT RAISE(ABORT, 'secret value'); END",
	}
	if db.Dialect().Name() == dialect.PG {
		failing = []string{
			"CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'secret value'; END $$",
			"CREATE TRIGGER fail BEFORE UPDATE ON " + table + " FOR EACH ROW EXECUTE FUNCTION fail()",
		}
	}
	for _, statement := range failing {
		_, err := db.ExecContext(context.Background(), statement)
		must(t, err)
	}
}

func TestARectificationThatFailsInTheMiddleLeavesOnlyEvidence(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		r := newRectifiable(t, db, 2)
		failOnUpdate(t, db, "invoices")
		before := r.dump(t)
		_, err := r.rectify(r.alice, corrected)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Fatalf("got %v", err)
		}
		if !slices.Equal(r.dump(t), before) {
			t.Error("something outlived the rollback")
		}
		trail := r.events(t, r.alice.ID)
		if len(trail) != 2 || trail[0].EventType != domain.EventRectificationRequested ||
			trail[1].EventType != domain.EventRectificationStepFailed {
			t.Fatalf("trail %+v", trail)
		}
		class := "internal"
		if db.Dialect().Name() == dialect.SQLite {
			class = "conflict" // SQLite reports an error of a trigger as a constraint violation
		}
		if !equalPayload(trail[1].Payload, domain.Payload{"target": "invoices", "error": class}) {
			t.Errorf("payload %v", trail[1].Payload)
		}
	})
}
