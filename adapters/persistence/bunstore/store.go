// Package bunstore implements the storage ports of habeas on bun, for PostgreSQL (pgdialect) and SQLite
// (sqlitedialect). It imports no database driver. It works on the *bun.DB of the application.
//
// Every statement goes through the *sql.DB that bun wraps, and query hooks see it. Values are parameters and never part
// of the text of a statement. The database can therefore reuse query plans, and query logs contain no values of
// subjects.
package bunstore

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/duties"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/find"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/installation"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/ledger"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/migrate"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/outbox"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/register"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/subject"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/search"
	"github.com/habeas-data/habeas/ports"
)

// Store opens sessions on a database. It is safe for concurrent use.
//
// New reads the maximum number of open connections that the application has set with SetMaxOpenConns. While sessions
// use that many connections, further sessions wait for a connection in FIFO order. On SQLite, sessions that write also
// wait for the write lock in FIFO order. Before that, a session that writes data of a person waits until no other
// session of the store does, so that many requests of one person use one connection. A session waits at most until its
// context ends. If the context has no deadline, the session fails with domain.ErrUnavailable after 30 s.
type Store struct {
	db       *bun.DB
	pool     *conn.Pool
	dialect  syntax.Dialect
	schema   *Schema
	dataMap  datamap.DataMap
	observer ports.Observer // may be nil
	wake     func()         // Options.Enqueued; may be nil
	others   conn.Notifier  // notifies workers in other processes

	installation     *installation.Store
	unsent           *unsent.Store
	ledgers          *ledger.Store
	outbox           *outbox.Store
	register         *register.Store
	duties           *duties.Store
	subjects         *subject.Store
	schemas          *live.Cache
	finding          find.Settings
	trustsRowFilters bool               // Options.TrustRowFilters
	migration        *migrate.Migration // for Probe
}

// foreignPatience is the time in which the server of a foreign table must answer Find.
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
	tables, logger := syntax.TablesIn(opts.Schema, opts.Name), cmp.Or(opts.Logger, slog.Default())
	s := &Store{
		db: db, pool: conn.NewPool(db), dialect: d, dataMap: dataMap, observer: opts.Observer, wake: opts.Enqueued,
		trustsRowFilters: opts.TrustRowFilters,
		register:         register.New(d, tables), duties: duties.New(d, tables),
		outbox: outbox.New(d, tables), schemas: live.NewCache(d, dataMap, tables, opts.TrustRowFilters, logger),
	}
	needs := installation.Environment{Dialect: d, TrustEncoding: opts.TrustEncoding}
	s.schema = &Schema{s.pool, d, needs}
	if s.migration, err = newMigration(db, s.pool, opts); err != nil {
		return nil, err
	}
	s.installation = installation.New(needs, dataMap, tables)
	s.unsent, s.ledgers = unsent.New(d, tables), ledger.New(s.pool, d, tables)
	s.subjects = subject.New(rows.NewWriter(d, dataMap, tables), s.schemas, subject.Settings{
		DB: db, ReadDB: opts.ReadDB, SynchronousCommit: opts.SynchronousCommit, Register: opts.Register,
	})
	s.finding = find.Settings{Pool: s.pool, Dialect: d, Tables: tables, Patience: foreignPatience}
	return s, nil
}

// Probe implements ports.SessionFactory. It compares the tables of habeas, their columns, the function that habeas
// calls, the privileges of the role and the applied migrations with what this version needs, and the data map with the
// installation, and asks whether the encoding of the database has the characters of the data map's texts. It never
// writes.
func (s *Store) Probe(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return conn.Wrap(ctx, "probe", err)
	}
	limit, err := s.migration.Probe(ctx)
	if err != nil {
		return conn.Wrap(ctx, "probe", err)
	}
	installation, err := s.migration.Installation(ctx)
	if err == nil {
		err = installation.Check(s.dataMap)
	}
	if err == nil {
		err = s.checkConstants(ctx)
	}
	if err == nil {
		return limit
	}
	return conn.Wrap(ctx, "probe", err)
}

// checkNames returns domain.ErrManifest if two tables of the data map, or two columns of a table, have the same name
// for the database. PostgreSQL cuts names after 63 bytes, and SQLite ignores case. A statement on one of them would
// then read and write the other one.
func checkNames(d syntax.Dialect, m datamap.DataMap) error {
	var problems []domain.Problem
	report := func(table, column, other string) {
		problems = append(problems, domain.Problem{
			Table: table, Column: column, Message: "has the same name as " + other + " for the database, which cuts long" +
				" names or ignores case", Remedy: "give the two different names in the database and in the data map",
		})
	}
	tables := m.Declared()
	for i, table := range tables {
		for _, other := range tables[:i] {
			if isSameTable(d, table.Name, other.Name) {
				report(table.Name, "", other.Name)
			}
		}
		for j, column := range table.Columns {
			for _, other := range table.Columns[:j] {
				if d.SameName(column.Name, other.Name) {
					report(table.Name, column.Name, other.Name)
				}
			}
		}
	}
	return domain.ManifestError("bunstore", problems)
}

func isSameTable(d syntax.Dialect, a, b string) bool {
	schemaA, nameA, qualifiedA := strings.Cut(a, ".")
	schemaB, nameB, qualifiedB := strings.Cut(b, ".")
	if !qualifiedA || !qualifiedB {
		return qualifiedA == qualifiedB && d.SameName(a, b)
	}
	return d.SameName(schemaA, schemaB) && d.SameName(nameA, nameB)
}

var (
	_ ports.CatalogReader = (*Store)(nil)
	_ ports.Finder        = (*Store)(nil)
)

// Find implements ports.Finder. It runs outside a transaction. One statement searches up to 8 columns of a table for up
// to 16 values. On PostgreSQL, the server's statement_timeout limits each of these statements.
//
// On SQLite, Find searches texts and binary values in columns of any declared type. After the first NUL of a cell, it
// finds the value itself and no other form of it.
//
// Before Find searches a foreign table, it reads one row. If the server of the table does not answer within 10 seconds,
// the table is a gap with the reason search.GapFailed, as are tables with such a partition.
func (s *Store) Find(
	ctx context.Context, values []string, progress func(search.Progress),
) (search.Result, error) {
	if err := search.CheckSearchValues(values); err != nil {
		return search.Result{}, err
	}
	var foreign *datamap.ForeignMapError
	if err := s.newReader().db.Ready(ctx); errors.As(err, &foreign) { // the tables of habeas have other people
		return search.Result{}, err
	}
	catalog, err := s.schema.Catalog(ctx)
	if err != nil {
		return search.Result{}, err
	}
	found, err := find.Values(ctx, s.finding, catalog, values, progress)
	return found, conn.Wrap(ctx, "find", err)
}
