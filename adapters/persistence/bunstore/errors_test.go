package bunstore_test

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"modernc.org/sqlite"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// Fragile has columns whose surrogates (the values that an erasure writes) violate constraints.
type Fragile struct {
	bun.BaseModel `bun:"table:fragile"`
	ID            int64   `bun:"id,pk"`
	OwnerID       int64   `bun:"owner_id"`
	Owner         *person `bun:"rel:belongs-to,join:owner_id=id"`
	Kept          string  `bun:"kept"`
	Email         string  `bun:"email" pii:"contact,surrogate:secret-value"` // unique only in the database
}

func TestAConflictDoesNotQuoteStoredValues(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newApplication(t, db, nil, (*person)(nil), (*Fragile)(nil))
		execute(t, db, "CREATE UNIQUE INDEX one_email ON fragile (email)")
		a.insert(t, &person{ID: 1}, &Fragile{ID: 1, OwnerID: 1, Email: "a"}, &Fragile{ID: 2, OwnerID: 1, Email: "b"})
		err := a.apply(t, "1")
		if !errors.Is(err, domain.ErrConflict) {
			t.Errorf("got %v, want the code %q", err, domain.ErrConflict)
		}
		wantSilence(t, err, "secret-value", "UNIQUE", "duplicate", "UPDATE")
		wantDriverError(t, db, err)
	})
}

func TestARefusedValueIsNotQuoted(t *testing.T) {
	t.Parallel()
	type Fragile struct {
		bun.BaseModel `bun:"table:fragile"`
		ID            int64   `bun:"id,pk"`
		OwnerID       int64   `bun:"owner_id"`
		Owner         *person `bun:"rel:belongs-to,join:owner_id=id"`
		Kept          string  `bun:"kept"`
		Address       string  `bun:"address,type:inet,nullzero" pii:"technical,surrogate:secret-value"`
	}
	db := databases.PostgreSQL(t)
	a := newApplication(t, db, nil, (*person)(nil), (*Fragile)(nil))
	a.insert(t, &person{ID: 1}, &Fragile{ID: 1, OwnerID: 1})
	err := a.apply(t, "1")
	wantSilence(t, err, "secret-value", "invalid input", "UPDATE")
	var driverError *pgconn.PgError
	if !errors.As(err, &driverError) || !strings.Contains(driverError.Message, "secret-value") {
		t.Errorf("the driver's error is %v: the test proves nothing", driverError)
	}
}

func TestATriggersMessageIsNotQuoted(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newApplication(t, db, nil, (*person)(nil), (*Letter)(nil))
		a.insert(t, &person{ID: 1}, &Letter{ID: 1, WriterID: 1, Text: "secret-value"})
		failOn(t, db, "letters") // with an error message that contains "secret value"
		err := a.apply(t, "1")
		wantSilence(t, err, "secret")
		wantDriverError(t, db, err)
	})
}

func TestAMigrationThatIsMissingIsExplained(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	b := newBox(t, db)
	execute(t, db, "ALTER TABLE habeas_outbox DROP COLUMN stage CASCADE") // as if a migration were missing
	err := b.try(func(ctx context.Context, outbox wholeOutbox) error {
		_, err := outbox.Claim(ctx, query(noon, "token", upTo(1)...))
		return err
	})
	wantDriverError(t, db, err)
	wantSilence(t, err, "SELECT", "does not exist")
	if !strings.Contains(err.Error(), "missing (stage): were the migrations run? (SQLSTATE 42703)") {
		t.Errorf("the message is %q", err)
	}
}

func TestMissingTablesAreExplained(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		execute(t, db, "CREATE TABLE people (id bigint PRIMARY KEY)")
		a := existingApplication(t, db, nil, (*person)(nil))
		err := a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := s.Consents().History(ctx, subjectID(t, "1"), "news")
			return err
		})
		wantDriverError(t, db, err)
		wantSilence(t, err, "SELECT", "does not exist", "no such")
		if !strings.Contains(err.Error(), "habeas_installation") {
			t.Errorf("the table is not named: %q", err)
		}
		if db.Dialect().Name() == dialect.PG && !strings.Contains(err.Error(), "were the migrations run? (SQLSTATE 42P01)") {
			t.Errorf("the message is %q", err)
		}
	})
}

