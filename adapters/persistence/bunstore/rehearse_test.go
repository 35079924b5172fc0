package bunstore_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// inSession runs the statements in a rehearsal and returns the error of the rehearsal.
func inSession(t *testing.T, store ports.SessionFactory, statements ...string) error {
	t.Helper()
	return store.Rehearse(t.Context(), func(ctx context.Context, session ports.Session) error {
		tx, err := bunstore.Tx(session)
		if err != nil {
			return err
		}
		for _, text := range statements {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestARehearsalReturnsTheErrorOfTheCommit(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 2)
		parcels(t, db)
		before := s.dump(t)
		rehearsal, err := s.eraser.Rehearse(t.Context(), s.store, s.alice)
		if err != nil || rehearsal.Refused == nil || rehearsal.Refused.Class != "conflict" ||
			!strings.Contains(rehearsal.Refused.Message, "table parcels") || rehearsal.Fingerprint != "" {
			t.Errorf("got %+v, %v", rehearsal, err)
		}
		if !slices.ContainsFunc(rehearsal.Steps, func(s datamap.RehearsedStep) bool {
			return s.Target == "orders" && s.Strategy == domain.StrategyDelete && s.Rows == 2
		}) {
			t.Errorf("the steps are %+v", rehearsal.Steps)
		}
		if !slices.Equal(s.dump(t), before) || len(s.trail(t, s.alice.ID)) > 0 {
			t.Error("the rehearsal left something")
		}
		execute(t, db, "DELETE FROM parcels")
		if rehearsal, err := s.eraser.Rehearse(t.Context(), s.store, s.alice); err != nil || rehearsal.Refused != nil {
			t.Errorf("without what refuses: got %+v, %v", rehearsal, err)
		}
	})
}

// If a step violates a constraint that is not deferred, the rehearsal reports this step and names its table.
func TestARehearsalNamesTheStepThatIsRefused(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		execute(t, db, "CREATE UNIQUE INDEX one_age ON users (age) WHERE age = 0", "UPDATE users SET age = id",
			"INSERT INTO users (id, email, age, theme) VALUES (3, 'x', 0, '')")
		rehearsal, err := s.eraser.Rehearse(t.Context(), s.store, s.alice)
		if err != nil || rehearsal.Refused == nil || rehearsal.Refused.Target != "users" ||
			rehearsal.Refused.Strategy != domain.StrategyAnonymize ||
			!strings.Contains(rehearsal.Refused.Message, "table users") {
			t.Errorf("got %+v, %v", rehearsal.Refused, err)
		}
	})
}

func TestARehearsalChecksDeferredConstraints(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		execute(t, db, "CREATE TABLE boxes (id INTEGER PRIMARY KEY, note TEXT)",
			"CREATE TABLE labels (id INTEGER PRIMARY KEY, box INTEGER REFERENCES boxes (id) DEFERRABLE INITIALLY DEFERRED)")
		if err := inSession(t, s.store, "INSERT INTO labels VALUES (1, 7)"); !errors.Is(err, domain.ErrConflict) {
			t.Errorf("a key that is broken: %v", err)
		}
		if err := inSession(t, s.store, "INSERT INTO labels VALUES (1, 7)", "INSERT INTO boxes VALUES (7, '')"); err != nil {
			t.Errorf("a key that is whole in the end: %v", err)
		}
		if db.Dialect().Name() == dialect.PG {
			execute(t, db, `CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$`,
				"CREATE CONSTRAINT TRIGGER guard AFTER INSERT ON boxes DEFERRABLE INITIALLY DEFERRED"+
					" FOR EACH ROW EXECUTE FUNCTION guard()")
			err := inSession(t, s.store, "INSERT INTO boxes VALUES (7, '')")
			if !errors.Is(err, domain.ErrConflict) || !strings.Contains(err.Error(), "(function guard)") {
				t.Errorf("a deferred trigger: %v", err)
			}
			return
		}
		const broken = "INSERT INTO labels VALUES (%, 8)"
		execute(t, db, "PRAGMA foreign_keys = OFF", strings.Replace(broken, "%", "2", 1), "PRAGMA foreign_keys = ON")
		if err := inSession(t, s.store, "INSERT INTO boxes VALUES (9, '')"); err != nil {
			t.Errorf("a key that was broken before: %v", err)
		}
		if err := inSession(t, s.store, strings.Replace(broken, "%", "3", 1)); !errors.Is(err, domain.ErrConflict) {
			t.Errorf("a key that is broken once more: %v", err)
		}
		err := inSession(t, s.store, "PRAGMA defer_foreign_keys = ON", "DELETE FROM users WHERE id = 1")
		if !errors.Is(err, domain.ErrConflict) {
			t.Errorf("a key that the session defers: %v", err)
		}
	})
}

