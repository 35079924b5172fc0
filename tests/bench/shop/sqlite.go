package shop

import (
	"context"
	"database/sql"
	_ "embed"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // driver "sqlite"
)

//go:embed sqlite.sql
var sqlite string

// CreateSQLite creates a template database in a directory, with the given number of users. The template and its copies
// are SQLite files in WAL mode, with the default durability.
func CreateSQLite(ctx context.Context, directory string, users int) (Shop, error) {
	file := func(name string) string { return filepath.Join(directory, name+".db") }
	template := SQLite(file("shop"))
	made := Shop{
		Users: users,
		Copy: func(ctx context.Context, name string) (string, error) {
			return SQLite(file(name)), execute(ctx, template, "VACUUM INTO '"+file(name)+"'")
		},
		Checkpoint: func(context.Context) error { return nil }, // copies are written to disk when they are created
	}
	if err := migrate(ctx, template); err != nil {
		return made, err
	}
	return made, execute(ctx, template, strings.ReplaceAll(sqlite, ":users", strconv.Itoa(users)))
}

// SQLite returns the URL of a database file, with the settings that an application would choose.
func SQLite(file string) string {
	pragmas := url.Values{"_pragma": {"foreign_keys(1)", "busy_timeout(5000)", "journal_mode(wal)"}}
	return "file:" + file + "?" + pragmas.Encode()
}

// IsSQLite reports whether a database URL is a URL of SQLite.
func IsSQLite(databaseURL string) bool { return strings.HasPrefix(databaseURL, "file:") }

// Connect opens a database by its URL.
func Connect(databaseURL string) (*bun.DB, error) {
	if IsSQLite(databaseURL) {
		sqldb, err := sql.Open("sqlite", databaseURL)
		return bun.NewDB(sqldb, sqlitedialect.New()), err
	}
	sqldb, err := sql.Open("pgx", databaseURL)
	return bun.NewDB(sqldb, pgdialect.New()), err
}

func execute(ctx context.Context, databaseURL, statements string) error {
	db, err := Connect(databaseURL)
	if err != nil {
		return err
	}
	defer db.DB.Close()
	_, err = db.DB.ExecContext(ctx, statements)
	return err
}
