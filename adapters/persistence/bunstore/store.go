// Package bunstore implements the storage ports of habeas on bun, for PostgreSQL (pgdialect) and SQLite
// (sqlitedialect). It imports no database driver. It works on the *bun.DB of the application.
//
// Every statement goes through the *sql.DB that bun wraps, and query hooks see it. Values are parameters and never part
// of the text of a statement. The database can therefore reuse query plans, and query logs contain no values of
// subjects.
package bunstore

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/cascade"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/find"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/installation"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/ledger"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/migrate"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/outbox"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Store opens sessions on a database. It is safe for concurrent use.
//
// New reads the maximum number of open connections that the application has set with SetMaxOpenConns. While sessions
// use that many connections, further sessions wait for a connection in FIFO order. On SQLite, sessions that write also
// wait for the write lock in FIFO order. A session waits at most until its context ends. If the context has no
// deadline, the session fails with domain.ErrUnavailable after 30 s.
type Store struct {
	db      *bun.DB
	pool    *conn.Pool
	dialect syntax.Dialect
	d       syntax.Dialect
	text    *rows.Writer
	ledgers *ledger.Store
	outbox  *outbox.Store
	exports []sqltext.Export

	locks     *sqltext.Locks
	marks     sqltext.Marks
	sweeps    sqltext.Sweeps
	lives     sqltext.Lives
	lastSteps atomic.Pointer[cachedGroups]
	catalogs  *live.Cache
	cascades  *cascade.Store

	synchronousCommit string
	readDB            *bun.DB // Options.ReadDB; may be nil

	wake     func()         // Options.Enqueued; may be nil
	others   conn.Notifier  // notifies workers in other processes
	observer ports.Observer // may be nil

	installation *installation.Store

	migration *migrate.Migration // for Probe

	finding find.Settings
}

// foreignPatience is the time in which the server of a foreign table must answer Find.
const foreignPatience = 10 * time.Second

var _ ports.SessionFactory = (*Store)(nil)

// New returns a store for the database and for the application's tables that the data map describes. It opens no
// connection. The tables of habeas must exist before the first session. Migrate creates them. New returns
// domain.ErrConfiguration if an argument or an option is invalid. It returns domain.ErrManifest if the database does
// not distinguish the names of two tables or of two columns, because it cuts long names or ignores case.
func New(db *bun.DB, dataMap domain.DataMap, opts Options) (*Store, error) {
	if db == nil {
		return nil, domain.Misconfigured("bunstore", "the database is nil")
	}
	if dataMap.IsZero() {
		return nil, domain.Misconfigured("bunstore", "the data map is empty")
	}
	d, err := dialectOf(db, opts.Schema)
	if err != nil {
		return nil, err
	}
	if err := opts.check(d); err != nil {
		return nil, err
	}
	if err := checkNames(d, dataMap); err != nil {
		return nil, err
	}
	s := &Store{
		db: db, pool: conn.NewPool(db), dialect: d, wake: opts.Enqueued,
		text:              rows.NewWriter(d, dataMap, syntax.TablesIn(opts.Schema, opts.Name)),
		synchronousCommit: opts.SynchronousCommit, readDB: opts.ReadDB, observer: opts.Observer,
	}
	if s.migration, err = newMigration(db, opts); err != nil {
		return nil, err
	}
	s.migration.Pool = s.pool
	s.installation = installation.New(s.pool, d, dataMap, s.text.Tables)
	s.finding = find.Settings{Pool: s.pool, Dialect: d, Tables: s.text.Tables, Patience: foreignPatience}
	logger := opts.Logger
	if logger == nil {
		logger = slog.Default()
	}
	s.catalogs = live.NewCache(d, dataMap, s.text.Tables, opts.TrustRowFilters, logger)
	s.cascades = cascade.New(s.text)
	s.ledgers = ledger.New(s.pool, d, s.text.Tables, opts.ShareStatements, func(ctx context.Context,
		fn func(context.Context, *ledger.Session) error) error {
		n := s.newSession()
		return n.run(ctx, func(ctx context.Context, _ ports.Session) error { return fn(ctx, &n.ledger) })
	})
	s.outbox = outbox.New(d, s.text.Tables)
	s.locks, s.marks, s.sweeps = sqltext.NewLocks(s.text), sqltext.NewMarks(s.text), sqltext.NewSweeps(s.text)
	s.lives = sqltext.NewLives(s.text, s.locks)
	s.exports = sqltext.NewExports(s.text, s.locks)
	return s, nil
}

func dialectOf(db *bun.DB, schema string) (syntax.Dialect, error) {
	switch db.Dialect().Name() { //nolint:exhaustive // default refuses all other dialects
	case dialect.PG:
		return syntax.Postgres, nil
	case dialect.SQLite:
		if schema != "" {
			return nil, domain.Misconfigured("bunstore", "Schema must be empty: SQLite has no schemas")
		}
		return syntax.SQLite, nil
	default:
		return nil, domain.Misconfigured("bunstore", "the dialect must be pgdialect or sqlitedialect")
	}
}

// Probe implements ports.SessionFactory. It compares the tables of habeas, their columns, the function that habeas
// calls, the privileges of the role and the applied migrations with what this version needs, and the data map with the
// installation. It never writes.
func (s *Store) Probe(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return conn.Wrap(ctx, "probe", err)
	}
	readOnly, err := s.migration.Probe(ctx)
	if err != nil {
		return conn.Wrap(ctx, "probe", err)
	}
	installation, err := s.installation.ReadData(ctx)
	if err == nil {
		err = installation.Check(s.text.DataMap)
	}
	if err == nil && readOnly {
		return domain.ErrReadOnlyDatabase
	}
	return conn.Wrap(ctx, "probe", err)
}
