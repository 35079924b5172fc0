package conn

import (
	"context"
	"database/sql"
	"sync"
)

// compiled has the statements that the connections to an SQLite database keep compiled. Otherwise SQLite compiles a
// statement at each execution, which takes about a third of the processor time of an erasure or an export.
// database/sql compiles each statement once for each connection, and closes it with the connection.
//
// A statement without parameters is not kept: a PRAGMA can take effect when SQLite compiles it, and the statements of
// the application have their values in their texts.
type compiled struct {
	db *sql.DB

	mu     sync.Mutex
	known  map[string]*sql.Stmt // by text; nil if the statement is not compiled yet
	wanted []string             // the texts that are not compiled yet
	size   int                  // of all texts
}

// maxCompiled limits the memory for compiled statements: the sum of the lengths of their texts, in bytes.
const maxCompiled = 1 << 18

// statement returns a compiled statement, or nil. If it returns nil, the next call of compile compiles the statement.
func (c *compiled) statement(text string) *sql.Stmt {
	c.mu.Lock()
	defer c.mu.Unlock()
	statement, known := c.known[text]
	if !known && c.size+len(text) <= maxCompiled {
		c.known[text], c.wanted, c.size = nil, append(c.wanted, text), c.size+len(text)
	}
	return statement
}

// compile compiles the statements that transactions have asked for. The caller holds no connection: a transaction of
// which the application holds the only connection could not wait for a second one. compile takes a connection only if
// one is idle, and leaves the other statements to the next call.
func (c *compiled) compile(ctx context.Context) {
	for text := c.next(); text != ""; text = c.next() {
		statement, err := c.db.PrepareContext(ctx, text) //nolint:sqlclosecheck // close closes it
		c.mu.Lock()
		if c.known[text] = statement; err != nil { // its next execution returns the error
			delete(c.known, text)
			c.size -= len(text)
		}
		c.mu.Unlock()
	}
}

// next returns a wanted text, or "" if there is none or no connection is idle.
func (c *compiled) next() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := len(c.wanted) - 1
	if last < 0 || c.db.Stats().Idle == 0 {
		return ""
	}
	text := c.wanted[last]
	c.wanted = c.wanted[:last]
	return text
}

// close closes the statements.
func (c *compiled) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for text, statement := range c.known {
		if statement != nil {
			_ = statement.Close()
		}
		delete(c.known, text)
	}
}

// compiledTx is a transaction that uses compiled statements.
type compiledTx struct {
	*sql.Tx
	compiled *compiled
}

func (t compiledTx) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	//nolint:sqlclosecheck // the transaction closes it
	if statement := t.statement(ctx, text, args); statement != nil {
		return statement.ExecContext(ctx, args...)
	}
	return t.Tx.ExecContext(ctx, text, args...)
}

func (t compiledTx) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	//nolint:sqlclosecheck // the transaction closes it
	if statement := t.statement(ctx, text, args); statement != nil {
		return statement.QueryContext(ctx, args...)
	}
	return t.Tx.QueryContext(ctx, text, args...)
}

func (t compiledTx) statement(ctx context.Context, text string, args []any) *sql.Stmt {
	if len(args) == 0 {
		return nil
	}
	statement := t.compiled.statement(text)
	if statement == nil {
		return nil
	}
	return t.StmtContext(ctx, statement)
}

// end ends the transaction of database/sql after that of SQLite has ended. The driver may fail to roll back, because
// there is no transaction any more.
func (t compiledTx) end() {
	if t.Tx != nil {
		_ = t.Rollback()
	}
}
