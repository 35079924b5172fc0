// Package bunstore implements the storage ports of habeas on bun, for PostgreSQL (pgdialect) and SQLite
// (sqlitedialect). It imports no database driver. It works on the *bun.DB of the application.
//
// Every statement goes through the *sql.DB that bun wraps, and query hooks see it. Values are parameters and never part
// of the text of a statement. The database can therefore reuse query plans, and query logs contain no values of
// subjects.
package bunstore

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/batch"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/scan"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
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
	dialect sqltext.Dialect
	text    *sqltext.Writer
	inserts *sqltext.Inserts
	ledgers sqltext.Ledgers
	outbox  *sqltext.Outbox
	exports []sqltext.Export

	lookups   *batch.Batcher[*lookup]             // consent reads of concurrent sessions
	appending *batch.Batcher[*sqltext.UnsentRows] // appends of concurrent sessions
	sharing   bool                                // Options.ShareStatements, if the database supports it

	locks     *sqltext.Locks
	marks     sqltext.Marks
	sweeps    sqltext.Sweeps
	lives     sqltext.Lives
	lastSteps atomic.Pointer[cachedGroups]
	catalogs  *catalog.Cache

	trustsRowFilters  bool // Options.TrustRowFilters
	synchronousCommit string
	readDB            *bun.DB // Options.ReadDB; may be nil

	wake     func()         // Options.Enqueued; may be nil
	others   conn.Notifier  // notifies workers in other processes
	plans    conn.Replans   // makes the database plan slow outbox statements again
	scans    scan.Scans     // decides which due instants a claim reads
	observer ports.Observer // may be nil

	installation sqltext.Installation
	admitted     atomic.Bool // a committed record of the installation has this data map

	migration migration // for Probe

	foreignPatience time.Duration // the time in which the server of a foreign table must answer Find
}

const foreignPatience = 10 * time.Second

var _ ports.SessionFactory = (*Store)(nil)

// New returns a store for the database and for the application's tables that the data map describes. It opens no
// connection. The tables of habeas must exist before the first session. Migrate creates them. New returns
// domain.ErrConfiguration if an argument or an option is invalid. It returns domain.ErrManifest if the database does
// not distinguish the names of two tables or of two columns, because it cuts long names or ignores case.
func New(db *bun.DB, dataMap datamap.DataMap, opts Options) (*Store, error) {
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
		text:              sqltext.NewWriter(d, dataMap, sqltext.TablesIn(opts.Schema, opts.Name)),
		trustsRowFilters:  opts.TrustRowFilters,
		synchronousCommit: opts.SynchronousCommit, readDB: opts.ReadDB, observer: opts.Observer,
		foreignPatience: foreignPatience,
	}
	if s.migration, err = newMigration(db, opts); err != nil {
		return nil, err
	}
	s.migration.pool = s.pool
	s.installation = sqltext.NewInstallation(s.text)
	logger := opts.Logger
	if logger == nil {
		logger = slog.Default()
	}
	s.catalogs = catalog.NewCache(s.text, opts.TrustRowFilters, logger)
	s.inserts, s.ledgers = sqltext.NewInserts(s.text), sqltext.NewLedgers(s.text.Tables)
	s.outbox = sqltext.NewOutbox(s.text)
	s.locks, s.marks, s.sweeps = sqltext.NewLocks(s.text), sqltext.NewMarks(s.text), sqltext.NewSweeps(s.text)
	s.lives = sqltext.NewLives(s.text, s.locks)
	s.exports = sqltext.NewExports(s.text, s.locks)
	s.lookups, s.appending = newLookups(s), newAppending(s)
	s.sharing = opts.ShareStatements && d.CombinesChanges()
	return s, nil
}

// canShare reports whether a session may currently combine its statement with the statements of other sessions. It
// returns false while all connections are busy, because sessions that share a statement would then wait longer than
// other sessions. The combined statement has only one place in the queue for connections, and further sessions that
// share statements wait until the combined statement ends.
func (s *Store) canShare() bool { return s.sharing && !s.pool.Crowded() }

func dialectOf(db *bun.DB, schema string) (sqltext.Dialect, error) {
	switch db.Dialect().Name() { //nolint:exhaustive // default refuses all other dialects
	case dialect.PG:
		return sqltext.Postgres, nil
	case dialect.SQLite:
		if schema != "" {
			return nil, domain.Misconfigured("bunstore", "Schema must be empty: SQLite has no schemas")
		}
		return sqltext.SQLite, nil
	default:
		return nil, domain.Misconfigured("bunstore", "the dialect must be pgdialect or sqlitedialect")
	}
}
