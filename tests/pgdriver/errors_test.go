package pgdriver

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun/driver/pgdriver"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// These tests check that a store maps errors of the driver to the errors of habeas. They are not in the conformance
// suite, because a store without a database driver has no such errors.

func TestADatabaseThatCannotBeReachedIsUnavailable(t *testing.T) {
	for name, address := range map[string]string{
		"nobody listens": listener(t, nil),
		"it hangs up": listener(t, func(connection net.Conn) {
			_, _ = connection.Read(make([]byte, 1024)) // avoids a connection reset
			_ = connection.Close()
		}),
		"it does not answer": listener(t, func(net.Conn) {}),
	} {
		t.Run(name, func(t *testing.T) {
			database := "postgres://app:secret@" + address + "/app?sslmode=disable&timeout=200ms"
			for _, err := range []error{
				bunstore.Migrate(t.Context(), driver.Open(t, database), bunstore.Options{}),
				lock(t.Context(), open(t, database)),
			} {
				wantUnavailable(t, err)
			}
		})
	}
}

func TestAConnectionThatIsCutIsUnavailable(t *testing.T) {
	database := migrated(t)
	wantUnavailable(t, open(t, database).Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if _, err := s.Subjects().Lock(ctx, subject(), time.Now()); err != nil {
			return err
		}
		_, err := driver.Open(t, database).ExecContext(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"+
			" WHERE datname = current_database() AND pid <> pg_backend_pid()")
		must(t, err)
		_, err = s.Subjects().Lock(ctx, subject(), time.Now())
		return err
	}))
}

// unaware is a context whose deadline has passed although Err still returns nil.
type unaware struct{ context.Context }

func (unaware) Deadline() (time.Time, bool) { return time.Unix(0, 0), true }

// A deadline has passed, but the method Err of the context still returns nil. The driver has not sent the statement,
// and reports only a bad connection. The store must return context.DeadlineExceeded.
func TestADeadlineThatTheDriverNoticesFirstIsAnErrorOfTheContext(t *testing.T) {
	err := open(t, migrated(t)).Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if _, err := s.Subjects().Lock(ctx, subject(), time.Now()); err != nil {
			return err
		}
		_, err := s.Subjects().Lock(unaware{ctx}, subject(), time.Now())
		return err
	})
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
}

func TestATimeoutIsTheDeadlinesOrElseTheDatabases(t *testing.T) {
	database := migrated(t)
	must(t, open(t, database).Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if _, err := s.Subjects().Lock(ctx, subject(), time.Now()); err != nil {
			return err
		}
		for range 20 {
			late, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			if err := lock(late, open(t, database)); !errors.Is(err, context.DeadlineExceeded) ||
				errors.Is(err, domain.ErrUnavailable) {
				t.Errorf("past the deadline: %v", err)
			}
			cancel()
		}
		wantUnavailable(t, lock(t.Context(), open(t, database+"&read_timeout=100ms")))
		return nil
	}))
}

// The driver ignores a cancellation of the context. It waits until a read times out, by default after 10 s. The store
// must then return context.Canceled, and not a timeout.
func TestACancellationIsNotTakenForATimeout(t *testing.T) {
	database := migrated(t)
	must(t, open(t, database).Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if _, err := s.Subjects().Lock(ctx, subject(), time.Now()); err != nil {
			return err
		}
		cancelled, cancel := context.WithCancel(t.Context())
		err := open(t, database+"&read_timeout=500ms").Do(cancelled, func(ctx context.Context, s ports.Session) error {
			time.AfterFunc(50*time.Millisecond, cancel) // the statement below does not notice the cancellation
			_, err := s.Subjects().Lock(ctx, subject(), time.Now())
			return err
		})
		if !errors.Is(err, context.Canceled) || errors.Is(err, domain.ErrUnavailable) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		return nil
	}))
}

