// Package databases opens empty SQLite and PostgreSQL databases for tests of persistence.
package databases

import (
	"testing"

	"github.com/uptrace/bun"
)

// Each runs a test on an empty SQLite database and on an empty PostgreSQL database. The calling package needs a
// TestMain that calls postgres.Main.
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

// WithHook returns a second handle on the database. Statements on this handle call the hook.
func WithHook(db *bun.DB, hook bun.QueryHook) *bun.DB { return db.WithQueryHook(hook) }

// Reconnect closes the connections that no statement uses. Later statements open new connections, which have the
// current settings of the database and no prepared statements.
func Reconnect(db *bun.DB) {
	db.SetMaxIdleConns(0)
	db.SetMaxIdleConns(2) // the default
}
