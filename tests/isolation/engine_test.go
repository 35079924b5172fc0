package isolation

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // driver "sqlite"
	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m) }

// engine describes a database system for the generator and the checks.
type engine struct {
	kinds  []kind // kinds of columns with data
	keys   []kind // kinds of columns that identify rows
	narrow kind   // kind of a column that refers to a wider key

	// open returns a new database without tables. qualifier is the prefix of the table names in the data map: either "",
	// or the name of a schema and a dot.
	open func(t *rapid.T) (db *bun.DB, qualifier string)
	// run executes a script of several statements.
	run func(ctx context.Context, db *bun.DB, script string) error
	// shown returns an SQL expression that reads a column as text. Two texts are equal if and only if the stored values
	// are equal.
	shown func(column string) string
	// textPrefix is a prefix that the expression of shown adds to a value of type text. It is "" if there is no prefix.
	textPrefix string
}

// onEach runs a test of a property on SQLite and on PostgreSQL. Each run has only one database connection, so the test
// also proves that habeas needs only one.
func onEach(t *testing.T, property func(t *testing.T, e engine)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) { property(t, sqliteEngine()) })
	t.Run("PostgreSQL", func(t *testing.T) { property(t, postgresEngine(postgres.NewDatabase(t))) })
}

func sqliteEngine() engine {
	return engine{
		kinds: sqliteKinds, keys: sqliteKeys, narrow: kind{Type: datamap.TypeInteger, declared: "INTEGER"},
		open: func(t *rapid.T) (*bun.DB, string) {
			return bun.NewDB(connect(t, "sqlite", "file::memory:?_pragma=foreign_keys(1)"), sqlitedialect.New()), ""
		},
		run: func(ctx context.Context, db *bun.DB, script string) error {
			_, err := db.DB.ExecContext(ctx, script)
			return err
		},
		shown: func(column string) string {
			return fmt.Sprintf("typeof(%[1]s) || ' ' || CASE typeof(%[1]s) WHEN 'blob' THEN hex(%[1]s) ELSE %[1]s END", column)
		},
		textPrefix: "text ",
	}
}

func postgresEngine(databaseURL string) engine {
	var namespaces atomic.Int64
	run := func(ctx context.Context, db *bun.DB, script string) error {
		_, err := db.DB.ExecContext(ctx, script, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	return engine{
		kinds: postgresKinds, keys: postgresKeys, narrow: kind{Type: datamap.TypeInteger, declared: "INTEGER"},
		open: func(t *rapid.T) (*bun.DB, string) {
			namespace := fmt.Sprintf("check_%d", namespaces.Add(1))
			location, err := url.Parse(databaseURL)
			must(t, err)
			parameters := location.Query()
			parameters.Set("search_path", namespace)
			parameters.Set("timezone", "UTC")
			location.RawQuery = parameters.Encode()
			db := bun.NewDB(connect(t, "pgx", location.String()), pgdialect.New())
			must(t, run(t.Context(), db, "CREATE SCHEMA "+namespace))
			t.Cleanup(func() { must(t, run(context.Background(), db, "DROP SCHEMA "+namespace+" CASCADE")) })
			return db, pick(t, "qualifier", "", namespace+".")
		},
		run:   run,
		shown: func(column string) string { return "CAST(" + column + " AS text)" },
	}
}

func connect(t *rapid.T, driver, location string) *sql.DB {
	db, err := sql.Open(driver, location)
	must(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
