package bunstore_test

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/ports"
)

func wantUnavailable(t testing.TB, what string, err error) {
	t.Helper()
	if !errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("%s: got %v, want the code %q", what, err, domain.ErrUnavailable)
	}
}

// terminateConnections terminates all other connections to the database.
func terminateConnections(t testing.TB, url string) {
	t.Helper()
	admin := openDB(t, "pgx", url)
	execute(t, admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"+
		" WHERE datname = current_database() AND pid <> pg_backend_pid()")
}

func TestAConnectionThatIsKilledIsUnavailable(t *testing.T) {
	t.Parallel()
	url := postgres.NewDatabase(t)
	b := newBox(t, openDB(t, "pgx", url))
	id := subject(t, "1")
	step := func(ctx context.Context, s ports.Session) error { return errOf(s.Subjects().Lock(ctx, id, noon)) }
	for what, fn := range map[string]func(context.Context, ports.Session) error{
		"before a statement": func(ctx context.Context, s ports.Session) error {
			if err := step(ctx, s); err != nil {
				return err
			}
			terminateConnections(t, url)
			return step(ctx, s)
		},
		"before the commit": func(ctx context.Context, s ports.Session) error {
			err := step(ctx, s)
			terminateConnections(t, url)
			return err
		},
	} {
		evidence := domain.AuditEvent{
			EventID: what, EventType: domain.EventErasureRequested, SubjectRef: id, OccurredAt: noon,
		}
		wantUnavailable(t, what, b.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			return errors.Join(s.Audit().AppendEvidence(ctx, evidence), fn(ctx, s))
		}))
	}
	must(t, b.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		trail, err := s.Audit().Trail(ctx, id)
		if len(trail) != 2 {
			t.Errorf("the evidence is %v", trail)
		}
		return err
	}))
	terminateConnections(t, url)
	for range 3 { // some connections of the pool were terminated
		if err := b.store.Do(t.Context(), step); err != nil {
			wantUnavailable(t, "at the beginning", err)
		}
	}
	must(t, b.store.Do(t.Context(), step))
}

func TestAConnectionThatTheServerTerminatesIsUnavailable(t *testing.T) {
	t.Parallel()
	for setting, value := range map[string]string{
		"statement_timeout": "500ms", "lock_timeout": "500ms", "idle_in_transaction_session_timeout": "50ms",
		"default_transaction_read_only": "on",
	} {
		t.Run(setting, func(t *testing.T) {
			database := postgres.NewDatabase(t)
			free := newBox(t, openDB(t, "pgx", database))
			b := box{openDB(t, "pgx", database+"&"+setting+"="+url.QueryEscape(value)), nil}
			b.store = newStore(t, b.db)
			id := subject(t, "1")
			lock := func(ctx context.Context, s ports.Session) error { return errOf(s.Subjects().Lock(ctx, id, noon)) }
			switch setting {
			case "idle_in_transaction_session_timeout":
				wantUnavailable(t, "a statement", b.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
					return errors.Join(lock(ctx, s), b.awaitTermination(t, free.db), lock(ctx, s))
				}))
				wantUnavailable(t, "the commit", b.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
					return errors.Join(lock(ctx, s), b.awaitTermination(t, free.db))
				}))
			case "default_transaction_read_only":
				wantUnavailable(t, "a write", b.store.Do(t.Context(), lock))
				wantUnavailable(t, "an append", b.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
					return s.Consents().Append(ctx, domain.ConsentRecord{SubjectID: id, Purpose: "news", RecordedAt: noon})
				}))
			default:
				must(t, free.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
					if err := lock(ctx, s); err != nil {
						return err
					}
					wantUnavailable(t, "a statement that waits", b.store.Do(context.Background(), lock))
					ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
					defer cancel()
					if err := b.store.Do(ctx, lock); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("past its own deadline: %v", err)
					}
					return nil
				}))
			}
		})
	}
}

// awaitTermination waits until no connection to the database is idle in a transaction.
func (b box) awaitTermination(t testing.TB, admin *bun.DB) error {
	t.Helper()
	for {
		var left int
		must(t, admin.NewRaw("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"+
			" AND state LIKE 'idle in transaction%'").Scan(t.Context(), &left))
		if left == 0 {
			return nil
		}
	}
}

func TestAnSQLiteThatCannotBeWrittenIsUnavailable(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string]func(t testing.TB, db *bun.DB, path string) *bun.DB{
		"full": func(t testing.TB, db *bun.DB, _ string) *bun.DB {
			t.Helper()
			execute(t, db, "PRAGMA max_page_count = 1")
			return db
		},
		"query only": func(t testing.TB, _ *bun.DB, path string) *bun.DB {
			t.Helper()
			return openDB(t, "sqlite", "file:"+path+"?_pragma=query_only(1)")
		},
		"read only": func(t testing.TB, _ *bun.DB, path string) *bun.DB {
			t.Helper()
			return openDB(t, "sqlite", "file:"+path+"?mode=ro")
		},
		"immutable": func(t testing.TB, db *bun.DB, path string) *bun.DB {
			t.Helper()
			must(t, db.Close())
			return openDB(t, "sqlite", "file:"+path+"?immutable=1")
		},
		"gone": func(t testing.TB, _ *bun.DB, path string) *bun.DB {
			t.Helper()
			return openDB(t, "sqlite", "file:"+path+"/nowhere/db")
		},
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "db")
			db := openDB(t, "sqlite", databases.SQLiteURL(path))
			db.SetMaxOpenConns(1)
			newBox(t, db)
			db = spoil(t, db, path)
			store, id := newStore(t, db), subject(t, "1")
			wantUnavailable(t, "a write", store.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
				for range 100 { // fills the existing pages
					err = errors.Join(err, s.Outbox().Enqueue(ctx, numbered(t, 100)...))
				}
				return err
			}))
			wantUnavailable(t, "an append", store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				return s.Consents().Append(ctx, domain.ConsentRecord{
					SubjectID: id, Purpose: string(make([]byte, 1<<20)), RecordedAt: noon,
				})
			}))
		})
	}
}

func newStore(t testing.TB, db *bun.DB) *bunstore.Store {
	t.Helper()
	// The error is ignored. It occurs on a read-only server, where the table exists already.
	_, _ = db.NewCreateTable().Model(models[0]).IfNotExists().Exec(t.Context())
	store := storeOf(t, db, mapOf(t, db, models[:1]), bunstore.Options{})
	return store
}