func TestADatabaseThatCannotBeReachedIsUnavailable(t *testing.T) {
	t.Parallel()
	for name, db := range map[string]*bun.DB{
		"a closed port":       openDB(t, "pgx", "postgres://app:secret@"+silentPort(t, nil)+"/app?sslmode=disable"),
		"the host is unknown": openDB(t, "pgx", "postgres://app:secret@host.invalid/app?sslmode=disable"),
		"it closes":           openDB(t, "pgx", "postgres://app:secret@"+silentPort(t, hangUp)+"/app?sslmode=disable"),
		"it does not respond": openDB(t, "pgx",
			"postgres://app:secret@"+silentPort(t, ignore)+"/app?sslmode=disable&connect_timeout=1"),
		"the file has no path": openDB(t, "sqlite", "file:"+filepath.Join(t.TempDir(), "missing", "x.db")),
	} {
		t.Run(name, func(t *testing.T) {
			a := existingApplication(t, db, nil, (*person)(nil))
			for _, err := range []error{
				bunstore.Migrate(t.Context(), db, bunstore.Options{}),
				a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
					_, err := s.Audit().Trail(ctx, subjectID(t, "1"))
					return err
				}),
			} {
				if !errors.Is(err, domain.ErrUnavailable) {
					t.Errorf("got %v (%v), want the code %q", err, errors.Unwrap(err), domain.ErrUnavailable)
				}
				wantSilence(t, err, "secret", "127.0.0.1", "host.invalid", "missing")
			}
		})
	}
}

func TestAConnectionThatIsCutIsUnavailable(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	a := newApplication(t, db, nil, (*person)(nil))
	err := a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if _, err := s.Subjects().Lock(ctx, subjectID(t, "1"), time.Now()); err != nil {
			return err
		}
		execute(t, db, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"+
			" AND pid <> pg_backend_pid()")
		return errOf(s.Subjects().Lock(ctx, subjectID(t, "1"), time.Now()))
	})
	if !errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("got %v (%v)", err, errors.Unwrap(err))
	}
}

func TestAnErrorSaysHowTheContextEnded(t *testing.T) {
	t.Parallel()
	late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newApplication(t, db, nil, (*person)(nil))
		for ctx, want := range map[context.Context]error{late: context.DeadlineExceeded, gone: context.Canceled} {
			read := a.store.Do(ctx, func(ctx context.Context, s ports.Session) error {
				_, err := s.Audit().Trail(ctx, subjectID(t, "1"))
				return err
			})
			for _, err := range []error{read, bunstore.Migrate(ctx, db, bunstore.Options{})} {
				if !errors.Is(err, want) || errors.Is(err, domain.ErrUnavailable) ||
					!strings.Contains(err.Error(), "ended by its context") {
					t.Errorf("got %v, want %v", err, want)
				}
			}
		}
	})
}

func (a *application) apply(t testing.TB, id string) error {
	t.Helper()
	return a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		steps := append(a.plan.Local(), datamap.Step{Target: "people", Strategy: domain.StrategyRetain})
		_, err := s.Subjects().Apply(ctx, subjectID(t, id), steps)
		return err
	})
}

// wantSilence fails the test if err is nil or if its text contains one of the words.
func wantSilence(t testing.TB, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	for _, word := range words {
		if strings.Contains(err.Error(), word) {
			t.Errorf("%q says %q", err, word)
		}
	}
}

// wantDriverError fails the test if errors.As does not find the driver's error in err.
func wantDriverError(t testing.TB, db *bun.DB, err error) {
	t.Helper()
	var ofPGX *pgconn.PgError
	var ofSQLite *sqlite.Error
	if is := db.Dialect().Name(); is == dialect.PG && !errors.As(err, &ofPGX) ||
		is == dialect.SQLite && !errors.As(err, &ofSQLite) {
		t.Errorf("the driver's error is not in %v", err)
	}
}

func openDB(t testing.TB, driver, url string) *bun.DB {
	t.Helper()
	connection, err := sql.Open(driver, url)
	must(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	if driver == "sqlite" {
		return bun.NewDB(connection, sqlitedialect.New())
	}
	return bun.NewDB(connection, pgdialect.New())
}

// silentPort returns the address of a local server that passes each connection to handler and sends no data itself. If
// handler is nil, it returns the address of a closed port.
func silentPort(t testing.TB, handler func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	if handler == nil {
		must(t, listener.Close())
		return listener.Addr().String()
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			handler(connection)
		}
	}()
	return listener.Addr().String()
}

func hangUp(connection net.Conn) { _ = connection.Close() }

func ignore(net.Conn) {}
