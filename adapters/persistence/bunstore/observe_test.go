package bunstore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/observed"
	"github.com/habeas-data/habeas/ports"
)

// observe replaces the store of the shop by a store with an observer, and returns the observer.
func (s *shop) observe(t testing.TB) *observed.Recorder {
	t.Helper()
	recorder := &observed.Recorder{}
	s.store = storeOf(t, s.db, mapOf(t, s.db, models), bunstore.Options{Observer: recorder})
	s.consent = s.consent.WithObserver(recorder)
	return recorder
}

// record records a consent in a session. The session then returns result().
func (s *shop) record(sessions ports.SessionFactory, result func() error) error {
	return sessions.Do(context.Background(), func(ctx context.Context, session ports.Session) error {
		if _, err := s.consent.Record(ctx, session, s.alice.ID, grant("p")); err != nil {
			return err
		}
		return result()
	})
}

func TestASessionThatIsTriedAgainIsObservedOnce(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		recorder, attempts := s.observe(t), 0
		must(t, s.record(s.store, func() error {
			if attempts++; attempts < 3 {
				return busy{}
			}
			return nil
		}))
		recorder.Want(t, "session: ok after 2 retries", "consent granted: ok")
	})
}

func TestASessionWithoutRetriesLeftIsObservedAsAFailure(t *testing.T) {
	t.Parallel()
	s := newShop(t, databases.SQLite(t), 1)
	recorder := s.observe(t)
	if err := s.record(s.store, func() error { return busy{} }); err == nil {
		t.Error("the session succeeded")
	}
	recorder.Want(t, "session: internal after 4 retries", "consent granted: internal")
}

func TestASessionThatFailsAtItsCommitIsObservedAsAFailure(t *testing.T) {
	t.Parallel()
	s := newShop(t, databases.SQLite(t), 1)
	execute(t, s.db, "CREATE TRIGGER refuse BEFORE INSERT ON habeas_consent_records BEGIN SELECT RAISE(ABORT, 'no'); END")
	recorder := s.observe(t)
	if err := s.record(s.store, func() error { return nil }); err == nil {
		t.Error("the session succeeded")
	}
	lines := recorder.Lines()
	if len(lines) != 2 || lines[0] == "session: ok" || lines[1] == "consent granted: ok" {
		t.Errorf("observed %q", lines)
	}
}

// A session in a transaction of the application is reported to the observer when the session ends. A consent that it
// has recorded is reported only after the commit, when the application calls Committed.
func TestAJoinedSessionIsObservedWithItsTransaction(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		recorder := s.observe(t)
		var joined *bunstore.Joined
		must(t, db.RunInTx(t.Context(), nil, func(_ context.Context, tx bun.Tx) (err error) {
			joined, err = s.store.Join(tx)
			must(t, err)
			must(t, s.record(joined, func() error { return nil }))
			recorder.Want(t, "session: ok")
			if err := s.record(joined, func() error { return domain.ErrConflict }); !errors.Is(err, domain.ErrConflict) {
				t.Errorf("ended with %v", err)
			}
			recorder.Want(t, "session: conflict", "consent granted: conflict")
			return nil
		}))
		joined.Committed(t.Context())
		recorder.Want(t, "consent granted: ok")
		joined.Committed(t.Context())
		recorder.Want(t)
	})
}

func TestAJoinedSessionThatPanicsIsObserved(t *testing.T) {
	t.Parallel()
	s := newShop(t, databases.SQLite(t), 1)
	recorder := s.observe(t)
	tx, err := s.db.BeginTx(t.Context(), nil)
	must(t, err)
	defer func() { must(t, tx.Rollback()) }()
	joined, err := s.store.Join(tx)
	must(t, err)
	func() {
		defer func() { _ = recover() }()
		_ = s.record(joined, func() error { panic("zoe@example.org") })
	}()
	recorder.Want(t, "session: panic", "consent granted: internal")
}

func TestAProbeFindsPendingMigrations(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		store := storeOf(t, db, mapOf(t, db, models), bunstore.Options{})
		if err := store.Probe(t.Context()); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("without tables: %v", err)
		}
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		must(t, store.Probe(t.Context()))
		execute(t, db, "DELETE FROM habeas_migrations")
		if err := store.Probe(t.Context()); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("with a migration that was not applied: %v", err)
		}
	})
}

func TestAProbeOnlyReads(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		hook := &statements{}
		s := newShop(t, databases.WithHook(db, hook), 1)
		texts := hook.during(t, func() { must(t, s.store.Probe(t.Context())) })
		if len(texts) == 0 || slices.ContainsFunc(texts, func(text string) bool {
			return !strings.HasPrefix(strings.TrimSpace(text), "SELECT")
		}) {
			t.Errorf("the statements are %q", texts)
		}
	})
}
