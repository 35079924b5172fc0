package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
)

const (
	// DatabaseURLEnv is the environment variable with the postgres:// URL of a server. Tests use that server instead of a
	// private server. The user in the URL must have the privilege to create databases.
	DatabaseURLEnv = "HABEAS_TEST_DATABASE_URL"
	// MarkerEnv is the environment variable with the name of a file. Each call of NewDatabase appends the name of its test
	// to this file. The file proves that the PostgreSQL tests ran.
	MarkerEnv = "HABEAS_TEST_POSTGRES_MARKER"

	// statementTimeout is the time limit of CREATE DATABASE and DROP DATABASE, which copy and remove a few megabytes.
	statementTimeout = time.Minute
)

// shared has the private server that all tests of this process share. The first test that needs a server starts it.
var shared struct {
	sync.Mutex
	server *Server
	err    error // the error of a failed start; later tests do not start a server again
}

// Main runs the tests of a package. Then it drops their databases, and stops the server that they have started.
// TestMain needs no other call:
//
//	func TestMain(m *testing.M) { postgres.Main(m) }
//
// Main exits with the code of the tests, or with 1 if the cleanup failed. If no server can be started, the tests that
// need a server fail with the reason.
func Main(m *testing.M) {
	code := m.Run()
	if err := errors.Join(stopShared(), dropFree(context.Background())); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// NewDatabase returns the URL of an empty database for one test. When the test ends, connections that are still open
// are closed, and the database is emptied for another test or dropped. The database is on the server in
// HABEAS_TEST_DATABASE_URL, or on a private server if that variable is empty. If no server can be started, the test
// fails.
func NewDatabase(tb testing.TB) string {
	tb.Helper()
	admin, err := serverURL(tb.Context())
	if err != nil {
		tb.Fatalf("this test needs PostgreSQL: %v", err)
	}
	d, err := take(tb.Context(), admin)
	if err != nil {
		tb.Fatalf("create a database: %v", err)
	}
	tb.Cleanup(func() {
		// The context of the test is already cancelled when a cleanup runs.
		if err := d.giveBack(context.Background(), !tb.Failed()); err != nil {
			tb.Errorf("drop the test's database: %v", err)
		}
	})
	if err := mark(tb.Name()); err != nil {
		tb.Fatal(err)
	}
	return d.url
}

// serverURL returns the URL of the server's administrative database. The server is the server in
// HABEAS_TEST_DATABASE_URL, or a private server that serverURL starts.
func serverURL(ctx context.Context) (string, error) {
	if supplied := os.Getenv(DatabaseURLEnv); supplied != "" {
		return supplied, nil
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		// This test may end before the other tests that use the server. The server therefore ignores the end of the context
		// of this test.
		shared.server, shared.err = Start(context.WithoutCancel(ctx))
	}
	if shared.err != nil {
		return "", shared.err
	}
	return shared.server.URL(), nil
}

func stopShared() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		return nil
	}
	err := shared.server.Stop()
	shared.server = nil
	return err
}

// withDatabase replaces the name of the database in the URL of a server. It keeps the user, the password and all
// parameters.
func withDatabase(admin, name string) (string, error) {
	parsed, err := url.Parse(admin)
	// The error of url.Parse is dropped, because its text contains the URL, and the URL may contain a password.
	if err != nil || (parsed.Scheme != "postgres" && parsed.Scheme != "postgresql") || parsed.Host == "" {
		return "", errors.New("postgres: " + DatabaseURLEnv + " must be a URL: postgres://user:password@host:port/database")
	}
	parsed.Path = "/" + name
	return parsed.String(), nil
}

// execute runs one statement on a new connection. It uses no transaction, because CREATE DATABASE cannot run in one.
func execute(ctx context.Context, databaseURL, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	db, err := sql.Open("pgx", databaseURL)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, statement)
	return errors.Join(err, db.Close())
}

// mark appends the name of the test to the marker file. It makes a single write, so that several test processes can
// append concurrently.
func mark(test string) error {
	name := os.Getenv(MarkerEnv)
	if name == "" {
		return nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("postgres: marker: %w", err)
	}
	_, err = file.WriteString(test + "\n")
	return errors.Join(err, file.Close())
}
