// Package bunstore implements the storage ports of habeas on bun, for PostgreSQL (pgdialect) and SQLite
// (sqlitedialect). It imports no database driver: it works on the *bun.DB that the application has.
//
// Every statement goes through the handle that bun wraps as constant text with parameters: the database can keep its
// plan, query hooks see it, and no value of a subject stands in a query log.
package bunstore

import (
	"log/slog"
	"sync/atomic"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/batch"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Store opens sessions on a database. It is safe for concurrent use. If all connections of the pool are busy (as many
// as SetMaxOpenConns allowed when the store was made), sessions get a connection in the order in which they requested
// it; on SQLite, the same holds for sessions that write. A session waits until its context ends. If the context has no
// deadline, the session waits for at most 30 s. The error is then domain.ErrUnavailable.
type Store struct {
	db      *bun.DB
	pool    *conn.Pool
	dialect sqltext.Dialect
	text    *sqltext.Writer
	inserts *sqltext.Inserts
	ledgers sqltext.Ledgers
	outbox  *sqltext.Outbox
	exports []sqltext.Export

	lookups   *batch.Batcher[*lookup] // of sessions that share statements
	appending *batch.Batcher[*sqltext.Appends]
	sharing   bool

	locks     *sqltext.Locks
	marks     sqltext.Marks
	sweeps    sqltext.Sweeps
	lastSteps atomic.Pointer[keptGroups]
	catalogs  *catalog.Cache

	synchronousCommit string
	readDB            *bun.DB // or nil

	wake     func() // Options.Enqueued
	others   conn.Notifier
	plans    conn.Replans
	observer ports.Observer // or nil

	migration migration // for Probe
}

var _ ports.Prober = (*Store)(nil)

// New returns a store for the database and the application's tables that the data map describes. It opens no
// connection. The tables of habeas must be there, see Migrate. The error is domain.ErrConfiguration.
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
	s := &Store{
		db: db, pool: conn.NewPool(db), dialect: d, text: sqltext.NewWriter(d, dataMap, opts.Schema), wake: opts.Enqueued,
		synchronousCommit: opts.SynchronousCommit, readDB: opts.ReadDB, observer: opts.Observer,
	}
	files, err := Migrations(db)
	if err != nil {
		return nil, err
	}
	s.migration = migration{d, s.pool, opts.Schema, files}
	logger := opts.Logger
	if logger == nil {
		logger = slog.Default()
	}
	s.catalogs = catalog.NewCache(s.text, opts.TrustRowFilters, logger)
	s.inserts, s.ledgers = sqltext.NewInserts(s.text), sqltext.NewLedgers(s.text.Tables)
	s.outbox = sqltext.NewOutbox(s.text)
	s.locks, s.marks, s.sweeps = sqltext.NewLocks(s.text), sqltext.NewMarks(s.text), sqltext.NewSweeps(s.text)
	s.exports = sqltext.NewExports(s.text, s.locks)
	s.lookups, s.appending = newLookups(s), newAppending(s)
	s.sharing = opts.ShareStatements && d.Joins()
	return s, nil
}

// shares reports whether a session may share statements now. Where all connections are busy, those who share would have
// one place in the queue between them, and others would get ahead.
func (s *Store) shares() bool { return s.sharing && !s.pool.Crowded() }

func dialectOf(db *bun.DB, schema string) (sqltext.Dialect, error) {
	switch db.Dialect().Name() { //nolint:exhaustive // the others are refused
	case dialect.PG:
		return sqltext.Postgres, nil
	case dialect.SQLite:
		if schema != "" {
			return nil, domain.Misconfigured("bunstore", "SQLite has no schemas")
		}
		return sqltext.SQLite, nil
	default:
		return nil, domain.Misconfigured("bunstore", "the dialect must be pgdialect or sqlitedialect")
	}
}
