package bunstore_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// parcels creates a table that is not in the data map. The table has a deferred foreign key to orders, which the
// database checks at the commit.
func parcels(t testing.TB, db *bun.DB) {
	t.Helper()
	execute(t, db, "CREATE TABLE parcels (id INTEGER PRIMARY KEY, "+
		"order_id BIGINT REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED)",
		"INSERT INTO parcels SELECT 1, min(id) FROM orders")
}

func TestAConstraintThatFailsTheCommitLeavesAFailure(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 2)
		parcels(t, db)
		before := s.dump(t)
		for range 2 {
			err := s.store.Do(t.Context(), func(ctx context.Context, session ports.Session) error {
				_, err := s.eraser.Erase(ctx, session, s.alice)
				return err
			})
			if !errors.Is(err, domain.ErrConflict) {
				t.Errorf("got %v, want the code %q", err, domain.ErrConflict)
			}
		}
		if !slices.Equal(s.dump(t), before) {
			t.Error("something is erased")
		}
		if trail := s.trail(t, s.alice.ID); !slices.Equal(trail, slices.Concat(rolledBack, rolledBack)) {
			t.Errorf("trail %v", trail)
		}
		execute(t, db, "DELETE FROM parcels")
		s.do(t, func(ctx context.Context, session ports.Session) error {
			_, err := s.eraser.Erase(ctx, session, s.alice)
			return err
		})
		if trail := s.trail(t, s.alice.ID)[4:]; slices.Contains(trail, domain.EventErasureStepFailed) {
			t.Errorf("trail of a success %v", trail)
		}
	})
}

// done is a query hook: a function that bun calls after each COMMIT.
type done func()

func (done) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (d done) AfterQuery(_ context.Context, event *bun.QueryEvent) {
	if event.Query == "COMMIT" {
		d()
	}
}

// The database commits a session, but a panic prevents the store from receiving the response. The evidence of the
// session (audit events that the store writes even if a session fails) then exists already. The store must not write
// the evidence again, and must not write the audit event of a failure.
func TestASessionThatCommittedWithoutKnowingLeavesNoFailure(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		event := func(eventType domain.EventType) domain.AuditEvent {
			return domain.AuditEvent{EventID: string(eventType), EventType: eventType, SubjectRef: s.alice.ID, OccurredAt: noon}
		}
		store, interrupted := newStore(t, databases.WithHook(db, done(func() { panic("after the commit") }))), false
		func() {
			defer func() { interrupted = recover() != nil }()
			_ = store.Do(t.Context(), func(ctx context.Context, session ports.Session) error {
				return errors.Join(errOf(session.Subjects().Lock(ctx, s.alice.ID, noon)),
					session.Audit().AppendEvidence(ctx, event(domain.EventErasureRequested)),
					session.Audit().AppendOnRollback(ctx, event(domain.EventErasureStepFailed)))
			})
		}()
		if !interrupted {
			t.Error("the commit was not interrupted: the test proves nothing")
		}
		if trail := s.trail(t, s.alice.ID); !slices.Equal(trail, []domain.EventType{domain.EventErasureRequested}) {
			t.Errorf("trail %v", trail)
		}
	})
}
