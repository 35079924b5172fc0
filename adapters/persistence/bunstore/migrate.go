package bunstore

import (
	"context"
	"io/fs"
	"log/slog"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Migrate creates or updates the tables of habeas for the data map with the name Options.Name. It does not change
// tables of the application. The tables are in Options.Schema, which Migrate creates if it does not exist. If
// Options.Schema is empty, the search path selects the schema. Migrate ignores the other options, except Logger.
//
// Migrate applies all pending migrations in one transaction. Concurrent calls, also of several processes, wait for each
// other. If no migration is pending, Migrate only reads, and the database role needs no privilege to create tables.
//
// Migrate also raises the sequences of habeas that stand below the numbers in their tables, as they do after a switch
// to a logical replica. If the role must not read or raise a sequence, Migrate logs a warning that names the sequence.
//
// On PostgreSQL, Migrate replaces a function of habeas that names another schema, because the schema was renamed.
//
// Migrate never creates a second set of tables in the search path. If a schema of the search path has tables of habeas,
// Migrate updates these tables. If a schema elsewhere in the database has tables of the same data map, Migrate logs a
// warning that names it.
//
// Migrate returns domain.ErrConfiguration in these cases:
//
//   - Several schemas of the search path have tables of habeas. Set Options.Schema in this case.
//   - Migrations are pending for tables in an attached database of SQLite.
//   - A newer version of habeas has changed the tables, or an applied migration had another text.
//   - The tables are those of an early version of habeas that Migrate cannot bring forward.
func Migrate(ctx context.Context, db *bun.DB, opts Options) error {
	m, err := newMigration(db, opts)
	if err != nil {
		return err
	}
	return conn.Retry(ctx, func() error {
		err := m.run(ctx)
		if err == nil {
			err = m.warn(ctx)
		}
		if err == nil {
			err = m.repairErasedFunction(ctx)
		}
		if err == nil {
			err = m.raiseSequences(ctx)
		}
		return conn.Wrap(ctx, "migrate", err)
	})
}

const (
	createMigrations = `CREATE TABLE habeas_migrations (
	name       TEXT PRIMARY KEY,
	applied_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
	checksum   TEXT
)`
	forgetMigrations = `DELETE FROM habeas_migrations WHERE name IN ($1, $2, $3)`
	insertMigration  = `INSERT INTO habeas_migrations (name, checksum) VALUES ($1, $2)`
	fillChecksum     = `UPDATE habeas_migrations SET checksum = $2 WHERE name = $1 AND checksum IS NULL`
)

// migrationsTable returns the name of the table that records the applied migrations.
func (m migration) migrationsTable() string { return m.named("habeas_migrations") }

// migration holds the parameters of Migrate, MigrationStates and Probe.
type migration struct {
	dialect sqltext.Dialect
	pool    *conn.Pool
	schema  string // Options.Schema
	name    string // Options.Name
	files   []migrationFile
	logger  *slog.Logger
}

func newMigration(db *bun.DB, opts Options) (migration, error) {
	d, err := dialectOf(db, opts.Schema)
	if err != nil {
		return migration{}, err
	}
	if err := datamap.CheckMapName("bunstore", opts.Name); err != nil {
		return migration{}, err
	}
	files, err := readMigrations(db)
	m := migration{d, conn.NewPool(db), opts.Schema, opts.Name, files, opts.Logger}
	if m.logger == nil {
		m.logger = slog.Default()
	}
	return m, err
}

func (m migration) run(ctx context.Context) error {
	if m.pool.OneWriter() { // SQLite: do not take the write lock if no migration is pending
		if state, err := m.find(ctx, m.pool.Query); err != nil || state.complete() {
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
	var state migrated
	for _, prepare := range [][]string{m.dialect.BeforeMigration(), m.dialect.LockMigrations()} {
		err := m.exec(ctx, tx, prepare...)
		if err == nil {
			state, err = m.find(ctx, tx.Query)
		}
		if err != nil || state.complete() {
			return err
		}
	}
	if state.schema != "" {
		if err := m.exec(ctx, tx, m.dialect.PrepareMigration(state.schema)...); err != nil {
			return err
		}
	}
	if err := m.prepareChecksums(ctx, tx, state); err != nil {
		return err
	}
	for _, file := range m.files {
		if !slices.Contains(state.pending, file.name) {
			if _, err := tx.Exec(ctx, m.named(fillChecksum), file.name, file.checksum); err != nil {
				return err
			}
			continue
		}
		if err := m.applyFile(ctx, tx, file, state); err != nil {
			return conn.Wrap(ctx, "migrate: "+file.name, err)
		}
		if _, err := tx.Exec(ctx, m.named(insertMigration), file.name, file.checksum); err != nil {
			return err
		}
	}
	return nil
}

// prepareChecksums creates the table of migrations, or adds the column checksum to the table of an earlier version.
func (m migration) prepareChecksums(ctx context.Context, tx *conn.Tx, state migrated) error {
	create := m.named(createMigrations)
	switch {
	case state.checksums:
		return nil
	case len(state.tables) == 0 || state.unrecorded:
		return m.exec(ctx, tx, create)
	default:
		return m.exec(ctx, tx, m.dialect.AddChecksum(datamap.ObjectPrefix(m.name), create)...)
	}
}

// applyFile applies a migration. If the tables are those of its first version, applyFile brings them forward instead.
func (m migration) applyFile(ctx context.Context, tx *conn.Tx, file migrationFile, state migrated) error {
	if file.name != firstMigration || !state.first {
		return m.exec(ctx, tx, m.statementsOf(file.text)...)
	}
	if m.pool.LeavesDeleted() { // the upgrade copies rows with refs, and drops the tables with the originals
		if err := tx.OverwriteDeleted(ctx); err != nil {
			return err
		}
	}
	text, err := fs.ReadFile(upgradeFiles, "upgrades/"+m.dialect.Migrations()+"/"+file.name)
	if err != nil {
		return err
	}
	if err := m.exec(ctx, tx, m.statementsOf(string(text))...); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, m.named(forgetMigrations), firstMigration, oldLedgers, oldOutboxStage)
	return err
}

func (m migration) exec(ctx context.Context, tx *conn.Tx, statements ...string) error {
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// warn logs a warning if the database has a second set of tables of the same name outside the schema that m uses. A
// process with another search path would use that set, and would not see the consents and restrictions of this one.
func (m migration) warn(ctx context.Context) error {
	state, err := m.find(ctx, m.pool.Query)
	if err != nil {
		return err
	}
	text := m.dialect.OtherSets(state.schema, m.name)
	if text == "" {
		return nil
	}
	others, err := conn.Query(m.pool.Query).Texts(ctx, text)
	if err == nil && len(others) > 0 {
		m.logger.WarnContext(ctx, "the database has further tables of habeas for the same data map in other schemas."+
			" Processes that use them see other consents and restrictions", "schema", state.schema, "others",
			strings.Join(others, ", "))
	}
	return err
}
