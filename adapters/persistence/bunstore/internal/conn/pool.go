// Package conn sends statements to the database: it waits for a connection, begins and ends transactions, and gives
// errors of drivers a code. It knows nothing of what the statements say.
package conn

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
)

// Pool sends statements through the handle of the application, whose query hooks see all of them. Callers get a
// connection in the order in which they came, see gate. It is safe for concurrent use.
type Pool struct {
	db          *bun.DB
	database    database
	connections gate
	writing     gate // transactions that write, where there is one at a time
}

// NewPool returns a pool on a database of pgdialect or sqlitedialect. It opens no connection.
func NewPool(db *bun.DB) *Pool {
	p := &Pool{db: db, database: postgres{}}
	if db.Dialect().Name() == dialect.SQLite {
		p.database = sqlite{}
	}
	p.connections, p.writing = newGate(db.Stats().MaxOpenConnections), newGate(p.database.writers())
	return p
}

// Crowded reports whether all connections are busy: who comes now has to wait.
func (p *Pool) Crowded() bool { return p.connections.crowded() }

// OneWriter reports whether one transaction at a time can write.
func (p *Pool) OneWriter() bool { return p.database.writers() == 1 }

// LeavesDeleted reports whether the database leaves what it deletes in its file, see Tx.OverwriteDeleted.
func (p *Pool) LeavesDeleted() bool { return p.database.leavesDeleted() }

// Query runs a statement outside a transaction and calls each for every row.
func (p *Pool) Query(ctx context.Context, each func(*sql.Rows) error, text string, args ...any) error {
	if err := p.connections.enter(ctx); err != nil {
		return err
	}
	defer p.connections.leave()
	return p.query(ctx, p.db.DB, each, text, args...)
}

// Notify runs a statement outside a transaction, without waiting for its turn.
func (p *Pool) Notify(ctx context.Context, text string) error {
	return p.query(ctx, p.db.DB, Ignore, text)
}

// ExecAlone runs a statement that writes, in a transaction of its own. It ends with ctx, also where it waits for a
// lock. It may change args.
func (p *Pool) ExecAlone(ctx context.Context, text string, args []any) error {
	if err := p.enterToWrite(ctx); err != nil {
		return err
	}
	defer p.leaveToWrite()
	return p.database.execAlone(ctx, p, text, args)
}

// Begin opens a transaction that can write.
func (p *Pool) Begin(ctx context.Context) (*Tx, error) {
	if err := p.enterToWrite(ctx); err != nil {
		return nil, err
	}
	begun := false
	defer func() {
		if !begun { // also when the driver or a query hook panics
			p.leaveToWrite()
		}
	}()
	tx, err := p.database.begin(ctx, p)
	if err != nil {
		return nil, err
	}
	begun = true
	return &Tx{pool: p, transaction: tx, leave: (*Pool).leaveToWrite}, nil
}

// Snapshot opens a transaction that only reads, and sees the same in all its statements.
func (p *Pool) Snapshot(ctx context.Context) (*Tx, error) {
	if err := p.connections.enter(ctx); err != nil {
		return nil, err
	}
	begun := false
	defer func() {
		if !begun {
			p.connections.leave()
		}
	}()
	tx, err := p.database.snapshot(ctx, p)
	if err != nil {
		return nil, err
	}
	begun = true
	return &Tx{pool: p, transaction: tx, leave: (*Pool).leaveToRead}, nil
}

func (p *Pool) leaveToRead() { p.connections.leave() }

// enterToWrite waits until a transaction may begin: first for the turn to write, then for a connection. In the other
// order, those who wait for their turn could hold all connections.
func (p *Pool) enterToWrite(ctx context.Context) error {
	if err := p.writing.enter(ctx); err != nil {
		return err
	}
	if err := p.connections.enter(ctx); err != nil {
		p.writing.leave()
		return err
	}
	return nil
}

func (p *Pool) leaveToWrite() {
	p.connections.leave()
	p.writing.leave()
}
