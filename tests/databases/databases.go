// Package databases opens the databases that persistence tests run on: one table of tests, both databases.
package databases

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // driver "sqlite"

	"github.com/habeas-data/habeas/tests/postgres"
)

// Each runs a test once on an empty SQLite database and once on an empty PostgreSQL database. A package that calls it
// needs a TestMain that calls postgres.Main.
func Each(t *testing.T, run func(t *testing.T, db *bun.DB)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) { run(t, SQLite(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { run(t, PostgreSQL(t)) })
}

// SQLite opens an empty SQLite database, with foreign keys enforced.
func SQLite(tb testing.TB) *bun.DB {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "test.db")
	return open(tb, "sqlite", "file:"+path+
		"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)&_pragma=journal_mode(wal)&_pragma=synchronous(off)")
}

// PostgreSQL opens an empty PostgreSQL database.
func PostgreSQL(tb testing.TB) *bun.DB {
	tb.Helper()
	return open(tb, "pgx", postgres.NewDatabase(tb))
}

func open(tb testing.TB, driver, url string) *bun.DB {
	tb.Helper()
	sqldb, err := sql.Open(driver, url)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = sqldb.Close() })
	if driver == "sqlite" {
		return bun.NewDB(sqldb, sqlitedialect.New())
	}
	return bun.NewDB(sqldb, pgdialect.New())
}
