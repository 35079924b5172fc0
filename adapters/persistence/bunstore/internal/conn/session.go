package conn

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
)

// Session runs the statements of one session of a store. The first statement that needs a transaction begins the
// transaction. After an error, the session can only roll back.
type Session struct {
	Pool     *Pool
	Tx       *Tx                            // nil until the transaction begins
	Joined   bool                           // Tx belongs to the application
	ReadOnly bool                           // Tx changes nothing that lasts
	Failed   error                          // the first error of a statement; fails the session
	Ended    bool                           // the session has committed or rolled back
	Admit    func(context.Context) error    // called before each statement and after the begin of Tx; may be nil
	AtEnd    []func(context.Context, error) // called after the commit or the rollback

	person string // see For
	leave  func() // leaves the place of the person; nil without the place
}

// Run is Session.Read or Session.WriteRows. It runs a statement and calls scanRow for every row.
type Run func(ctx context.Context, op string, scanRow func(*sql.Rows) error, text string, args ...any) error

// Usable returns an error if the session has ended or has failed. Every method of a session checks it before it acts.
func (s *Session) Usable() error {
	if s.Ended {
		return errEnded
	}
	return s.Failed
}

// Ready does the same as Usable, and calls Admit.
func (s *Session) Ready(ctx context.Context) error {
	if err := s.Usable(); err != nil || s.Admit == nil {
		return err
	}
	return s.Admit(ctx)
}

// For names a person whose data the session is going to write. Before its first write, the session takes the place of
// the person that the first call named, so that many sessions of one person hold one connection. A session that has a
// transaction already waits for no place.
func (s *Session) For(person string) {
	if s.person == "" {
		s.person = person
	}
}

// enter takes the place of the person whose data the session writes. RollBack leaves it.
func (s *Session) enter(ctx context.Context) (err error) {
	if s.person != "" && s.leave == nil {
		err = patiently(ctx, func(ctx context.Context) (err error) {
			s.leave, err = s.Pool.people.Enter(ctx, s.person)
			return err
		})
	}
	return err
}

// Fail records err as the error of the session, unless an earlier error is recorded. It returns the recorded error,
// with a code, or nil if there is none.
func (s *Session) Fail(ctx context.Context, op string, err error) error {
	if err != nil && s.Failed == nil {
		s.Failed = Wrap(ctx, op, err)
	}
	return s.Failed
}

// Begin begins the transaction if the session has none.
func (s *Session) Begin(ctx context.Context) error {
	if err := s.Usable(); err != nil {
		return err
	}
	if s.Tx == nil {
		err := s.enter(ctx)
		if err == nil {
			s.Tx, err = s.Pool.Begin(ctx)
		}
		if err := s.Fail(ctx, "begin", err); err != nil {
			return err
		}
	}
	return s.Ready(ctx)
}

// OverwriteDeleted makes SQLite overwrite the old values of all rows that the transaction deletes or updates from now
// on (PRAGMA secure_delete). On PostgreSQL, it does nothing.
func (s *Session) OverwriteDeleted(ctx context.Context) error {
	if !s.Pool.LeavesDeleted() {
		return nil
	}
	if err := s.Begin(ctx); err != nil {
		return err
	}
	return s.Fail(ctx, "secure delete", s.Tx.OverwriteDeleted(ctx))
}

// Write runs a writing statement in the transaction and returns the number of changed rows.
func (s *Session) Write(ctx context.Context, op, text string, args ...any) (int64, error) {
	if err := s.Begin(ctx); err != nil {
		return 0, err
	}
	rows, err := s.Tx.Exec(ctx, text, args...)
	return rows, s.Fail(ctx, op, err)
}

// WriteAlone runs a writing statement in a transaction of its own, see Pool.ExecAlone.
func (s *Session) WriteAlone(ctx context.Context, op, text string, args []any) (rows int64, err error) {
	if err = s.enter(ctx); err == nil {
		rows, err = s.Pool.ExecAlone(ctx, text, args)
	}
	return rows, s.Fail(ctx, op, err)
}

// Read runs a statement and calls scanRow for every row. It uses the transaction if one is open, and the pool
// otherwise.
func (s *Session) Read(ctx context.Context, op string, scanRow func(*sql.Rows) error, text string, args ...any) error {
	if err := s.Ready(ctx); err != nil {
		return err
	}
	if s.Tx != nil {
		return s.Fail(ctx, op, s.Tx.Query(ctx, scanRow, text, args...))
	}
	return s.Fail(ctx, op, s.Pool.Query(ctx, scanRow, text, args...))
}

// WriteRows runs a writing statement in the transaction and calls scanRow for every row that the statement returns.
func (s *Session) WriteRows(
	ctx context.Context, op string, scanRow func(*sql.Rows) error, text string, args ...any,
) error {
	if err := s.Begin(ctx); err != nil {
		return err
	}
	return s.Read(ctx, op, scanRow, text, args...)
}

// QueryFor returns a Query that calls Read with op as the name of the operation.
func (s *Session) QueryFor(op string) Query {
	return func(ctx context.Context, scanRow func(*sql.Rows) error, text string, args ...any) error {
		return s.Read(ctx, op, scanRow, text, args...)
	}
}

