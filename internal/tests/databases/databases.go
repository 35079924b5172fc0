// Package databases opens the databases that persistence tests run on: one table of tests, both databases.
package databases

import (
	"testing"

	"github.com/uptrace/bun"
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
	return open(tb, Driver{"SQLite", "sqlite"})
}

// PostgreSQL opens an empty PostgreSQL database.
func PostgreSQL(tb testing.TB) *bun.DB {
	tb.Helper()
	return open(tb, Driver{"PostgreSQL", "pgx"})
}

func open(tb testing.TB, d Driver) *bun.DB {
	tb.Helper()
	return d.Open(tb, d.NewDatabase(tb))
}

// WithHook returns a second handle on the database, whose statements the hook sees. bun.DB.WithQueryHook, which does
// the same, is missing from the oldest bun that the module is tested with.
func WithHook(db *bun.DB, hook bun.QueryHook) *bun.DB {
	hooked := bun.NewDB(db.DB, db.Dialect())
	hooked.AddQueryHook(hook)
	return hooked
}
