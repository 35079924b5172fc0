package bunstore_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// statementsOf calls fn in a session and returns the statements that the session sends to the database.
func (s *shop) statementsOf(t testing.TB, hook *statements, fn func(context.Context, ports.Session) error) []string {
	t.Helper()
	return hook.during(t, func() { s.do(t, fn) })
}

func TestConsentIsOneStatementOnPostgreSQL(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		hook := &statements{}
		s := newShop(t, databases.WithHook(db, hook), 1)
		recording := s.statementsOf(t, hook, func(ctx context.Context, session ports.Session) error {
			_, err := s.consent.Record(ctx, session, s.alice.ID, grant("p"))
			return err
		})
		want := 1
		if db.Dialect().Name() == dialect.SQLite {
			want = 4 // BEGIN, two inserts, COMMIT
		}
		if len(recording) != want {
			t.Errorf("recording: %q", recording)
		}
		status := s.statementsOf(t, hook, func(ctx context.Context, session ports.Session) error {
			_, err := s.consent.Status(ctx, session, s.alice.ID, "p")
			return err
		})
		restriction := s.statementsOf(t, hook, func(ctx context.Context, session ports.Session) error {
			purpose := "p"
			_, err := s.restriction.Status(ctx, session, s.alice.ID, &purpose)
			return err
		})
		if len(status) != 1 || len(restriction) != 1 {
			t.Errorf("status: %q, restriction: %q", status, restriction)
		}
	})
}

func TestTheNumberOfStatementsDoesNotDependOnTheNumberOfRows(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		hook := &statements{}
		s := newShop(t, databases.WithHook(db, hook), 0)
		s.cacheCatalog(t)
		var exports, erasures [][]string
		many := 50_000
		if db.Dialect().Name() == dialect.SQLite {
			many = 5_000 // with the race detector, more rows take half a minute
		}
		for i, orders := range []int{1, 1_000, many} {
			s.ordersOfEach = orders
			subject := s.seedAs(t, int64(10+i))
			exports = append(exports, s.statementsOf(t, hook, func(ctx context.Context, session ports.Session) error {
				bundle, err := s.exporter.Export(ctx, session, subject)
				if len(bundle.Records) != 8+2+2*orders {
					t.Errorf("%d records for %d orders", len(bundle.Records), orders)
				}
				return err
			}))
			erasures = append(erasures, s.statementsOf(t, hook, func(ctx context.Context, session ports.Session) error {
				result, err := s.eraser.Erase(ctx, session, subject)
				if result.Deleted["orders"] != int64(orders) || result.Deleted["items"] != int64(orders) {
					t.Errorf("%v of %d orders", result.Deleted, orders)
				}
				return err
			}))
		}
		for i := range exports[1:] {
			if !slices.Equal(exports[i+1], exports[0]) || !slices.Equal(erasures[i+1], erasures[0]) {
				t.Errorf("other statements for more rows: %q, %q", exports[i+1], erasures[i+1])
			}
		}
		// On PostgreSQL, an export sends 1 statement that reads the tables and 1 that inserts the events. An erasure sends
		// BEGIN, 2 statements that lock the subject and its orders, 1 that runs all steps and prefetches values, 1 that
		// inserts the events, and COMMIT.
		export, erasure := 1+1, 1+2+1+2
		// On SQLite, an erasure also sends statements that read the catalog, runs the steps in separate statements, clears
		// the reasons of restrictions in a separate statement, looks whether the subject's row is blank, and closes the
		// ledgers in a separate statement.
		if db.Dialect().Name() == dialect.SQLite {
			export = 2 + 4 + 2 + 1 + 1 // BEGIN and the catalog, the tables, the ledgers, ROLLBACK, the events
			erasure = 1 + 2 + 5 + 1 + 1 + 1 + 1 + 3
		}
		if len(exports[0]) != export || len(erasures[0]) != erasure {
			t.Errorf("%d for an export: %q\n%d for an erasure: %q", len(exports[0]), exports[0], len(erasures[0]), erasures[0])
		}
	})
}

// The answer is the same for all tables of the data map.
func TestAFirstErasureListsTheDatabasesOfSQLiteOnce(t *testing.T) {
	t.Parallel()
	hook := &statements{}
	s := newShop(t, databases.WithHook(databases.SQLite(t), hook), 1)
	texts := s.statementsOf(t, hook, func(ctx context.Context, session ports.Session) error {
		_, err := s.eraser.Erase(ctx, session, s.alice)
		return err
	})
	lists := slices.DeleteFunc(texts, func(text string) bool { return !strings.Contains(text, "pragma_database_list") })
	if len(lists) != 1 {
		t.Errorf("%d statements list the databases: %q", len(lists), lists)
	}
}

// The number of statements that read the schema does not depend on the number of tables.
func TestAFirstErasureReadsTheSchemaOnce(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		hook := &statements{}
		s := newShop(t, databases.WithHook(db, hook), 1)
		erase := func(subject domain.Subject) int {
			return len(s.statementsOf(t, hook, func(ctx context.Context, session ports.Session) error {
				_, err := s.eraser.Erase(ctx, session, subject)
				return err
			}))
		}
		first, later := erase(s.alice), erase(s.seedAs(t, 10))
		want := 1
		if db.Dialect().Name() == dialect.SQLite {
			want = 1 + 2 // the list of the databases, temp and main
		}
		if first-later != want {
			t.Errorf("%d statements for the first erasure, and %d for a later one", first, later)
		}
	})
}

func TestNoStatementHoldsAValue(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		hook := &statements{}
		s := newShop(t, databases.WithHook(db, hook), 1, desk{})
		subject := s.seedAs(t, 987654)
		subject.Refs = []domain.SubjectRef{{Kind: "desk", Value: "secret-ref"}}
		texts := s.statementsOf(t, hook, func(ctx context.Context, session ports.Session) error {
			if _, err := s.exporter.Export(ctx, session, subject); err != nil {
				return err
			}
			if _, err := s.consent.Record(ctx, session, subject.ID, grant("secret-purpose")); err != nil {
				return err
			}
			_, err := s.eraser.Erase(ctx, session, subject)
			return err
		})
		for _, text := range texts {
			if strings.Contains(text, "987654") || strings.Contains(text, "secret") {
				t.Errorf("a value stands in %q", text)
			}
		}
	})
}
