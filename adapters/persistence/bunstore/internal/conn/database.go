package conn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"

	"github.com/uptrace/bun"
)

// database sends statements to PostgreSQL or SQLite. It covers the differences between the two.
type database interface {
	// begin opens a transaction that can write.
	begin(ctx context.Context, p *Pool) (transaction, error)

	// snapshot opens a read-only transaction whose statements all see the same snapshot.
	snapshot(ctx context.Context, p *Pool) (transaction, error)

	// execAlone runs a statement that writes, in a separate transaction, and returns its number of rows. It returns when
	// ctx ends, even while the statement waits for a lock.
	execAlone(ctx context.Context, p *Pool, text string, args []any) (rows int64, err error)

	// writers returns how many transactions can write concurrently. 0 means that there is no limit.
	writers() int

	// leavesDeleted reports whether the database leaves deleted data in its file, unless PRAGMA secure_delete is set.
	leavesDeleted() bool

	// numbered converts the placeholders $1, $2 and so on of a statement to the form that the database needs.
	numbered(text string) string
}

// transaction is an open transaction of PostgreSQL or SQLite.
type transaction interface {
	conn() bun.IConn
	commit(ctx context.Context, refused func(error)) error // see Tx.CommitOr
	rollback(ctx context.Context) error
}

type postgres struct{}

func (postgres) begin(ctx context.Context, p *Pool) (transaction, error) {
	// begin sets the isolation level READ COMMITTED instead of using the server's default. An erasure must see rows that
	// other transactions commit while it waits for locks.
	tx, err := p.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return nil, p.unableDriver(err)
	}
	return postgresTransaction{tx}, nil
}

func (postgres) snapshot(ctx context.Context, p *Pool) (transaction, error) {
	tx, err := p.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, p.unableDriver(err)
	}
	return postgresTransaction{tx}, nil
}

func (postgres) execAlone(ctx context.Context, p *Pool, text string, args []any) (rows int64, err error) {
	return p.exec(ctx, p.db.DB, text, args...)
}

func (postgres) writers() int        { return 0 }
func (postgres) leavesDeleted() bool { return false }

type postgresTransaction struct{ tx bun.Tx }

func (t postgresTransaction) conn() bun.IConn                           { return t.tx.Tx }
func (t postgresTransaction) commit(context.Context, func(error)) error { return t.tx.Commit() }
func (t postgresTransaction) rollback(context.Context) error            { return t.tx.Rollback() }

type sqlite struct{}

// begin takes the write lock immediately. Otherwise, another transaction could write between the first read and the
// first write of this transaction. SQLite would then fail the write, even after a wait.
func (sqlite) begin(ctx context.Context, p *Pool) (transaction, error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	lock := &lockWait{Conn: conn.Conn}
	_, err = p.exec(ctx, lock, "BEGIN IMMEDIATE")
	switch {
	case lock.abandoned:
		return nil, err
	case err != nil: // the transaction may have begun nevertheless
		return nil, errors.Join(err, sqliteTransaction{conn}.rollback(context.WithoutCancel(ctx)))
	}
	return sqliteTransaction{conn}, nil
}

// snapshot begins the transaction without the write lock, so that other transactions can write while it is open.
func (sqlite) snapshot(ctx context.Context, p *Pool) (transaction, error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := p.exec(ctx, conn.Conn, "BEGIN"); err != nil { // the transaction may have begun nevertheless
		return nil, errors.Join(err, sqliteTransaction{conn}.rollback(context.WithoutCancel(ctx)))
	}
	return sqliteTransaction{conn}, nil
}

// execAlone returns when ctx ends, even if the statement still waits for the write lock. When the statement gets the
// lock later, the driver interrupts the statement, so that it changes no data.
func (sqlite) execAlone(ctx context.Context, p *Pool, text string, args []any) (rows int64, err error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	lock := &lockWait{Conn: conn.Conn}
	defer func() {
		if !lock.abandoned {
			_ = conn.Close() // return it to the pool
		}
	}()
	for i, value := range args { // the caller may reuse the memory of a string while the statement still runs
		if text, ok := value.(string); ok {
			args[i] = strings.Clone(text)
		}
	}
	return p.exec(ctx, lock, text, args...)
}

func (sqlite) writers() int        { return 1 }
func (sqlite) leavesDeleted() bool { return true }

type sqliteTransaction struct{ c bun.Conn }

func (t sqliteTransaction) conn() bun.IConn { return t.c.Conn }

func (t sqliteTransaction) commit(ctx context.Context, refused func(error)) error {
	if _, err := t.c.ExecContext(ctx, "COMMIT"); err != nil {
		refused(err)
		return errors.Join(err, t.rollback(context.WithoutCancel(ctx)))
	}
	return t.c.Close()
}

// rollback ends the transaction. If the ROLLBACK statement fails, rollback closes the connection, which ends the
// transaction.
func (t sqliteTransaction) rollback(ctx context.Context) error {
	if _, err := t.c.ExecContext(ctx, "ROLLBACK"); err != nil {
		return throwAway(t.c.Conn)
	}
	return t.c.Close()
}

// lockWait is a connection on which a call returns when its context ends, even while SQLite waits for a lock. SQLite
// waits for up to its busy_timeout, and a driver cannot interrupt this wait.
type lockWait struct {
	*sql.Conn
	abandoned bool // the caller has returned while SQLite still waits; the connection is closed afterwards
}

func (w *lockWait) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	type outcome struct {
		result sql.Result
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := w.Conn.ExecContext(ctx, query, args...)
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		w.abandoned = true
		go func() {
			<-done
			_ = throwAway(w.Conn)
		}()
		return nil, ctx.Err()
	}
}

// throwAway closes a connection instead of returning it to the pool. An open transaction of the connection ends, too.
func throwAway(conn *sql.Conn) error {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	return conn.Close()
}
