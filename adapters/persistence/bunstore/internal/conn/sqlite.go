package conn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"

	"github.com/uptrace/bun"
)

type sqlite struct{ compiled *compiled }

// begin takes the write lock immediately. Otherwise, another transaction could write between the first read and the
// first write of this transaction. SQLite would then fail the write, even after a wait.
func (s sqlite) begin(ctx context.Context, p *Pool) (transaction, error) {
	return s.open(ctx, p, "BEGIN IMMEDIATE", nil)
}

// snapshot begins the transaction without the write lock, so that other transactions can write while it is open.
func (s sqlite) snapshot(ctx context.Context, p *Pool) (transaction, error) {
	return s.open(ctx, p, "BEGIN", &sql.TxOptions{ReadOnly: true})
}

func (s sqlite) open(ctx context.Context, p *Pool, text string, options *sql.TxOptions) (transaction, error) {
	s.compiled.compile(ctx)
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	b, begun := &beginning{Conn: conn.Conn, options: options}, false
	defer func() {
		if !begun && !b.abandoned { // the transaction may have begun nevertheless, or a query hook panics
			b.throwAway()
		}
	}()
	if _, err = p.exec(ctx, b, text); err != nil {
		return nil, err
	}
	begun = true
	return sqliteTransaction{conn, compiledTx{b.tx, s.compiled}}, nil
}

// execAlone returns when ctx ends, even if the statement still waits for the write lock. When the statement gets the
// lock later, the driver interrupts the statement, so that it changes no data.
func (sqlite) execAlone(ctx context.Context, p *Pool, text string, args []any) (rows int64, err error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	single := &alone{Conn: conn.Conn}
	defer func() {
		if !single.abandoned {
			_ = conn.Close() // return it to the pool
		}
	}()
	for i, value := range args { // the caller may reuse the memory of a string while the statement still runs
		if text, ok := value.(string); ok {
			args[i] = strings.Clone(text)
		}
	}
	return p.exec(ctx, single, text, args...)
}

func (sqlite) writers() int        { return 1 }
func (sqlite) leavesDeleted() bool { return true }

// sqliteTransaction is a transaction that SQL statements begin and end: the driver cannot take the write lock, and
// would roll back after a failed COMMIT. It is a transaction of database/sql, too, so that its statements can be
// compiled.
type sqliteTransaction struct {
	c  bun.Conn
	tx compiledTx
}

func (t sqliteTransaction) conn() bun.IConn { return t.tx }

func (t sqliteTransaction) commit(ctx context.Context, refused func(error)) error {
	if _, err := t.c.ExecContext(ctx, "COMMIT"); err != nil {
		refused(err)
		return errors.Join(err, t.rollback(context.WithoutCancel(ctx)))
	}
	t.tx.end()
	return t.c.Close()
}

// rollback ends the transaction. If the ROLLBACK statement fails, rollback closes the connection, which ends the
// transaction.
func (t sqliteTransaction) rollback(ctx context.Context) error {
	_, err := t.c.ExecContext(ctx, "ROLLBACK")
	t.tx.end()
	if err != nil {
		return throwAway(t.c.Conn)
	}
	return t.c.Close()
}

// beginning is the connection on which a transaction begins.
type beginning struct {
	*sql.Conn
	options   *sql.TxOptions
	tx        *sql.Tx // nil if database/sql could not begin the transaction
	abandoned bool    // see unlessEnded
}

// ExecContext implements bun.IConn. The text begins a transaction.
func (b *beginning) ExecContext(ctx context.Context, text string, _ ...any) (sql.Result, error) {
	err := unlessEnded(ctx, &b.abandoned, func() error { return b.begin(ctx, text) }, b.throwAway)
	return driver.RowsAffected(0), err
}

// alone is the connection of a statement without a transaction.
type alone struct {
	*sql.Conn
	abandoned bool // see unlessEnded
}

// ExecContext implements bun.IConn.
func (a *alone) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	results := make(chan sql.Result, 1)
	err := unlessEnded(ctx, &a.abandoned, func() error {
		result, err := a.Conn.ExecContext(ctx, text, args...)
		results <- result
		return err
	}, func() { _ = throwAway(a.Conn) })
	if a.abandoned {
		return nil, err
	}
	return <-results, err
}

// unlessEnded runs a call. It returns when ctx ends, even while SQLite waits for a lock: SQLite waits for up to its
// busy_timeout, and a driver cannot interrupt this wait. It then sets abandoned, and calls throwAway after the call.
func unlessEnded(ctx context.Context, abandoned *bool, call func() error, throwAway func()) error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		*abandoned = true
		go func() {
			<-done
			throwAway()
		}()
		return ctx.Err()
	}
}

// begin begins a transaction of database/sql, and replaces the transaction that the driver has begun for it.
func (b *beginning) begin(ctx context.Context, text string) (err error) {
	b.tx, err = b.BeginTx(context.WithoutCancel(ctx), b.options)
	if err == nil {
		_, err = b.tx.ExecContext(ctx, "COMMIT; "+text)
	}
	return err
}

// throwAway closes the connection.
func (b *beginning) throwAway() {
	compiledTx{Tx: b.tx}.end()
	_ = throwAway(b.Conn)
}

// throwAway closes a connection instead of returning it to the pool. An open transaction of the connection ends, too.
func throwAway(conn *sql.Conn) error {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	return conn.Close()
}
