package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
)

const (
	// DatabaseURLEnv names a server to use instead of a private one: a postgres:// URL whose user may create databases.
	DatabaseURLEnv = "HABEAS_TEST_DATABASE_URL"
	// MarkerEnv names a file to which every NewDatabase appends the test's name: the proof that PostgreSQL tests ran.
	MarkerEnv = "HABEAS_TEST_POSTGRES_MARKER"

	// statementTimeout bounds CREATE and DROP DATABASE, which copy and remove a few megabytes.
	statementTimeout = time.Minute
)

// shared is the private server of this test process, started by the first test that needs one.
var shared struct {
	sync.Mutex
	server *Server
	err    error // a start that failed is not tried again by the next test
}

// Main runs a package's tests and stops the server that they started; TestMain has nothing else to do:
//
//	func TestMain(m *testing.M) { postgres.Main(m) }
//
// It exits with the tests' code, or with 1 if the server could not be stopped. Tests that need a server where none can
// be had fail with the reason.
func Main(m *testing.M) {
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// NewDatabase creates an empty database for one test and returns its URL. The database is dropped when the test ends,
// whoever is still connected. The server is the one that HABEAS_TEST_DATABASE_URL names, else a private one. If there
// is no server, the test fails.
func NewDatabase(tb testing.TB) string {
	tb.Helper()
	admin, err := serverURL(tb.Context())
	if err != nil {
		tb.Fatalf("this test needs PostgreSQL: %v", err)
	}
	name := "habeas_test_" + strings.ToLower(rand.Text())
	databaseURL, err := withDatabase(admin, name)
	if err != nil {
		tb.Fatal(err)
	}
	// template0 takes any encoding and locale, and nobody can be connected to it.
	create := "CREATE DATABASE " + name + " TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
	if err := execute(tb.Context(), admin, create); err != nil {
		tb.Fatalf("create a database: %v", err)
	}
	tb.Cleanup(func() {
		// The test's own context is cancelled by now.
		if err := execute(context.Background(), admin, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			tb.Errorf("drop the test's database: %v", err)
		}
	})
	if err := mark(tb.Name()); err != nil {
		tb.Fatal(err)
	}
	return databaseURL
}

// serverURL returns the URL of the server's administrative database, starting a private server if nobody supplied one.
func serverURL(ctx context.Context) (string, error) {
	if supplied := os.Getenv(DatabaseURLEnv); supplied != "" {
		return supplied, nil
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		// The server outlives the test that happens to come first.
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

// withDatabase replaces the database in a server's URL and keeps the rest: user, password, TLS and other parameters.
func withDatabase(admin, name string) (string, error) {
	parsed, err := url.Parse(admin)
	// The parser's message would quote the URL, and with it a password.
	if err != nil || (parsed.Scheme != "postgres" && parsed.Scheme != "postgresql") || parsed.Host == "" {
		return "", errors.New("postgres: " + DatabaseURLEnv + " must be a URL: postgres://user:password@host:port/database")
	}
	parsed.Path = "/" + name
	return parsed.String(), nil
}

// execute runs one statement on a connection of its own, for CREATE DATABASE takes no transaction.
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

// mark appends in one write, which several test processes can do at once.
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
