package bunstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Join returns a session factory that works inside a transaction of the application: what habeas writes commits and
// rolls back with it. tx is a bun.Tx, or a bun.Conn on which the application has begun a transaction; anything else
// is domain.ErrConfiguration. Like tx, the factory is for one goroutine.
//
// Each Do is a savepoint: where it fails, its own writes are undone and the transaction of the application goes on.
// Evidence is then written into that transaction, and shares its fate. Do retries nothing, and an export reads
// with the isolation that the application chose.
//
// On PostgreSQL, a session that appends to the ledger of a subject locks that ledger until the application's
// transaction ends: the records of a subject are in the order of their commits. Keep such transactions short.
//
// Constraint triggers of the data map's tables may be deferred to the commit. An erasure or a rectification fires them
// before it looks whether anything is left, and then gives them the mode that they were declared with. A trigger that
// shares its name with another constraint is domain.ErrConfiguration.
func (s *Store) Join(tx bun.IDB) (ports.SessionFactory, error) {
	switch tx := tx.(type) {
	case bun.Tx:
		return joined{s, tx.Tx}, nil
	case *bun.Tx:
		return joined{s, tx.Tx}, nil
	case bun.Conn:
		return joined{s, tx.Conn}, nil
	default:
		return nil, configurationError("only a bun.Tx or bun.Conn can be joined")
	}
}

type joined struct {
	store *Store
	host  bun.IConn
}

// Do implements ports.SessionFactory.
func (j joined) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	if ctx.Value(activeKey{j.store.db}) != nil {
		return &domain.Error{Code: domain.ErrSession, Op: "session", Message: "a session is open already"}
	}
	ctx = context.WithValue(ctx, activeKey{j.store.db}, true)
	if err := j.savepoint(ctx, "SAVEPOINT habeas_session"); err != nil {
		return err
	}
	session := &session{store: j.store, preserve: j.preserve, tx: joinedTransaction(j), joined: true}
	return session.afterRollback(ctx, session.run(ctx, fn))
}

func (j joined) savepoint(ctx context.Context, text string) error {
	_, err := exec(ctx, j.store.db, j.host, text)
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() == nil { // which is no matter of the database
		return &domain.Error{Op: "savepoint", Message: "the transaction of the application has ended", Err: err}
	}
	return wrap(ctx, "savepoint", err)
}

func (j joined) preserve(ctx context.Context, evidence [][]any) error {
	session := &session{store: j.store, tx: joinedTransaction(j), joined: true}
	session.held[events] = evidence
	return session.flush(ctx)
}

// joinedTransaction begins and ends with the savepoint; the host commits.
type joinedTransaction joined

func (t joinedTransaction) conn() bun.IConn { return t.host }

func (t joinedTransaction) commit(ctx context.Context) error {
	err := joined(t).savepoint(ctx, "RELEASE SAVEPOINT habeas_session")
	if err != nil {
		err = errors.Join(err, t.rollback(context.WithoutCancel(ctx)))
	}
	return err
}

// rollback also takes the savepoint away, so that those of many sessions do not pile up.
func (t joinedTransaction) rollback(ctx context.Context) error {
	if err := joined(t).savepoint(ctx, "ROLLBACK TO SAVEPOINT habeas_session"); err != nil {
		return err
	}
	return joined(t).savepoint(ctx, "RELEASE SAVEPOINT habeas_session")
}
