package bunstore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

func TestRefusedCorrectionsMakeNoStatement(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		hook := &statements{}
		r := newRectifiable(t, databases.WithHook(db, hook), 1)
		for name, corrections := range map[string]domain.Corrections{
			"none":                   {},
			"an unknown category":    {"hobbies": "chess", domain.CategoryContact: "new@example.org"},
			"too long":               {domain.CategoryContact: "one.too.long@example.org"},
			"the wrong type":         {domain.CategoryContact: "new@example.org", domain.CategorySpecial: "no"},
			"columns of other types": {domain.CategoryIdentity: "Zoe"},
			"JSON beside a text":     {domain.CategoryBehavioral: "chess"},
		} {
			texts := hook.during(t, func() {
				if _, err := r.rectify(r.alice, corrections); !errors.Is(err, domain.ErrInvalid) {
					t.Errorf("%s: %v", name, err)
				}
			})
			if len(texts) > 0 {
				t.Errorf("%s: statements %q", name, texts)
			}
		}
		stranger := fixture.MustSubject(t, "007")
		if _, err := r.rectify(stranger, corrected); !errors.Is(err, domain.ErrSubject) {
			t.Errorf("a stranger: %v", err)
		}
		if trail := r.trail(t, r.alice.ID); len(trail) > 0 {
			t.Errorf("trail %v", trail)
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

func TestConcurrentRectificationsDoNotMix(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		r := newRectifiable(t, db, 1)
		var at sync.WaitGroup
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			at.Go(func() {
				_, err := r.rectify(r.alice, domain.Corrections{domain.CategoryContact: name, domain.CategoryCommunication: name})
				if err != nil {
					t.Error(err)
				}
			})
		}
		at.Wait()
		values := r.exported(t, r.alice)
		if values["users.email"][0] != values["invoices.contact"][0] || values["users.email"][0] != values["orders.note"][0] {
			t.Errorf("two rectifications stay in part: %v", values)
		}
		if trail := r.trail(t, r.alice.ID); len(trail) != 8*5+2 { // 8 rectifications and an export
			t.Errorf("%d events", len(trail))
		}
	})
}

// A rectification and an erasure change the same tables in opposite orders. On PostgreSQL, they may deadlock. The store
// then retries one of the two sessions. The erasure succeeds, and the rectification is refused only if it comes second.
func TestAConcurrentRectificationAndErasureDoNotFailEachOther(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		r := newRectifiable(t, db, 100)
		var at sync.WaitGroup
		at.Go(func() {
			if _, err := r.erase(r.alice); err != nil {
				t.Error(err)
			}
		})
		second := false
		at.Go(func() {
			_, err := r.rectify(r.alice, corrected)
			if second = errors.Is(err, domain.ErrConflict); err != nil && !second {
				t.Error(err)
			}
		})
		at.Wait()
		for _, event := range r.events(t, r.alice.ID) {
			withdrawn := event.Payload["error"] == "erased" // if the erasure came second, it withdrew the correction
			if strings.HasSuffix(string(event.EventType), "_step_failed") && !withdrawn && !second {
				t.Errorf("%s %v", event.EventType, event.Payload)
			}
		}
	})
}
