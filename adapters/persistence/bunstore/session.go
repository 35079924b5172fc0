package bunstore

import (
	"context"
	"database/sql"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/verify"
	"github.com/habeas-data/habeas/domain"
)

// session implements ports.Session. The first statement that needs a transaction begins the transaction. The session
// buffers appended rows. It inserts them when their number reaches maxBufferedRows, before it reads rows of the same
// kind, and when the session ends.
type session struct {
	store      *Store
	preserve   func(ctx context.Context, evidence [][]any) error // writes evidence after a rollback
	tx         *conn.Tx                                          // nil until the transaction begins
	admission  admission                                         // of the data map, see admit
	refused    bool                                              // the tables belong to another data map
	readOnly   bool                                              // tx changes nothing that lasts
	joined     bool                                              // tx belongs to the application
	subject    domain.SubjectID                                  // the subject whose key values are in keys
	keys       []any                                             // the cached result of the method key
	erasing    []erasedSubject                                   // locked for an erasure
	prefetched *sqltext.Prefetched                               // values that the last statement of Apply has prefetched
	catalog    *catalog.Catalog                                  // of the application's tables; nil until it is needed
	buffered   sqltext.UnsentRows                                // the buffer of appended rows
	evidence   [][]any                                           // events to write again after a rollback
	onRollback [][]any                                           // events to write only after a rollback
	failed     error                                             // the first error of a statement; fails the session
	enqueued   bool                                              // the commit adds work to the outbox
	rectified  []*verify.Step                                    // earlier rectifications, verified after each later one
	host       hostTransaction                                   // only if joined
	fired      bool                                              // deferred triggers are set to IMMEDIATE
	late       []catalog.ConstraintTrigger                       // triggers that deferAgain must set back to DEFERRED
	atEnd      []func(context.Context, error)                    // called after the commit or the rollback
	watched    *watch                                            // what Apply counts besides its steps, or nil
	ended      bool
}

// AfterEnd implements ports.Session.
func (s *session) AfterEnd(fn func(context.Context, error)) { s.atEnd = append(s.atEnd, fn) }

// usable returns an error if the session has ended or has failed. Every method of the session checks it before it acts.
func (s *session) usable() error {
	if s.ended {
		return &domain.Error{Code: domain.ErrSession, Op: "session", Message: "the session has ended"}
	}
	return s.failed
}

// key returns the values of the subject's key columns. It caches the values of the last subject. The caller must not
// change the returned slice.
func (s *session) key(id domain.SubjectID) ([]any, error) {
	if s.keys != nil && s.subject == id {
		return s.keys, nil
	}
	keys, err := s.store.text.DataMap.Key(id)
	if err == nil {
		s.subject, s.keys = id, keys
	}
	return keys, err
}

// fail records err as the error of the session, unless an earlier error is recorded. After an error, the session can
// only roll back. fail returns the recorded error, with a code, or nil if there is none.
func (s *session) fail(ctx context.Context, op string, err error) error {
	if err != nil && s.failed == nil {
		s.failed = conn.Wrap(ctx, op, err)
	}
	return s.failed
}

// begin begins the transaction if the session has none.
func (s *session) begin(ctx context.Context) error {
	if s.tx == nil {
		tx, err := s.store.pool.Begin(ctx)
		s.tx = tx
		if err := s.fail(ctx, "begin", err); err != nil {
			return err
		}
	}
	return s.admit(ctx)
}

// overwriteDeleted makes SQLite overwrite the old values of all rows that the transaction deletes or updates from now
// on (PRAGMA secure_delete). On PostgreSQL, it does nothing.
func (s *session) overwriteDeleted(ctx context.Context) error {
	if !s.store.pool.LeavesDeleted() {
		return nil
	}
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	return s.fail(ctx, "secure delete", s.tx.OverwriteDeleted(ctx))
}

// write runs a writing statement in the transaction and returns the number of changed rows.
func (s *session) write(ctx context.Context, op, text string, args ...any) (int64, error) {
	if err := s.usable(); err != nil {
		return 0, err
	}
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	rows, err := s.tx.Exec(ctx, text, args...)
	return rows, s.fail(ctx, op, err)
}

// read runs a statement and calls scanRow for every row. It uses the transaction if one is open, and the pool
// otherwise.
func (s *session) read(ctx context.Context, op string, scanRow func(*sql.Rows) error, text string, args ...any) error {
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.admit(ctx); err != nil {
		return err
	}
	if s.tx != nil {
		return s.fail(ctx, op, s.tx.Query(ctx, scanRow, text, args...))
	}
	return s.fail(ctx, op, s.store.pool.Query(ctx, scanRow, text, args...))
}

// queryFor returns a conn.Query that calls read with op as the name of the operation.
func (s *session) queryFor(op string) conn.Query {
	return func(ctx context.Context, scanRow func(*sql.Rows) error, text string, args ...any) error {
		return s.read(ctx, op, scanRow, text, args...)
	}
}

// loadCatalog sets s.catalog to the catalog with the fingerprint. It takes the catalog from the store's cache, or reads
// it from the database.
func (s *session) loadCatalog(ctx context.Context, fingerprint string) (err error) {
	if s.catalog = s.store.catalogs.Known(fingerprint); s.catalog != nil {
		return nil
	}
	s.catalog, err = s.store.catalogs.Read(ctx, s.queryFor("inspect"), fingerprint)
	return err
}

// explain returns an error that names the table and the reason if the database refused a statement. The reason is a
// missing privilege, or an object that does not allow the statement, such as a view. For other errors, explain returns
// err. Before explain looks up the privileges, it rolls the transaction back. In a transaction of the application, it
// rolls back only to the savepoint of the session.
func (s *session) explain(ctx context.Context, op string, err error, needs ...catalog.Need) error {
	state := conn.SQLState(err)
	if state != "42501" && state != "42809" || s.failed == nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	query := s.store.pool.Query
	if s.joined {
		if s.tx.Undo(ctx) != nil {
			return err
		}
		query = s.tx.Query
	} else if s.tx != nil {
		_ = s.tx.Rollback(ctx) // the session has failed and would roll back anyway
		s.tx = nil
	}
	why := s.store.catalogs.FindLacking(ctx, query, needs)
	switch {
	case len(why) > 0:
	case state == "42809":
		return err
	default:
		why = append(why, catalog.Unexplained(needs))
	}
	s.failed = &domain.Error{Code: domain.ErrConfiguration, Op: op, Message: strings.Join(why, "; "), Err: err}
	return s.failed
}

// writeRows runs a writing statement in the transaction and calls scanRow for every row that the statement returns.
func (s *session) writeRows(
	ctx context.Context, op string, scanRow func(*sql.Rows) error, text string, args ...any,
) error {
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	return s.read(ctx, op, scanRow, text, args...)
}
