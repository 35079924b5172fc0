package bunstore

import (
	"context"
	"database/sql"
	"embed"
	"io/fs"
	"strings"

	"github.com/uptrace/bun"
)

//go:embed migrations
var migrationFiles embed.FS

// Migrations returns the SQL files that make the tables of habeas on the database of db, for an application that
// would rather run them with its own tool. They apply in the order of their names; statements are separated by blank
// lines. Names of tables are not qualified: the search path says where they go.
func Migrations(db *bun.DB) (fs.FS, error) {
	d, err := dialectOf(db, "")
	if err != nil {
		return nil, err
	}
	return fs.Sub(migrationFiles, "migrations/"+d.migrations())
}

// Migrate makes the tables of habeas, or brings them up to date, in the schema that Options name (made if it is not
// there). It touches no table of the application. All of it is one transaction; processes that start at once wait for
// each other, and what was applied before is left alone.
func Migrate(ctx context.Context, db *bun.DB, opts Options) error {
	d, err := dialectOf(db, opts.Schema)
	if err != nil {
		return err
	}
	files, err := Migrations(db)
	if err != nil {
		return err
	}
	return retry(ctx, func() error {
		tx, err := d.begin(ctx, db)
		if err != nil {
			return wrap(ctx, "migrate", err)
		}
		if err := migrate(ctx, db, tx.conn(), d.prepareMigration(opts.Schema), files); err != nil {
			_ = tx.rollback(context.WithoutCancel(ctx)) // nothing is left to be done about a failure
			return wrap(ctx, "migrate", err)
		}
		return wrap(ctx, "migrate", tx.commit(ctx))
	})
}

func migrate(ctx context.Context, db *bun.DB, conn bun.IConn, prepare []string, files fs.FS) error {
	run := func(statements ...string) error {
		for _, statement := range statements {
			if _, err := exec(ctx, db, conn, statement); err != nil {
				return err
			}
		}
		return nil
	}
	err := run(append(prepare, "CREATE TABLE IF NOT EXISTS habeas_migrations (name TEXT PRIMARY KEY, applied_at "+
		"TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)")...)
	if err != nil {
		return err
	}
	applied := map[string]bool{}
	err = query(ctx, db, conn, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		applied[name] = true
		return err
	}, "SELECT name FROM habeas_migrations")
	if err != nil {
		return err
	}
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || applied[name] {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if err := run(strings.Split(strings.TrimSpace(string(text)), "\n\n")...); err != nil {
			return wrap(ctx, "migrate: "+name, err)
		}
		_, err = exec(ctx, db, conn, "INSERT INTO habeas_migrations (name) VALUES ($1)", name)
		return err
	})
}
