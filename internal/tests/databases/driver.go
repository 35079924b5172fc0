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

// Driver is a kind of database behind one of the drivers that there are for it.
type Driver struct {
	Name string
	SQL  string // what database/sql calls it; the importer registers it, unless it is one of Drivers
}

// Drivers returns every driver that the module is tested with; what another one needs would become the library's
// dependencies, so that it has a module of its own, as tests/pgdriver.
func Drivers() []Driver {
	return []Driver{{"SQLite", "sqlite"}, {"PostgreSQL pgx", "pgx"}}
}

// IsSQLite reports whether the database is SQLite; it is PostgreSQL otherwise.
func (d Driver) IsSQLite() bool { return strings.HasPrefix(d.SQL, "sqlite") }

// NewDatabase returns the URL of an empty database, which is there as long as the test runs.
func (d Driver) NewDatabase(tb testing.TB) string {
	tb.Helper()
	if d.IsSQLite() {
		return SQLiteURL(filepath.Join(tb.TempDir(), "test.db"))
	}
	return postgres.NewDatabase(tb)
}

// SQLiteURL names a file, in which foreign keys are to be enforced and nothing has to survive the machine. It says so
// in the words of each driver, which ignores those of the others.
func SQLiteURL(path string) string {
	return "file:" + path +
		"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)&_pragma=journal_mode(wal)&_pragma=synchronous(off)" +
		"&_busy_timeout=10000&_foreign_keys=1&_journal_mode=wal&_synchronous=off"
}

// WithSchema returns the URL of a PostgreSQL database with a schema of it as the search path.
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

// Open returns a handle on a database, which the end of the test closes. It does not connect yet.
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
