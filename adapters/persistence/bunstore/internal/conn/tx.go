package conn

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
)

// Tx is an open transaction. It is not safe for concurrent use, and must not be used after Commit or Rollback.
type Tx struct {
	pool        *Pool
	transaction transaction
	release     func(*Pool) // releases the transaction's places in the limiters, once; nil if it has none
	restore     string      // the statement that restores the mode of PRAGMA secure_delete; empty if unchanged
}

// Conn returns the connection of the transaction, for statements of the application.
func (t *Tx) Conn() bun.IConn { return t.transaction.conn() }

// Exec runs a statement and returns the number of rows that it changed.
func (t *Tx) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	return t.pool.exec(ctx, t.transaction.conn(), text, args...)
}

// Query runs a statement and calls visit for each row.
func (t *Tx) Query(ctx context.Context, visit func(*sql.Rows) error, text string, args ...any) error {
	return t.pool.query(ctx, t.transaction.conn(), visit, text, args...)
}

// QueryAsWritten does the same as Query for a statement with SQL of the application, whose functions the search path
// finds.
func (t *Tx) QueryAsWritten(ctx context.Context, visit func(*sql.Rows) error, text string, args ...any) error {
	if _, isPostgres := t.pool.database.(postgres); !isPostgres {
		text = t.pool.database.numbered(text)
	}
	return t.pool.queryAsWritten(ctx, t.transaction.conn(), visit, text, args...)
}

// Commit commits the transaction. The transaction has ended even if Commit returns an error. If a query hook panics,
// the caller must call Rollback.
func (t *Tx) Commit(ctx context.Context) error { return t.CommitOr(ctx, func(error) {}) }

// CommitOr does the same as Commit. If SQLite refuses the commit, it calls refused with the error before the
// transaction ends.
func (t *Tx) CommitOr(ctx context.Context, refused func(error)) error {
	defer t.end()
	t.restoreMode(ctx)
	return t.transaction.commit(ctx, refused)
}

// Rollback ends the transaction.
func (t *Tx) Rollback(ctx context.Context) error {
	defer t.end()
	t.restoreMode(ctx)
	return t.transaction.rollback(ctx)
}

func (t *Tx) end() {
	if t.release != nil {
		t.release(t.pool)
		t.release = nil
	}
}

// overwriteDeleted is the mode of PRAGMA secure_delete in which SQLite overwrites all deleted data with zeros. In the
// other modes, SQLite leaves deleted values in the file until it writes other data in their place.
const overwriteDeleted = 1

// OverwriteDeleted makes SQLite overwrite the data that the transaction deletes or changes from now on. The mode
// belongs to a connection of the application's pool, so Commit and Rollback restore the old mode.
func (t *Tx) OverwriteDeleted(ctx context.Context) error {
	if t.restore != "" {
		return nil
	}
	var before int
	err := t.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&before) }, "PRAGMA secure_delete")
	if err != nil || before == overwriteDeleted {
		return err
	}
	if err := t.Query(ctx, Ignore, secureDelete(overwriteDeleted)); err != nil {
		return err
	}
	t.restore = secureDelete(before)
	return nil
}

func secureDelete(mode int) string { return "PRAGMA secure_delete = " + strconv.Itoa(mode) }

// restoreMode restores the old mode of PRAGMA secure_delete on the connection. If the statement fails, SQLite continues
// to overwrite deleted data on this connection.
func (t *Tx) restoreMode(ctx context.Context) {
	if t.restore != "" {
		_ = t.Query(context.WithoutCancel(ctx), Ignore, t.restore)
		t.restore = ""
	}
}

// Join returns a Tx for the transaction that the application has begun on the connection. Call Tx.Savepoint before
// other methods.
func (p *Pool) Join(host bun.IConn) *Tx {
	return &Tx{pool: p, transaction: joined{p, host}}
}

// replicaTimeout is the maximum wait for a connection to a replica.
const replicaTimeout = 2 * time.Second

// replica opens a read-only transaction on a replica. All its statements see the same snapshot.
func (p *Pool) replica(ctx context.Context, db *bun.DB) (*Tx, error) {
	soon, cancel := context.WithTimeout(ctx, replicaTimeout)
	defer cancel()
	conn, err := db.Conn(soon)
	if err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &Tx{pool: p, transaction: onReplica{postgresTransaction{tx}, conn}}, nil
}

// onReplica is a transaction on a replica. It returns its connection to the pool when it ends.
type onReplica struct {
	postgresTransaction
	connection bun.Conn
}

func (t onReplica) rollback(ctx context.Context) error {
	return errors.Join(t.postgresTransaction.rollback(ctx), t.connection.Close())
}

// joined is a savepoint in a transaction of the application, used like a transaction. Only the application commits its
// transaction.
type joined struct {
	pool *Pool
	host bun.IConn
}

const (
	setSavepoint     = "SAVEPOINT habeas_session"
	undoToSavepoint  = "ROLLBACK TO SAVEPOINT habeas_session"
	releaseSavepoint = "RELEASE SAVEPOINT habeas_session"
)

// Savepoint sets a savepoint in a transaction of the application. Commit then releases the savepoint, and Rollback
// rolls back to it.
func (t *Tx) Savepoint(ctx context.Context) error {
	return joined{t.pool, t.transaction.conn()}.exec(ctx, setSavepoint)
}

// Undo rolls back to the savepoint, which continues to exist.
func (t *Tx) Undo(ctx context.Context) error {
	return joined{t.pool, t.transaction.conn()}.exec(ctx, undoToSavepoint)
}

func (j joined) exec(ctx context.Context, text string) error {
	_, err := j.pool.exec(ctx, j.host, text)
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() == nil { // not an error of the database
		return &domain.Error{Op: "savepoint", Message: "the transaction of the application has ended", Err: err}
	}
	return Wrap(ctx, "savepoint", err)
}

func (j joined) conn() bun.IConn { return j.host }

func (j joined) commit(ctx context.Context, _ func(error)) error {
	err := j.exec(ctx, releaseSavepoint)
	if err != nil {
		err = errors.Join(err, j.rollback(context.WithoutCancel(ctx)))
	}
	return err
}

// rollback also releases the savepoint, so that the savepoints of many sessions do not accumulate.
func (j joined) rollback(ctx context.Context) error {
	if err := j.exec(ctx, undoToSavepoint); err != nil {
		return err
	}
	return j.exec(ctx, releaseSavepoint)
}