func TestAConflictNamesItsConstraint(t *testing.T) {
	database := migrated(t)
	execute(t, database, "INSERT INTO people VALUES ('acme', 4711)")
	execute(t, database, "INSERT INTO orders VALUES ('acme', 4711)")
	err := open(t, database).Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := s.Subjects().Apply(ctx, subject(), []datamap.Step{{Target: "people", Strategy: domain.StrategyDelete}})
		return err
	})
	if !errors.Is(err, domain.ErrConflict) {
		t.Errorf("got %v, want the code %q", err, domain.ErrConflict)
	}
	wantDriverError(t, err, "23503")
	if !strings.Contains(err.Error(), "table orders, constraint orders_tenant_person_fkey") {
		t.Errorf("the message is %q", err)
	}
}

func TestMissingTablesAreExplained(t *testing.T) {
	err := open(t, driver.NewDatabase(t)).Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := s.Consents().History(ctx, subject(), "news")
		return err
	})
	wantDriverError(t, err, "42P01")
	if !strings.Contains(err.Error(), "were the migrations run?") {
		t.Errorf("the message is %q", err)
	}
}

func wantUnavailable(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, domain.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the code %q", err, domain.ErrUnavailable)
	}
	wantSilence(t, err)
}

// wantDriverError checks that err wraps an error of the driver with the given SQLSTATE, and that the text of err
// contains this SQLSTATE.
func wantDriverError(t *testing.T, err error, state string) {
	t.Helper()
	var found pgdriver.Error
	if !errors.As(err, &found) || found.Field('C') != state || !strings.Contains(err.Error(), "(SQLSTATE "+state+")") {
		t.Errorf("the state %s is not in %v", state, err)
	}
	wantSilence(t, err)
}

func wantSilence(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	for _, word := range []string{"secret", "127.0.0.1", "4711", "acme", "SELECT"} {
		if strings.Contains(err.Error(), word) {
			t.Errorf("%q says %q", err, word)
		}
	}
}

func subject() domain.SubjectID {
	id, _ := domain.NewSubjectID("acme", "4711") // a valid id
	return id
}

func open(t *testing.T, database string) ports.SessionFactory {
	t.Helper()
	store, err := bunstore.New(driver.Open(t, database), dataMap(t), bunstore.Options{})
	must(t, err)
	return store
}

func dataMap(t *testing.T) datamap.DataMap {
	t.Helper()
	m, err := datamap.NewDataMap(
		datamap.Table{
			Name: "people", PrimaryKey: []string{"tenant", "number"}, SubjectKey: []string{"tenant", "number"}, Owned: true,
			Columns: []datamap.Column{{Name: "tenant", Type: datamap.TypeText}, {Name: "number", Type: datamap.TypeBigInt}},
		},
		datamap.Table{
			Name: "orders", PrimaryKey: []string{"tenant", "person"},
			Columns: []datamap.Column{{Name: "tenant", Type: datamap.TypeText}, {Name: "person", Type: datamap.TypeBigInt}},
			Relations: []datamap.Relation{{
				Columns: []string{"tenant", "person"}, References: "people", ReferencedColumns: []string{"tenant", "number"},
			}},
		},
	)
	must(t, err)
	return m
}

func lock(ctx context.Context, sessions ports.SessionFactory) error {
	return sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		_, err := s.Subjects().Lock(ctx, subject(), time.Now())
		return err
	})
}

// migrated creates a database with the tables of habeas and of the application, and returns its URL.
func migrated(t *testing.T) string {
	t.Helper()
	database := driver.NewDatabase(t)
	must(t, bunstore.Migrate(t.Context(), driver.Open(t, database), bunstore.Options{}))
	execute(t, database, "CREATE TABLE people (tenant text, number bigint, PRIMARY KEY (tenant, number))")
	execute(
		t, database, "CREATE TABLE orders (tenant text, person bigint, FOREIGN KEY (tenant, person) REFERENCES people)",
	)
	return database
}

func execute(t *testing.T, database, statement string) {
	t.Helper()
	_, err := driver.Open(t, database).ExecContext(t.Context(), statement)
	must(t, err)
}

// listener starts a server and returns its address. The server passes each connection to the given function. If the
// function is nil, no server runs, so the address refuses connections.
func listener(t *testing.T, treat func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	if treat == nil {
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
			treat(connection)
		}
	}()
	return listener.Addr().String()
}

var must = fixture.Must
