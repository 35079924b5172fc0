package bunstore

import (
	"context"
	"database/sql"
	"embed"
	"io/fs"
	"slices"
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
// there), else where the search path says. It touches no table of the application. All of it is one transaction;
// processes that start at once wait for each other, and what was applied before is left alone. Where everything was
// applied, it only reads, and needs no right to create anything.
//
// It never begins a second set of tables: where theirs is not the first schema of the search path, the tables are used
// there. If there are tables in more than one schema of the search path, the error is domain.ErrConfiguration, and
// Options.Schema says which to use. If migrations are pending for tables in an attached database of SQLite, it is
// domain.ErrConfiguration too.
func Migrate(ctx context.Context, db *bun.DB, opts Options) error {
	d, err := dialectOf(db, opts.Schema)
	if err != nil {
		return err
	}
	files, err := Migrations(db)
	if err != nil {
		return err
	}
	m := migration{d, db, opts.Schema, files}
	return retry(ctx, func() error { return wrap(ctx, "migrate", m.run(ctx)) })
}

// migration is a call of Migrate.
type migration struct {
	dialect sqlDialect
	db      *bun.DB
	schema  string // Options.Schema
	files   fs.FS
}

func (m migration) run(ctx context.Context) error {
	if m.dialect.writers() > 0 { // not to write where there is nothing to be written
		if _, pending, err := m.pending(ctx, m.db.DB); err != nil || len(pending) == 0 {
			return err
		}
	}
	tx, err := m.dialect.begin(ctx, m.db)
	if err != nil {
		return err
	}
	if err := m.apply(ctx, tx.conn()); err != nil {
		_ = tx.rollback(context.WithoutCancel(ctx)) // nothing is left to be done about a failure
		return err
	}
	return tx.commit(ctx)
}

// apply applies what is still pending once no other process does.
func (m migration) apply(ctx context.Context, conn bun.IConn) error {
	var schema string
	var pending []string
	for _, prepare := range [][]string{m.dialect.beforeMigration(), m.dialect.oneMigration()} {
		err := m.exec(ctx, conn, prepare...)
		if err == nil {
			schema, pending, err = m.pending(ctx, conn)
		}
		if err != nil || len(pending) == 0 {
			return err
		}
	}
	if schema != "" {
		if err := m.exec(ctx, conn, m.dialect.prepareMigration(schema)...); err != nil {
			return err
		}
	}
	err := m.exec(ctx, conn, "CREATE TABLE IF NOT EXISTS habeas_migrations (name TEXT PRIMARY KEY, applied_at "+
		"TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)")
	if err != nil {
		return err
	}
	for _, name := range pending {
		text, err := fs.ReadFile(m.files, name)
		if err != nil {
			return err
		}
		if err := m.exec(ctx, conn, strings.Split(strings.TrimSpace(string(text)), "\n\n")...); err != nil {
			return wrap(ctx, "migrate: "+name, err)
		}
		if _, err := exec(ctx, m.db, conn, "INSERT INTO habeas_migrations (name) VALUES ($1)", name); err != nil {
			return err
		}
	}
	return nil
}

func (m migration) exec(ctx context.Context, conn bun.IConn, statements ...string) error {
	for _, statement := range statements {
		if _, err := exec(ctx, m.db, conn, statement); err != nil {
			return err
		}
	}
	return nil
}

// pending returns the migrations that were not applied, in their order, and the schema that they belong into; "" means
// where the database makes tables by itself.
func (m migration) pending(ctx context.Context, conn bun.IConn) (schema string, names []string, err error) {
	names, err = fs.Glob(m.files, "*.sql")
	if err != nil {
		return "", nil, err
	}
	tables, err := m.dialect.ownTables(ctx, m.db, conn, m.schema)
	if err != nil {
		return "", nil, err
	}
	schema, err = onlySchema(tables)
	if err != nil || schema == "" {
		return m.schema, names, err
	}
	if !slices.Contains(tables, placed{schema, "habeas_migrations"}) {
		return schema, names, m.dialect.canMigrate(schema)
	}
	err = query(ctx, m.db, conn, func(rows *sql.Rows) error {
		var applied string
		err := rows.Scan(&applied)
		names = slices.DeleteFunc(names, func(name string) bool { return name == applied })
		return err
	}, "SELECT name FROM "+quote(schema)+".habeas_migrations")
	if err == nil && len(names) > 0 {
		err = m.dialect.canMigrate(schema)
	}
	return schema, names, err
}
