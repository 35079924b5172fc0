// Package bunstore implements the storage ports of habeas on bun, for PostgreSQL (pgdialect) and SQLite
// (sqlitedialect). It imports no database driver: it works on the *bun.DB that the application has.
//
// Every statement goes through the handle that bun wraps as constant text with parameters: the database can keep its
// plan, query hooks see it, and no value of a subject stands in a query log.
package bunstore

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

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
	// would see the rows of another tenant. The default is false.
	ShareStatements bool

	// TrustRowFilters says that row-level security policies and filtering views show this role every row of a subject.
	// Without it, an erasure, an export or a rectification is domain.ErrConfiguration if row-level security is active for
	// this role on a table of the data map, or if such a table is a view that leaves rows out: what the database hides
	// would neither be erased nor exported. The default is false.
	TrustRowFilters bool

	// Logger gets warnings about the application's tables, without any personal data: tables into which triggers copy old
	// values, each of them once. The default is slog.Default().
	Logger *slog.Logger
}

// Store opens sessions on a database. It is safe for concurrent use. Where all connections of the pool are busy (as many
// as SetMaxOpenConns allowed when the store was made), sessions get theirs in the order in which they asked.
type Store struct {
	db      *bun.DB
	dataMap domain.DataMap
	dialect sqlDialect
	tables  tableNames
	export  []export

	latest    latestConsents
	questions *combiner[*question] // of sessions that share statements
	appending *combiner[*appends]
	sharing   bool

	locking   locking
	touched   []domain.Table
	lastSteps atomic.Pointer[stepGroup]
	catalog   atomic.Pointer[catalog] // as it was read last

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
	s := &Store{
		db: db, dataMap: dataMap, dialect: d, tables: namesOf(opts.Schema), wake: opts.Enqueued,
		trustRowFilters: opts.TrustRowFilters, logger: opts.Logger,
	}
	if s.logger == nil {
		s.logger = slog.Default()
	}
	s.gate, s.writers = newGate(db.Stats().MaxOpenConnections), newGate(d.writers())
	s.touched = touched(dataMap)
	s.locking = newLocking(s)
	s.export = newExports(s)
	s.latest = newLatestConsents(s.tables.consents)
	s.questions, s.appending = newQuestions(s), newAppending(s)
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
