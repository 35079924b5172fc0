package conn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"

	"github.com/uptrace/bun"
)

// database is all that differs between the two databases in the way to send statements.
type database interface {
	// begin opens a transaction that can write.
	begin(ctx context.Context, p *Pool) (transaction, error)

	// snapshot opens a transaction that only reads, and sees the same in all its statements.
	snapshot(ctx context.Context, p *Pool) (transaction, error)

	// execAlone runs a statement that writes, in a transaction of its own. It ends with ctx, also where it waits for a
	// lock.
	execAlone(ctx context.Context, p *Pool, text string, args []any) error

	// writers is how many transactions can write at the same time, or 0 for any number.
	writers() int

	// leavesDeleted reports whether the database leaves what it deletes in its file, unless PRAGMA secure_delete is set.
	leavesDeleted() bool

	// numbered is a statement with its parameters, $1 and so on, in the form that the database knows.
	numbered(text string) string
}

// transaction is an open transaction of either database.
type transaction interface {
	conn() bun.IConn
	commit(ctx context.Context) error
	rollback(ctx context.Context) error
}

type postgres struct{}

func (postgres) begin(ctx context.Context, p *Pool) (transaction, error) {
	// An erasure has to see what is committed while it waits for it, whatever the server's default is.
	tx, err := p.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return nil, err
	}
	return postgresTransaction{tx}, nil
}

func (postgres) snapshot(ctx context.Context, p *Pool) (transaction, error) {
	tx, err := p.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return postgresTransaction{tx}, nil
}

func (postgres) execAlone(ctx context.Context, p *Pool, text string, args []any) error {
	_, err := p.exec(ctx, p.db.DB, text, args...)
	return err
}

func (postgres) writers() int        { return 0 }
func (postgres) leavesDeleted() bool { return false }

type postgresTransaction struct{ tx bun.Tx }

func (t postgresTransaction) conn() bun.IConn                { return t.tx.Tx }
func (t postgresTransaction) commit(context.Context) error   { return t.tx.Commit() }
func (t postgresTransaction) rollback(context.Context) error { return t.tx.Rollback() }

type sqlite struct{}

// begin takes the write lock at once: a transaction that reads before it writes could otherwise find that another one
// wrote in between, which no waiting heals.
func (sqlite) begin(ctx context.Context, p *Pool) (transaction, error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	lock := &lockWait{Conn: conn.Conn}
	_, err = p.exec(ctx, lock, "BEGIN IMMEDIATE")
	switch {
	case lock.left:
		return nil, err
	case err != nil: // it may have begun all the same
		return nil, errors.Join(err, sqliteTransaction{conn}.rollback(context.WithoutCancel(ctx)))
	}
	return sqliteTransaction{conn}, nil
}

// snapshot does not take the write lock: others go on writing.
func (sqlite) snapshot(ctx context.Context, p *Pool) (transaction, error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := p.exec(ctx, conn.Conn, "BEGIN"); err != nil { // it may have begun all the same
		return nil, errors.Join(err, sqliteTransaction{conn}.rollback(context.WithoutCancel(ctx)))
	}
	return sqliteTransaction{conn}, nil
}

// execAlone leaves a statement behind that still waits for the lock when its context ends. Drivers interrupt it then,
// so that it does nothing once it has the lock.
func (sqlite) execAlone(ctx context.Context, p *Pool, text string, args []any) error {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return err
	}
	lock := &lockWait{Conn: conn.Conn}
	defer func() {
		if !lock.left {
			_ = conn.Close() // which gives it back
		}
	}()
	for i, value := range args { // the statement may outlive what its caller uses again
		if text, ok := value.(string); ok {
			args[i] = strings.Clone(text)
		}
	}
	_, err = p.exec(ctx, lock, text, args...)
	return err
}

func (sqlite) writers() int        { return 1 }
func (sqlite) leavesDeleted() bool { return true }

type sqliteTransaction struct{ c bun.Conn }

func (t sqliteTransaction) conn() bun.IConn { return t.c.Conn }

func (t sqliteTransaction) commit(ctx context.Context) error {
	if _, err := t.c.ExecContext(ctx, "COMMIT"); err != nil {
		return errors.Join(err, t.rollback(context.WithoutCancel(ctx)))
	}
	return t.c.Close()
}

// rollback ends the transaction. A connection that cannot be rolled back is thrown away, and its transaction with it.
func (t sqliteTransaction) rollback(ctx context.Context) error {
	if _, err := t.c.ExecContext(ctx, "ROLLBACK"); err != nil {
		return throwAway(t.c.Conn)
	}
	return t.c.Close()
}

// lockWait is a connection on which a statement that waits for a lock ends with its context. SQLite waits as long as
// its busy_timeout says, and cannot be interrupted in that.
type lockWait struct {
	*sql.Conn
	left bool // SQLite is still waiting; the connection is thrown away when it has done
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
		w.left = true
		go func() {
			<-done
			_ = throwAway(w.Conn)
		}()
		return nil, ctx.Err()
	}
}

// throwAway closes a connection, and with it a transaction that may be open.
func throwAway(conn *sql.Conn) error {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	return conn.Close()
}
