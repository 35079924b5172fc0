package conn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	driversqlite "modernc.org/sqlite"
)

// counter counts the statements of its connections to an SQLite file.
type counter struct {
	file                       string
	compiled, closed, compiles atomic.Int64 // compiles are those of statements that are executed once
}

func (c *counter) Connect(context.Context) (driver.Conn, error) {
	conn, err := new(driversqlite.Driver).Open(c.file)
	return counted{conn.(sqliteConn), c}, err
}

func (c *counter) Driver() driver.Driver { return nil }

type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

type counted struct {
	sqliteConn
	counter *counter
}

func (c counted) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.counter.compiles.Add(1)
	return c.sqliteConn.QueryContext(ctx, text, args)
}

func (c counted) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	c.counter.compiled.Add(1)
	statement, err := c.sqliteConn.PrepareContext(ctx, text)
	return countedStatement{statement, c.counter}, err
}

type countedStatement struct {
	driver.Stmt
	counter *counter
}

func (s countedStatement) Close() error {
	s.counter.closed.Add(1)
	return s.Stmt.Close()
}

// openCounter returns a database with one connection. In WAL mode, the last connection that closes removes the log,
// unless statements are left open.
func openCounter(t *testing.T) (*counter, *bun.DB) {
	t.Helper()
	c := &counter{file: filepath.Join(t.TempDir(), "db")}
	db := bun.NewDB(sql.OpenDB(c), sqlitedialect.New())
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	exec(t, db, "PRAGMA journal_mode = wal")
	exec(t, db, "CREATE TABLE words (word TEXT)")
	exec(t, db, "INSERT INTO words VALUES ('permanent')")
	return c, db
}

func exec(t *testing.T, db *bun.DB, text string) {
	t.Helper()
	if _, err := db.DB.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// readWord reads the word in a transaction.
func readWord(t *testing.T, pool *Pool) (word string) {
	t.Helper()
	err := pool.InTransaction(t.Context(), func(tx *Tx) error {
		return tx.Query(t.Context(), func(rows *sql.Rows) error { return rows.Scan(&word) },
			"SELECT word FROM words WHERE word <> $1", "another")
	})
	if err != nil {
		t.Fatal(err)
	}
	return word
}

func TestAConnectionToSQLiteCompilesAStatementOnce(t *testing.T) {
	c, db := openCounter(t)
	pool := NewPool(db)
	for range 5 {
		if word := readWord(t, pool); word != "permanent" {
			t.Errorf("read %q", word)
		}
	}
	if c.compiles.Load() != 1 || c.compiled.Load() != 1 { // the first transaction did not know the statement
		t.Errorf("%d executions compiled the statement, and it was kept %d times", c.compiles.Load(), c.compiled.Load())
	}
	exec(t, db, "CREATE TEMPORARY TABLE words (word TEXT)")
	exec(t, db, "INSERT INTO words VALUES ('temporary')")
	if word := readWord(t, pool); word != "temporary" {
		t.Errorf("after a change of the tables, the kept statement reads %q", word)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(c.file + "-wal"); !os.IsNotExist(err) {
		t.Errorf("a closed database left its log: %v", err)
	}
}

func TestAPoolThatIsNotUsedAnyMoreKeepsNoStatements(t *testing.T) {
	c, db := openCounter(t)
	func() {
		pool := NewPool(db)
		readWord(t, pool)
		readWord(t, pool)
	}()
	if c.compiled.Load() != 1 {
		t.Fatalf("the statement was kept %d times", c.compiled.Load())
	}
	for c.closed.Load() == 0 && t.Context().Err() == nil {
		runtime.GC()
	}
}

func TestStatementsBeyondTheLimitAreNotKept(t *testing.T) {
	c := &compiled{known: map[string]*sql.Stmt{}}
	c.statement(string(make([]byte, maxCompiled)))
	c.statement("SELECT $1")
	if len(c.known) != 1 || len(c.wanted) != 1 {
		t.Errorf("%d statements are kept", len(c.known))
	}
}

func TestSQLiteGetsParametersByTheirNumbers(t *testing.T) {
	const text = `SELECT '$1', "a$1" FROM t WHERE a = $1 AND b = $2`
	if got := (sqlite{}).numbered(text); got != `SELECT '$1', "a$1" FROM t WHERE a = ?1 AND b = ?2` {
		t.Errorf("got %s", got)
	}
}
