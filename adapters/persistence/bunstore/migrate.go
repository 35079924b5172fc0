package bunstore

import (
	"context"
	"database/sql"
	"embed"
	"io/fs"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
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
	return fs.Sub(migrationFiles, "migrations/"+d.Migrations())
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
	m, err := newMigration(db, opts)
	if err != nil {
		return err
	}
	return conn.Retry(ctx, func() error { return conn.Wrap(ctx, "migrate", m.run(ctx)) })
}

// Probe implements ports.Prober. It reads the catalog and the names of the migrations that were applied.
func (s *Store) Probe(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return conn.Wrap(ctx, "probe", err)
	}
	_, pending, err := s.migration.findPending(ctx, s.pool.Query)
	if err == nil && len(pending) > 0 {
		err = domain.Misconfigured("bunstore", "migrations are pending: run Migrate")
	}
	return conn.Wrap(ctx, "probe", err)
}

const (
	migrationsTable  = "habeas_migrations"
	createMigrations = `
		CREATE TABLE IF NOT EXISTS habeas_migrations (
			name TEXT PRIMARY KEY,
			applied_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
		)`
	insertMigration = `INSERT INTO habeas_migrations (name) VALUES ($1)`
)

// migration is a call of Migrate.
type migration struct {
	dialect sqltext.Dialect
	pool    *conn.Pool
	schema  string // Options.Schema
	files   fs.FS
}

func newMigration(db *bun.DB, opts Options) (migration, error) {
	d, err := dialectOf(db, opts.Schema)
	if err != nil {
		return migration{}, err
	}
	files, err := Migrations(db)
	return migration{d, conn.NewPool(db), opts.Schema, files}, err
}

// names are those of all migrations, in their order.
func (m migration) names() ([]string, error) { return fs.Glob(m.files, "*.sql") }

func (m migration) run(ctx context.Context) error {
	if m.pool.OneWriter() { // not to write where there is nothing to be written
		if _, pending, err := m.findPending(ctx, m.pool.Query); err != nil || len(pending) == 0 {
			return err
		}
	}
	tx, err := m.pool.Begin(ctx)
	if err != nil {
		return err
	}
	if err := m.apply(ctx, tx); err != nil {
		_ = tx.Rollback(context.WithoutCancel(ctx)) // nothing is left to be done about a failure
		return err
	}
	return tx.Commit(ctx)
}

// apply applies what is still pending once no other process does.
func (m migration) apply(ctx context.Context, tx *conn.Tx) error {
	var schema string
	var pending []string
	for _, prepare := range [][]string{m.dialect.BeforeMigration(), m.dialect.OneMigration()} {
		err := m.exec(ctx, tx, prepare...)
		if err == nil {
			schema, pending, err = m.findPending(ctx, tx.Query)
		}
		if err != nil || len(pending) == 0 {
			return err
		}
	}
	if schema != "" {
		if err := m.exec(ctx, tx, m.dialect.PrepareMigration(schema)...); err != nil {
			return err
		}
	}
	if err := m.exec(ctx, tx, createMigrations); err != nil {
		return err
	}
	for _, name := range pending {
		text, err := fs.ReadFile(m.files, name)
		if err != nil {
			return err
		}
		if err := m.exec(ctx, tx, strings.Split(strings.TrimSpace(string(text)), "\n\n")...); err != nil {
			return conn.Wrap(ctx, "migrate: "+name, err)
		}
		if _, err := tx.Exec(ctx, insertMigration, name); err != nil {
			return err
		}
	}
	return nil
}

func (m migration) exec(ctx context.Context, tx *conn.Tx, statements ...string) error {
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// findPending returns the migrations that were not applied, in their order, and the schema that they belong into; ""
// means where the database makes tables by itself.
func (m migration) findPending(ctx context.Context, query conn.Query) (schema string, names []string, err error) {
	names, err = m.names()
	if err != nil {
		return "", nil, err
	}
	tables, err := m.findTables(ctx, query)
	if err != nil {
		return "", nil, err
	}
	schema, err = onlySchema(tables)
	if err != nil || schema == "" {
		return m.schema, names, err
	}
	if !slices.Contains(tables, placed{schema, migrationsTable}) {
		return schema, names, m.canMigrate(schema)
	}
	applied, err := query.Texts(ctx, "SELECT name FROM "+sqltext.Quote(schema)+".habeas_migrations")
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(applied, name) })
	if err == nil && len(names) > 0 {
		err = m.canMigrate(schema)
	}
	return schema, names, err
}

// placed is a table of habeas and the schema that it lies in.
type placed struct{ schema, table string }

// findTables finds the tables of habeas: those in the schema, or those that unqualified names can mean, in the order in
// which they do.
func (m migration) findTables(ctx context.Context, query conn.Query) (found []placed, err error) {
	schemas := []string{m.schema}
	if text := m.dialect.Schemas(""); text != "" {
		if schemas, err = query.Texts(ctx, text); err != nil {
			return nil, err
		}
	}
	for _, schema := range schemas {
		err := query(ctx, func(rows *sql.Rows) error {
			var p placed
			err := rows.Scan(&p.schema, &p.table)
			found = append(found, p)
			return err
		}, m.dialect.OwnTables(schema))
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// onlySchema is the schema of tables, or "" where there are none. Where there is another, a part of what was recorded
// would be hidden behind an empty table.
func onlySchema(tables []placed) (string, error) {
	var schemas []string
	for _, table := range tables {
		if !slices.Contains(schemas, table.schema) {
			schemas = append(schemas, table.schema)
		}
	}
	switch len(schemas) {
	case 0:
		return "", nil
	case 1:
		return schemas[0], nil
	default:
		return "", domain.Misconfigured("bunstore", "the tables of habeas lie in more than one schema that unqualified names"+
			" can mean ("+strings.Join(schemas, ", ")+"): name the one in Options.Schema, or take it out of the search path")
	}
}

func (m migration) canMigrate(schema string) error {
	if m.dialect.CanMigrate(schema) {
		return nil
	}
	return domain.Misconfigured("bunstore", "the tables of habeas lie in the attached database "+schema+
		", which Migrate does not change")
}
