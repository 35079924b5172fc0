// Package migrate applies the migrations of the tables of habeas, and compares the tables with them.
package migrate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"io/fs"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/installation"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Migration applies the migrations of the tables of habeas, and compares the tables with them.
type Migration struct {
	pool    *conn.Pool
	dialect syntax.Dialect
	own     dialect
	schema  string // the schema of the tables; "" for the search path
	name    string // the name of the data map
	files   []migrationFile
	logger  *slog.Logger
	needs   installation.Environment
}

// Settings are those of a migration.
type Settings struct {
	Schema, Name string
	Logger       *slog.Logger

	TrustEncoding bool // see bunstore.Options

	Files fs.FS // a folder for each database system, see Folder
}

// New returns a migration for the database of the pool.
func New(pool *conn.Pool, d syntax.Dialect, settings Settings) (*Migration, error) {
	m := &Migration{
		pool: pool, dialect: d, own: dialectOf(d), schema: settings.Schema, name: settings.Name,
		logger: cmp.Or(settings.Logger, slog.Default()),
		needs:  installation.Environment{Dialect: d, TrustEncoding: settings.TrustEncoding},
	}
	files, err := fs.Sub(settings.Files, Folder(d))
	if err == nil {
		m.files, err = readMigrations(files)
	}
	return m, err
}

// Folder returns the name of the folder with the files of a database system.
func Folder(d syntax.Dialect) string { return dialectOf(d).folder() }

// Run applies the pending migrations, and repairs the functions and the sequences of habeas. If a newer version of
// habeas has applied further migrations, Run changes nothing: that version has repaired its objects. See
// bunstore.Migrate.
func (m *Migration) Run(ctx context.Context) error {
	return conn.Retry(ctx, func() error {
		err := m.needs.Check(ctx, m.pool.Query)
		if err == nil {
			err = m.explain(ctx, m.run(ctx))
		}
		if err == nil {
			err = m.finish(ctx)
		}
		return conn.Wrap(ctx, "migrate", err)
	})
}

// explain names the sessions for whose locks a migration has waited in vain.
func (m *Migration) explain(ctx context.Context, err error) error {
	const lockNotAvailable = "55P03"
	text := m.own.lockHolders(m.schema, m.name)
	if text == "" || conn.SQLState(err) != lockNotAvailable {
		return err
	}
	var holders []string
	if m.pool.Query(ctx, func(rows *sql.Rows) error {
		var pid, application string
		err := rows.Scan(&pid, &application)
		holders = append(holders, pid+" of "+strconv.Quote(application))
		return err
	}, text) != nil || len(holders) == 0 {
		return err
	}
	return &domain.Error{
		Code: domain.ErrUnavailable, Op: "migrate", Err: err, Message: "the lock_timeout has ended. End these processes of" +
			" the server, which hold locks on the tables of habeas, or try again later: " + strings.Join(holders, ", "),
	}
}

// finish warns of other sets of tables, and repairs the functions and the sequences.
func (m *Migration) finish(ctx context.Context) error {
	state, err := m.find(ctx, m.pool.Query)
	if err != nil {
		return err
	}
	if err := m.warn(ctx, state); err != nil || len(state.newer) > 0 {
		return err
	}
	if err := m.repairFunctions(ctx, state); err != nil {
		return err
	}
	return installation.RaiseAll(ctx, m.pool, m.dialect, syntax.TablesIn(m.schema, m.name), func(reason error) {
		m.logger.WarnContext(ctx, "Migrate does not know whether sequences are too low, as they can be after a restore"+
			" or a switch of the database", "reason", reason)
	})
}

func (m *Migration) run(ctx context.Context) error {
	if m.pool.OneWriter() { // SQLite: do not take the write lock if no migration is pending
		if state, err := m.find(ctx, m.pool.Query); err != nil || state.complete() {
			return err
		}
	}
	return m.pool.InTransaction(ctx, func(tx *conn.Tx) error { return m.apply(ctx, tx) })
}

const (
	createMigrations = `CREATE TABLE habeas_migrations (
	name       TEXT PRIMARY KEY,
	applied_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
	checksum   TEXT,
	breaks     BOOLEAN NOT NULL DEFAULT FALSE
)`

	insertMigration = `INSERT INTO habeas_migrations (name, checksum, breaks) VALUES ($1, $2, $3)`
)

// migrationsTable returns the name of the table that records the applied migrations.
func (m *Migration) migrationsTable() string { return m.named("habeas_migrations") }

// apply applies the pending migrations. If there are any, apply takes the lock for migrations and looks for pending
// migrations again, because another process may have applied them in the meantime.
func (m *Migration) apply(ctx context.Context, tx *conn.Tx) error {
	var state migrated
	for _, prepare := range [][]string{m.own.beforeMigration(), m.own.lockMigrations()} {
		err := m.exec(ctx, tx, prepare...)
		if err == nil {
			state, err = m.find(ctx, tx.Query)
		}
		if err != nil || state.complete() {
			return err
		}
	}
	if state.schema != "" {
		if err := m.exec(ctx, tx, m.own.prepareMigration(state.schema)...); err != nil {
			return err
		}
	}
	if len(state.tables) == 0 || state.unrecorded {
		if err := m.exec(ctx, tx, m.named(createMigrations)); err != nil {
			return err
		}
	}
	for _, file := range m.files {
		if !slices.Contains(state.pending, file.name) {
			continue
		}
		if err := m.exec(ctx, tx, m.statementsOf(file.text)...); err != nil {
			return conn.Wrap(ctx, "migrate: "+file.name, err)
		}
		if _, err := tx.Exec(ctx, m.named(insertMigration), file.name, file.checksum, file.breaks); err != nil {
			return err
		}
	}
	return nil
}

