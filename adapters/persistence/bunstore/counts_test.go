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