// RollBack rolls back the transaction if one is open, and leaves the place of the person. Every session calls it when
// it ends. It ignores errors, because no further cleanup is possible.
func (s *Session) RollBack(ctx context.Context) {
	defer func() {
		if s.leave != nil {
			s.leave()
			s.leave = nil
		}
	}()
	if s.Tx != nil {
		_ = s.Tx.Rollback(context.WithoutCancel(ctx))
		s.Tx = nil
	}
}

const (
	setProbe   = "SAVEPOINT habeas_probe"
	undoProbe  = "ROLLBACK TO SAVEPOINT habeas_probe"
	closeProbe = "RELEASE SAVEPOINT habeas_probe"
)

// Try calls fn. It undoes the changes of its statements if the database refuses one, and unless keep is true. It
// reports whether a constraint, a type or a trigger refused a value, or the database cannot lock the rows of a view. It
// returns every other error: the caller must not run further statements.
func (s *Session) Try(ctx context.Context, op string, keep bool, fn func() error) (refused bool, err error) {
	if _, err := s.Write(ctx, op, setProbe); err != nil {
		return false, err
	}
	if err := fn(); err != nil {
		if ctx.Err() != nil || !refusesAttempt(err) {
			return false, err
		}
		refused, s.Failed = true, nil // the savepoint undoes the failed statement
	}
	ends := []string{undoProbe, closeProbe}
	if keep && !refused {
		ends = ends[1:]
	}
	for _, text := range ends {
		if _, err := s.Write(ctx, op, text); err != nil {
			return false, err
		}
	}
	return refused, nil
}

// NameTrigger returns the error of a statement that checks deferred constraints. If the error has an SQLSTATE of class
// P0, the function of a constraint trigger has raised it. For such an error, NameTrigger records and returns
// domain.ErrConflict with the name of the function.
func (s *Session) NameTrigger(op string, err error) error {
	if !strings.HasPrefix(SQLState(err), "P0") {
		return err
	}
	s.Failed = &domain.Error{
		Code: domain.ErrConflict, Op: op, Message: "a deferred trigger refused the changes" + raisedBy(err), Err: err,
	}
	return s.Failed
}

// Undo undoes the transaction of a failed session. It returns false if it could not. Statements of the returned Query
// can then run. In a transaction of the application, Undo rolls back to the savepoint of the session only.
func (s *Session) Undo(ctx context.Context) (query Query, ok bool) {
	if s.Joined {
		return s.Tx.Query, s.Tx.Undo(ctx) == nil
	}
	s.RollBack(ctx)
	return s.Pool.Query, true
}

// InSnapshot runs fn in a read-only transaction. If the session already has a transaction, fn runs in this transaction.
func (s *Session) InSnapshot(ctx context.Context, op string, fn func() error) error {
	if s.Tx != nil {
		return fn()
	}
	tx, err := s.Pool.Snapshot(ctx)
	if err != nil {
		return s.Fail(ctx, op, err)
	}
	return s.within(ctx, tx, fn)
}

// within runs fn while tx is the transaction of the session, and rolls tx back: fn only reads.
func (s *Session) within(ctx context.Context, tx *Tx, fn func() error) error {
	s.Tx, s.ReadOnly = tx, true
	defer func() {
		s.Tx, s.ReadOnly = nil, false
		_ = tx.Rollback(context.WithoutCancel(ctx)) // it has only read
	}()
	return fn()
}

// InReplica runs fn in one snapshot of the replica, if check returns true there. It returns false if fn did not run:
// the session has a transaction, the replica is unreachable, or check returned false.
func (s *Session) InReplica(
	ctx context.Context, replica *bun.DB, check func(Query) bool, fn func() error,
) (done bool, err error) {
	if s.Tx != nil {
		return false, nil
	}
	tx, err := s.Pool.replica(ctx, replica)
	if err != nil {
		return false, nil //nolint:nilerr // the caller reads from the primary
	}
	if !check(tx.Query) {
		_ = tx.Rollback(context.WithoutCancel(ctx))
		return false, nil
	}
	return true, s.within(ctx, tx, fn)
}

var errEnded = &domain.Error{Code: domain.ErrSession, Op: "session", Message: "the session has ended"}

const (
	maxAttempts  = 5
	firstBackoff = 10 * time.Millisecond // doubled for each further attempt, and randomized
)

// Retry runs a transaction. If the transaction fails because of a concurrent transaction, Retry runs it again, up to
// maxAttempts times in total.
func Retry(ctx context.Context, transaction func() error) error {
	err := transaction()
	for attempt := 1; Again(ctx, err, attempt); attempt++ {
		err = transaction()
	}
	return err
}

// Again reports whether to run a failed transaction again: whether err is Retryable (caused by a concurrent
// transaction) and fewer than maxAttempts attempts were made. Before Again returns true, it waits. If ctx ends first,
// it returns false.
func Again(ctx context.Context, err error, attempt int) bool {
	return err != nil && attempt < maxAttempts && Retryable(err) && backOff(ctx, attempt)
}

// backOff waits before the next attempt and returns true. It returns false if the context ends during the wait.
func backOff(ctx context.Context, attempt int) bool {
	wait := firstBackoff << (attempt - 1)
	timer := time.NewTimer(wait/2 + rand.N(wait)) //nolint:gosec // jitter, which does not have to be secure
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