func (m *Migration) exec(ctx context.Context, tx *conn.Tx, statements ...string) error {
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// warn logs a warning if the database has a second set of tables of the same name outside the schema that m uses. A
// process with another search path would use that set, and would not see the consents and restrictions of this one.
func (m *Migration) warn(ctx context.Context, state migrated) error {
	text := m.own.otherSets(state.schema, m.name)
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

// Text returns the statements of all migrations in order. A comment with the name of the file precedes the statements
// of each file.
func (m *Migration) Text() string {
	var all strings.Builder
	for _, file := range m.files {
		all.WriteString("-- " + file.name + "\n\n" + strings.TrimSpace(m.named(file.text)) + "\n")
	}
	return all.String()
}

// Installation returns the id of the installation and its data map.
func (m *Migration) Installation(ctx context.Context) (datamap.Installation, error) {
	return installation.Read(ctx, m.pool.Query, m.needs, syntax.TablesIn(m.schema, m.name))
}

// Names returns the names of the data maps that have tables of habeas in the schema.
func (m *Migration) Names(ctx context.Context) (names []string, err error) {
	tables, err := conn.Query(m.pool.Query).Texts(ctx, m.own.installations(m.schema))
	for _, table := range tables {
		name := strings.TrimSuffix(strings.TrimPrefix(table, datamap.ObjectPrefix("")), "installation")
		name = strings.TrimSuffix(name, "_")
		if table == datamap.ObjectPrefix(name)+"installation" && datamap.CheckMapName("bunstore", name) == nil {
			names = append(names, name)
		}
	}
	return names, err
}

// States returns the state of each migration. See bunstore.MigrationStates.
func (m *Migration) States(ctx context.Context) ([]domain.Migration, error) {
	state, err := m.find(ctx, m.pool.Query)
	if err != nil {
		return nil, err
	}
	states := make([]domain.Migration, len(m.files))
	for i, file := range m.files {
		states[i] = domain.Migration{Name: file.name, State: domain.MigrationApplied}
		switch {
		case state.unrecorded:
			states[i].State = domain.MigrationUnrecorded
		case slices.Contains(state.pending, file.name):
			states[i].State = domain.MigrationPending
		}
	}
	for _, name := range state.newer {
		states = append(states, domain.Migration{Name: name, State: domain.MigrationNewer})
	}
	return states, nil
}

// migrationFile is a file of the folder migrations.
type migrationFile struct {
	name, text string
	checksum   string // the SHA-256 of the text, in hexadecimal digits
	breaks     bool   // processes that do not know the migration cannot work with its tables
}

// readMigrations returns the files of a database system in the order in which Migrate applies them.
func readMigrations(folder fs.FS) (files []migrationFile, err error) {
	names, err := fs.Glob(folder, "*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		files = append(files, migrationFile{
			name: name, text: string(text), checksum: hex.EncodeToString(sum[:]), breaks: breaksPattern.Match(text),
		})
	}
	return files, nil
}

// named returns a text of a migration for the data map with the name of m: all names of objects in it begin with
// datamap.ObjectPrefix.
func (m *Migration) named(text string) string {
	return strings.ReplaceAll(text, datamap.ObjectPrefix(""), datamap.ObjectPrefix(m.name))
}

// statementsOf returns the statements of a migration, which blank lines separate.
func (m *Migration) statementsOf(text string) []string {
	return strings.Split(strings.TrimSpace(m.named(text)), "\n\n")
}

var (
	tablePattern  = regexp.MustCompile(`(?ms)^CREATE TABLE (\w+) \(\n(.*?)^\)`)
	columnPattern = regexp.MustCompile(`(?m)^ {4}(\w+)`)
	addedPattern  = regexp.MustCompile(`(?m)^ALTER TABLE (\w+) ADD COLUMN (\w+)`)
	breaksPattern = regexp.MustCompile(`\A(?:--.*\n)*?-- breaks: yes\n`) // in the comment at the beginning of a file
)

// columns returns the columns that the migrations create, by table. It relies on the layout of the files, in which each
// column begins a line with four spaces.
func (m *Migration) columns() map[string][]string {
	columns := map[string][]string{}
	for _, file := range m.files {
		text := m.named(file.text)
		for _, table := range tablePattern.FindAllStringSubmatch(text, -1) {
			for _, column := range columnPattern.FindAllStringSubmatch(table[2], -1) {
				columns[table[1]] = append(columns[table[1]], column[1])
			}
		}
		for _, added := range addedPattern.FindAllStringSubmatch(text, -1) {
			columns[added[1]] = append(columns[added[1]], added[2])
		}
	}
	return columns
}
