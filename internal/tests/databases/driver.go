package databases

import (
	"database/sql"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // driver "sqlite"

	"github.com/habeas-data/habeas/internal/tests/postgres"
)

// Driver is a database system and a driver of database/sql for this system.
type Driver struct {
	Name string
	SQL  string // the name in database/sql; importers must register drivers that Drivers does not return
}

// Drivers returns the drivers that this module depends on. Any other driver is tested in a separate module, such as
// tests/pgdriver, so that applications do not download the driver with the library.
func Drivers() []Driver {
	return []Driver{{"SQLite", "sqlite"}, {"PostgreSQL pgx", "pgx"}}
}

// IsSQLite reports whether the database system is SQLite. The only other system is PostgreSQL.
func (d Driver) IsSQLite() bool { return strings.HasPrefix(d.SQL, "sqlite") }

// NewDatabase returns the URL of an empty database that exists until the test ends.
func (d Driver) NewDatabase(tb testing.TB) string {
	tb.Helper()
	if d.IsSQLite() {
		return SQLiteURL(filepath.Join(tb.TempDir(), "test.db"))
	}
	return postgres.NewDatabase(tb)
}

// SQLiteURL returns the URL of a database file. Foreign keys are enforced. Commits are not flushed to the disk, because
// tests need no durability. The URL has the parameters of every driver, because each driver ignores unknown parameters.
func SQLiteURL(path string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + // the name of a subtest may contain a "#"
		"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)&_pragma=journal_mode(wal)&_pragma=synchronous(off)" +
		"&_busy_timeout=10000&_foreign_keys=1&_journal_mode=wal&_synchronous=off"
}

// WithSchema returns the URL of a PostgreSQL database with schema as the search path.
func WithSchema(tb testing.TB, database, schema string) string {
	tb.Helper()
	parsed, err := url.Parse(database)
	if err != nil {
		tb.Fatal("the database has no URL")
	}
	query := parsed.Query()
	query.Set("search_path", schema)
	parsed.RawQuery = query.Encode()
	return parsed.String()
}

// Open returns a handle on a database, and closes it when the test ends. It opens no connection.
func (d Driver) Open(tb testing.TB, database string) *bun.DB {
	tb.Helper()
	sqldb, err := sql.Open(d.SQL, database)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = sqldb.Close() })
	if d.IsSQLite() {
		return bun.NewDB(sqldb, sqlitedialect.New())
	}
	return bun.NewDB(sqldb, pgdialect.New())
}
