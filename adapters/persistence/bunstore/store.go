// Package bunstore implements the storage ports of habeas on bun, for PostgreSQL (pgdialect) and SQLite
// (sqlitedialect). It imports no database driver: it works on the *bun.DB that the application has.
//
// Every statement goes through the handle that bun wraps as constant text with parameters: the database can keep its
// plan, query hooks see it, and no value of a subject stands in a query log.
package bunstore

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/batch"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Options change what New does by default. The zero value is ready for use.
type Options struct {
	// Schema is the PostgreSQL schema that holds the tables of habeas. The default is whatever the search path
	// of the connection says. SQLite has none.
	Schema string

	// Enqueued is called after a commit that gave the outbox new work, so that a worker in this process can be woken at
	// once. It must return at once. The default is nothing. A session that joined a transaction of the application
	// does not know when that commits and does not call it.
	Enqueued func()

	// ShareStatements lets sessions that come at the same time share statements on PostgreSQL: those that only ask whether
	// consent is in force, and those that only append records. It serves more requests with less work, and changes nothing
	// for them; a query hook sees a shared statement once, under a context that has the values of one of the sessions'.
	// It must not be set where a connection depends on the context that it is taken with: where a hook of the driver or
	// the pool sets a search path, a role or a variable for row-level security by a value of the context, say, a session
	// would see the rows of another tenant. A transaction of the application that has appended to the ledger of a subject
	// keeps other appends for that subject waiting until it ends, and those that share their statement. The default is
	// false.
	ShareStatements bool

	// TrustRowFilters says that row-level security policies and filtering views show this role every row of a subject.
	// Without it, an erasure, an export or a rectification is domain.ErrConfiguration if row-level security is active for
	// this role on a table of the data map, or if such a table is a view that leaves rows out: what the database hides
	// would neither be erased nor exported. The default is false.
	TrustRowFilters bool

	// SynchronousCommit is the setting synchronous_commit of PostgreSQL for sessions that erase: CommitOn,
	// CommitRemoteWrite or CommitRemoteApply. An erasure is then acknowledged once the synchronous standbys have it, also
	// where the application's other transactions do not wait for them. In a transaction of the application that an
	// erasure joins, it holds until that transaction ends. It has no effect on a server without synchronous standbys. The
	// default is the setting of the connection.
	SynchronousCommit string

	// ReadDB is a handle on a physical replica of the PostgreSQL database, from which exports are then read; everything
	// else, the events of exports included, concerns the primary. A replica that has not seen all erasures of the
	// subject that were committed when the export began, or that cannot be reached, is left out: the primary is read. In
	// everything else an export is as old as the replica is. Exports that join a transaction of the application are read
	// there. The default is nil: exports are read from the primary.
	ReadDB *bun.DB

	// Logger gets warnings about the application's tables, without any personal data: tables into which triggers copy old
	// values, each of them once. The default is slog.Default().
	Logger *slog.Logger
}

// Store opens sessions on a database. It is safe for concurrent use. If all connections of the pool are busy (as many
// as SetMaxOpenConns allowed when the store was made), sessions get a connection in the order in which they requested
// it; on SQLite, the same holds for sessions that write. A session waits until its context ends. If the context has no
// deadline, the session waits for at most 30 s. The error is then domain.ErrUnavailable.
type Store struct {
	db      *bun.DB
	dataMap domain.DataMap
	dialect sqlDialect
	tables  tableNames
	frames  [kinds]frame
	inserts sync.Map // the texts of statements by [kinds]int, see insertText
	export  []export

	latest    latestConsents
	lookups   *batch.Batcher[*lookup] // of sessions that share statements
	appending *batch.Batcher[*appends]
	sharing   bool

	locking   locking
	touched   []domain.Table
	lastSteps atomic.Pointer[stepGroup]
	catalog   atomic.Pointer[catalog] // as it was read last

	synchronousCommit string
	readDB            *bun.DB // or nil

	trustRowFilters bool
	logger          *slog.Logger
	warned          sync.Map // what a warning was about

	gate    gate   // of connections
	writers gate   // of transactions that write, where there is one at a time
	wake    func() // Options.Enqueued
	others  notifier
	plans   replans
}

var _ ports.SessionFactory = (*Store)(nil)

// New returns a store for the database and the application's tables that the data map describes. It opens no
// connection. The tables of habeas must be there, see Migrate. The error is domain.ErrConfiguration.
func New(db *bun.DB, dataMap domain.DataMap, opts Options) (*Store, error) {
	if db == nil {
		return nil, configurationError("the database is nil")
	}
	if dataMap.IsZero() {
		return nil, configurationError("the data map is empty")
	}
	d, err := dialectOf(db, opts.Schema)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(checkDurability(d, opts.SynchronousCommit), checkReplica(d, opts.ReadDB)); err != nil {
		return nil, err
	}
	s := &Store{
		db: db, dataMap: dataMap, dialect: d, tables: namesOf(opts.Schema), wake: opts.Enqueued,
		synchronousCommit: opts.SynchronousCommit, readDB: opts.ReadDB,
		trustRowFilters: opts.TrustRowFilters, logger: opts.Logger,
	}
	if s.logger == nil {
		s.logger = slog.Default()
	}
	s.gate, s.writers = newGate(db.Stats().MaxOpenConnections), newGate(d.writers())
	s.frames = newFrames(s.tables, d)
	s.touched = touched(dataMap)
	s.locking = newLocking(s)
	s.export = newExports(s)
	s.latest = newLatestConsents(s.tables.consents)
	s.lookups, s.appending = newLookups(s), newAppending(s)
	s.sharing = opts.ShareStatements && d.joins()
	return s, nil
}

// shares reports whether a session may share statements now. Where all connections are busy, those who share would have
// one place in the queue between them, and others would get ahead.
func (s *Store) shares() bool { return s.sharing && !s.gate.crowded() }

// tableNames are the quoted names of the tables that habeas owns.
type tableNames struct {
	consents, restrictions, events, outbox, erasures string
}

func namesOf(schema string) tableNames {
	prefix := ""
	if schema != "" {
		prefix = quote(schema) + "."
	}
	return tableNames{
		consents:     prefix + "habeas_consent_records",
		restrictions: prefix + "habeas_restriction_records",
		events:       prefix + "habeas_audit_events",
		outbox:       prefix + "habeas_outbox",
		erasures:     prefix + "habeas_subject_erasures",
	}
}

func dialectOf(db *bun.DB, schema string) (sqlDialect, error) {
	switch db.Dialect().Name() { //nolint:exhaustive // the others are refused
	case dialect.PG:
		return postgres{}, nil
	case dialect.SQLite:
		if schema != "" {
			return nil, configurationError("SQLite has no schemas")
		}
		return sqlite{}, nil
	default:
		return nil, configurationError("the dialect must be pgdialect or sqlitedialect")
	}
}

func configurationError(message string) error {
	return &domain.Error{Code: domain.ErrConfiguration, Op: "bunstore", Message: message}
}
