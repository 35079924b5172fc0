package bunstore

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/verify"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// session implements ports.Session. Its transaction begins with the first statement that needs one; what is appended
// is held until something of the kind is read, until there is much of it, or until the session ends.
type session struct {
	store      *Store
	preserve   func(ctx context.Context, evidence [][]any) error // writes evidence after a rollback
	tx         *conn.Tx                                          // nil until begun
	joined     bool                                              // tx is the host's
	subject    domain.SubjectID                                  // the subject of keys
	keys       []any                                             // see key
	writes     int                                               // statements that changed something in tx
	locked     *lockedSubject                                    // the subject that was locked last
	ahead      *sqltext.Ahead                                    // read for the rest of an erasure
	catalog    *catalog.Catalog                                  // of the application's tables; nil until it is needed
	held       sqltext.Appends
	evidence   [][]any                     // events that must outlive a rollback
	onRollback [][]any                     // events that only a rollback leaves, behind the evidence
	failed     error                       // the first error of a statement; it fails the session
	enqueued   bool                        // the outbox has new work once the session has committed
	rectified  []*verify.Step              // rectifications that must still be there after later ones
	fired      bool                        // deferred triggers fire at once
	late       []catalog.ConstraintTrigger // of the application, that do so only for now
	after      []func(context.Context)     // called after the commit
	atEnd      []func(context.Context, error)
	ended      bool
}

var (
	_ ports.CommitNotifier = (*session)(nil)
	_ ports.EndNotifier    = (*session)(nil)
)

// AfterCommit implements ports.CommitNotifier.
func (s *session) AfterCommit(fn func(context.Context)) { s.after = append(s.after, fn) }

// AfterEnd implements ports.EndNotifier.
func (s *session) AfterEnd(fn func(context.Context, error)) { s.atEnd = append(s.atEnd, fn) }

// usable is checked before anything is done in the session.
func (s *session) usable() error {
	if s.ended {
		return &domain.Error{Code: domain.ErrSession, Op: "session", Message: "the session has ended"}
	}
	return s.failed
}

// key returns the values of the subject's key columns, which it works out once. The caller must not change them.
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

// fail notes the error of a statement, which ends what the session can do, and returns it with a code.
func (s *session) fail(ctx context.Context, op string, err error) error {
	if err != nil && s.failed == nil {
		s.failed = conn.Wrap(ctx, op, err)
	}
	return s.failed
}

// begin makes sure that a transaction is open.
func (s *session) begin(ctx context.Context) error {
	if s.tx != nil {
		return nil
	}
	tx, err := s.store.pool.Begin(ctx)
	s.tx = tx
	return s.fail(ctx, "begin", err)
}

// forget makes SQLite overwrite what the session deletes or changes from now on.
func (s *session) forget(ctx context.Context) error {
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

// write runs a statement that changes something, in the transaction.
func (s *session) write(ctx context.Context, op, text string, args ...any) (int64, error) {
	if err := s.usable(); err != nil {
		return 0, err
	}
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	s.writes++
	rows, err := s.tx.Exec(ctx, text, args...)
	return rows, s.fail(ctx, op, err)
}

// read runs a statement that changes nothing: in the transaction if one is open, else without one.
func (s *session) read(ctx context.Context, op string, each func(*sql.Rows) error, text string, args ...any) error {
	if err := s.usable(); err != nil {
		return err
	}
	if s.tx != nil {
		return s.fail(ctx, op, s.tx.Query(ctx, each, text, args...))
	}
	return s.fail(ctx, op, s.store.pool.Query(ctx, each, text, args...))
}

// queryFor returns read for an operation.
func (s *session) queryFor(op string) conn.Query {
	return func(ctx context.Context, each func(*sql.Rows) error, text string, args ...any) error {
		return s.read(ctx, op, each, text, args...)
	}
}

// learn makes sure that the session knows the catalog of the fingerprint.
func (s *session) learn(ctx context.Context, fingerprint string) (err error) {
	if s.catalog = s.store.catalogs.Known(fingerprint); s.catalog != nil {
		return nil
	}
	s.catalog, err = s.store.catalogs.Read(ctx, s.queryFor("inspect"), fingerprint)
	return err
}

// explain returns err. If the database has refused a statement because of the privileges of this role or of the kind of
// a table, it returns an error that names the table. The transaction is lost in both cases.
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
		_ = s.tx.Rollback(ctx) // as the session would at its end
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

// writeRows runs a statement that changes something, in the transaction, and calls each for every row it returns.
func (s *session) writeRows(
	ctx context.Context, op string, each func(*sql.Rows) error, text string, args ...any,
) error {
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	s.writes++
	return s.read(ctx, op, each, text, args...)
}

// lockedSubject is one that a session has locked to erase it.
type lockedSubject struct {
	id     domain.SubjectID
	at     time.Time
	writes int // statements that it took
}
