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

// Migrations returns the SQL files that create the tables of habeas on the database of db, for an application that runs
// migrations with its own tool. Run the files in the order of their names. Blank lines separate the statements of a
// file. The statements do not qualify the names of tables, so the search path selects the schema.
func Migrations(db *bun.DB) (fs.FS, error) {
	d, err := dialectOf(db, "")
	if err != nil {
		return nil, err
	}
	return fs.Sub(migrationFiles, "migrations/"+d.Migrations())
}

// Migrate creates or updates the tables of habeas. It does not change tables of the application. The tables are in
// Options.Schema, which Migrate creates if it does not exist. If Options.Schema is empty, the search path selects the
// schema. Migrate ignores the other options.
//
// Migrate applies all pending migrations in one transaction. Concurrent calls, also of several processes, wait for each
// other. If no migration is pending, Migrate only reads, and the database role needs no privilege to create tables.
//
// Migrate never creates a second set of tables. If a schema of the search path has tables of habeas, Migrate updates
// these tables.
//
// Migrate returns domain.ErrConfiguration if several schemas of the search path have tables of habeas. Set
// Options.Schema in this case. It also returns domain.ErrConfiguration if migrations are pending for tables in an
// attached database of SQLite.
func Migrate(ctx context.Context, db *bun.DB, opts Options) error {
	m, err := newMigration(db, opts)
	if err != nil {
		return err
	}
	return conn.Retry(ctx, func() error { return conn.Wrap(ctx, "migrate", m.run(ctx)) })
}

// Probe implements ports.Prober. It reads which tables of habeas exist and which migrations are applied. It returns
// domain.ErrConfiguration if migrations are pending.
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

// migration holds the parameters of Migrate, MigrationStates and Probe.
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

// names returns the names of all migrations, in the order in which Migrate applies them.
func (m migration) names() ([]string, error) { return fs.Glob(m.files, "*.sql") }

func (m migration) run(ctx context.Context) error {
	if m.pool.OneWriter() { // SQLite: do not take the write lock if no migration is pending
		if _, pending, err := m.findPending(ctx, m.pool.Query); err != nil || len(pending) == 0 {
			return err
		}
	}
	tx, err := m.pool.Begin(ctx)
	if err != nil {
		return err
	}
	if err := m.apply(ctx, tx); err != nil {
		_ = tx.Rollback(context.WithoutCancel(ctx)) // err is the cause; no further cleanup is possible
		return err
	}
	return tx.Commit(ctx)
}

// apply applies the pending migrations. If there are any, apply takes the lock for migrations and looks for pending
// migrations again, because another process may have applied them in the meantime.
func (m migration) apply(ctx context.Context, tx *conn.Tx) error {
	var schema string
	var pending []string
	for _, prepare := range [][]string{m.dialect.BeforeMigration(), m.dialect.LockMigrations()} {
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

// findPending returns the names of the pending migrations in order, and the schema in which to apply them. If the
// schema is empty, the database applies the migrations in its default schema.
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

type placed struct{ schema, table string }

// findTables returns the tables of habeas in Options.Schema. Without Options.Schema, it returns the tables that
// unqualified names can resolve to, in the order of resolution.
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

// onlySchema returns the schema of the tables, or "" if there are no tables. It returns domain.ErrConfiguration if the
// tables are in several schemas, because an unqualified name would mean the table of only one schema.
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
		return "", domain.Misconfigured("bunstore", "the tables of habeas are in several schemas that unqualified names can"+
			" mean ("+strings.Join(schemas, ", ")+"): set Options.Schema to one of them, or remove the others from the search"+
			" path")
	}
}

func (m migration) canMigrate(schema string) error {
	if m.dialect.CanMigrate(schema) {
		return nil
	}
	return domain.Misconfigured("bunstore", "the tables of habeas are in the attached database "+schema+
		", which Migrate does not change: open that database itself and run Migrate on it")
}