func TestARehearsalSendsNoNotification(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		hook := &statements{}
		s := newShop(t, db, 1, desk{})
		dataMap := mapOf(t, db, models)
		for name, options := range map[string]bunstore.Options{
			"as it is": {}, "with a replica": {ReadDB: db},
		} {
			if options.ReadDB != nil && db.Dialect().Name() != dialect.PG {
				continue
			}
			woken := 0
			options.Enqueued = func() { woken++ }
			store := storeOf(t, databases.WithHook(db, hook), dataMap, options)
			before := s.dump(t)
			sent := hook.during(t, func() {
				must(t, store.Rehearse(t.Context(), func(ctx context.Context, session ports.Session) error {
					_, err := s.consent.Record(ctx, session, s.alice.ID, grant("news"))
					return errors.Join(err, session.Audit().Append(ctx, domain.AuditEvent{EventID: "e", SubjectRef: s.alice.ID}))
				}))
				must(t, store.Rehearse(t.Context(), func(ctx context.Context, session ports.Session) error {
					return errors.Join(session.Outbox().Enqueue(ctx, toErase(t, "e-1", "1", 0)),
						session.Audit().AppendOnRollback(ctx, domain.AuditEvent{EventID: "o", SubjectRef: s.alice.ID}))
				}))
			})
			if woken > 0 || slices.ContainsFunc(sent, func(text string) bool { return strings.Contains(text, "pg_notify") }) {
				t.Errorf("%s: the worker is woken", name)
			}
			if slices.Contains(sent, "COMMIT") || !slices.Equal(s.dump(t), before) || len(s.trail(t, s.alice.ID)) > 0 {
				t.Errorf("%s: something is left, after %q", name, sent)
			}
		}
	})
}

// A rehearsal is a session that checks its changes and rolls them back. In a transaction of the application, a
// rehearsal fails, because it would check changes that the application has not finished. A probe fails, too.
func TestATransactionOfTheApplicationHasNoRehearsalAndNoProbe(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1)
		must(t, db.RunInTx(t.Context(), &sql.TxOptions{}, func(ctx context.Context, tx bun.Tx) error {
			joined, err := s.store.Join(tx)
			must(t, err)
			if err := inSession(t, joined); !errors.Is(err, domain.ErrSession) {
				t.Errorf("got %v, want %v", err, domain.ErrSession)
			}
			if err := joined.Probe(ctx); !errors.Is(err, domain.ErrSession) {
				t.Errorf("the probe returned %v, want %v", err, domain.ErrSession)
			}
			_, err = tx.ExecContext(ctx, "UPDATE users SET theme = 'light'")
			return err
		}))
	})
}

func TestARehearsalIsNotRetried(t *testing.T) {
	t.Parallel()
	s := newShop(t, databases.PostgreSQL(t), 1)
	calls := 0
	err := s.store.Rehearse(t.Context(), func(ctx context.Context, session ports.Session) error {
		calls++
		tx, err := bunstore.Tx(session)
		if err != nil {
			return err
		}
		_, _ = tx.ExecContext(ctx, "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$")
		return nil
	})
	if calls != 1 || !errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("%d calls, %v", calls, err)
	}
}
