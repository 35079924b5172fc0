package attack

import (
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/tests/databases"
)

type fixed struct{ now time.Time }

func (f *fixed) Now() time.Time { return f.now }

func reopen(t testing.TB, db *bun.DB) *bun.DB {
	if db.Dialect().Name() == dialect.PG {
		return databases.PostgreSQL(t)
	}
	return databases.SQLite(t)
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
