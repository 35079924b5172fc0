package bunstore

import (
	"context"
	"embed"
	"io/fs"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/migrate"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// The migrations are append-only: a released file never changes, because databases hold its checksum.
//
//go:embed migrations
var migrationFiles embed.FS

// Migrate creates or updates the tables of habeas for the data map with the name Options.Name. It does not change
// tables of the application. The tables are in Options.Schema, which Migrate creates if it does not exist. If
// Options.Schema is empty, the search path selects the schema. Migrate ignores the other options, except Logger and
// TrustEncoding.
//
// Migrate applies all pending migrations in one transaction. Concurrent calls, also of several processes, wait for each
// other. If no migration is pending, the database role needs no privilege to create tables.
//
// Also without a pending migration, Migrate raises the sequences of habeas that stand below the numbers in their
// tables, as they do after a switch to a logical replica. If the role must not read or raise a sequence, Migrate logs a
// warning that names the sequence.
//
// On PostgreSQL, it also replaces a function of habeas that names another schema, because the schema was renamed.
//
// Migrate never creates a second set of tables in the search path. If a schema of the search path has tables of habeas,
// Migrate updates these tables. If a schema elsewhere in the database has tables of the same data map, Migrate logs a
// warning that names it.
//
// On PostgreSQL, a migration waits at most 10 s for a lock, or as long as the lock_timeout of the connection allows. It
// then returns domain.ErrUnavailable with the process ids and the application names of the sessions that hold locks.
//
// Migrate returns domain.ErrConfiguration in these cases:
//
//   - Several schemas of the search path have tables of habeas. Set Options.Schema in this case.
//   - Migrations are pending for tables in an attached database of SQLite.
//   - A newer version of habeas has changed the tables, or an applied migration had another text.
//   - The database is older than PostgreSQL 14 or SQLite 3.45, or the encoding of the connection is not UTF8 (see also
//     Options.TrustEncoding).
func Migrate(ctx context.Context, db *bun.DB, opts Options) error {
	m, err := newMigration(db, nil, opts)
	if err != nil {
		return err
	}
	return m.Run(ctx)
}

// newMigration returns the migration of the tables of habeas. If pool is nil, the migration has a pool of its own.
func newMigration(db *bun.DB, pool *conn.Pool, opts Options) (*migrate.Migration, error) {
	d, err := dialectOf(db, opts.Schema)
	if err != nil {
		return nil, err
	}
	if err := datamap.CheckMapName("bunstore", opts.Name); err != nil {
		return nil, err
	}
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return nil, err
	}
	if pool == nil {
		pool = conn.NewPool(db)
	}
	return migrate.New(pool, d, migrate.Settings{
		Schema: opts.Schema, Name: opts.Name, Logger: opts.Logger, TrustEncoding: opts.TrustEncoding, Files: files,
	})
}

// Migrations returns the SQL files that create the tables of habeas on the database of db, for an application that runs
// migrations with its own tool. Run the files in the order of their names. Blank lines separate the statements of a
// file. The statements do not qualify the names of tables, so the search path selects the schema. The files are those
// of the data map without a name. See MigrationText for another one.
func Migrations(db *bun.DB) (fs.FS, error) {
	d, err := dialectOf(db, "")
	if err != nil {
		return nil, err
	}
	return fs.Sub(migrationFiles, "migrations/"+migrate.Folder(d))
}

// MigrationText returns the statements of all migrations in order, for the data map with the given name (see
// Options.Name). A comment with the name of the file precedes the statements of each file. Blank lines separate the
// statements. MigrationText opens no connection. It returns domain.ErrConfiguration if the name is not valid or the
// dialect of db is not supported.
func MigrationText(db *bun.DB, name string) (string, error) {
	m, err := newMigration(db, nil, Options{Name: name})
	if err != nil {
		return "", err
	}
	return m.Text(), nil
}

// Privileges returns what the role of the application needs on the tables of habeas of Options.Schema and Options.Name,
// beside USAGE on their schema. Migrate and a replay need a role that owns the tables. Privileges opens no connection.
// It returns domain.ErrConfiguration if the database has no privileges (SQLite), and the errors of MigrationText.
func Privileges(db *bun.DB, opts Options) ([]datamap.Privileges, error) {
	m, err := newMigration(db, nil, opts)
	if err == nil && db.Dialect().Name() != dialect.PG {
		err = domain.Misconfigured("bunstore", "this database has no privileges")
	}
	if err != nil {
		return nil, err
	}
	return m.Privileges(), nil
}

// MigrationStates returns all migrations in the order in which Migrate applies them. Each has one of the states
// applied, pending and unrecorded. Unrecorded means that tables of habeas exist, but not the table that records the
// applied migrations. MigrationStates only reads. It returns the same errors as Migrate.
func MigrationStates(ctx context.Context, db *bun.DB, opts Options) ([]domain.Migration, error) {
	return readMigration(ctx, db, opts, "migrations", func(m *migrate.Migration) ([]domain.Migration, error) {
		return m.States(ctx)
	})
}

// InstalledNames returns the names (see Options.Name) of all data maps whose tables of habeas are in Options.Schema or,
// if that is empty, in the search path of the connection. The data map without a name has the name "".
func InstalledNames(ctx context.Context, db *bun.DB, opts Options) (names []string, err error) {
	return readMigration(ctx, db, opts, "installation", func(m *migrate.Migration) ([]string, error) {
		return m.Names(ctx)
	})
}

// ReadInstallation returns the id of the installation with the given Options.Schema and Options.Name, and the subject
// table and the key columns of its data map. They are empty if no session has recorded them yet. ReadInstallation
// returns domain.ErrConfiguration if the tables of habeas do not exist.
func ReadInstallation(ctx context.Context, db *bun.DB, opts Options) (datamap.Installation, error) {
	return readMigration(ctx, db, opts, "installation", func(m *migrate.Migration) (datamap.Installation, error) {
		return m.Installation(ctx)
	})
}

// readMigration returns the result of read, which it retries. The parameter op is the name of the operation in an
// error.
func readMigration[T any](
	ctx context.Context, db *bun.DB, opts Options, op string, read func(*migrate.Migration) (T, error),
) (found T, err error) {
	m, err := newMigration(db, nil, opts)
	if err != nil {
		return found, err
	}
	err = conn.Retry(ctx, func() error {
		found, err = read(m)
		return conn.Wrap(ctx, op, err)
	})
	return found, err
}
