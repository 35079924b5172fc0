package conn

import (
	"context"
	"database/sql"

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
