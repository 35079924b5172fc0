package bunstore

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Tx returns the transaction of a session for statements of the application, for example in a hook. The statements
// commit and roll back with the session. The first statement begins the transaction if the session has none.
//
// The returned handle must be used only in the goroutine of the session and only before the session ends. A failed
// statement fails the session, even if the caller ignores the error, because PostgreSQL accepts no more statements in a
// failed transaction. BeginTx and RunInTx of the handle return domain.ErrSession, because transactions cannot be
// nested.
//
// The session buffers the records that it appends, so a statement may not see them. After the first statement,
// SubjectStore.Export returns domain.ErrSession, except in a session of Joined.
//
// Tx returns domain.ErrConfiguration if the session does not belong to this package, and domain.ErrSession if the
// session has ended.
func Tx(s ports.Session) (bun.IDB, error) {
	own, ok := s.(*session)
	if !ok {
		return nil, domain.Misconfigured("bunstore", "only a session of this package has a transaction")
	}
	if err := own.db.Usable(); err != nil {
		return nil, err
	}
	return handle{own.store.db, statements{own}}, nil
}

// statements runs statements of the application in a session. A failed statement fails the session.
type statements struct{ session *session }

// conn begins the transaction if necessary and returns its connection.
func (s statements) conn(ctx context.Context) (bun.IConn, error) {
	if err := s.session.db.Begin(ctx); err != nil {
		return nil, err
	}
	s.session.unsent.Prefetched = nil
	return s.session.db.Tx.Conn(), nil
}

// note records the error of a statement in the session, so that the session fails.
func (s statements) note(ctx context.Context, err error) {
	_ = s.session.db.Fail(ctx, "statement of the application", err)
}

func (s statements) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	conn, err := s.conn(ctx)
	if err != nil {
		return nil, err
	}
	result, err := conn.ExecContext(ctx, text, args...)
	s.note(ctx, err)
	return result, err
}

func (s statements) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	conn, err := s.conn(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, text, args...)
	s.note(ctx, err)
	return rows, err
}

func (s statements) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	conn, err := s.conn(ctx)
	if err != nil { // a sql.Row cannot be made from an error: a query with an ended context returns a failed row
		ended, cancel := context.WithCancel(ctx)
		cancel()
		return s.session.store.db.DB.QueryRowContext(ended, text)
	}
	row := conn.QueryRowContext(ctx, text, args...)
	s.note(ctx, row.Err())
	return row
}

// handle implements bun.IDB in the same way as bun.Tx.
type handle struct {
	db   *bun.DB
	conn statements
}

var _ bun.IDB = handle{}

func (h handle) Dialect() schema.Dialect { return h.db.Dialect() }

func (h handle) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	return h.NewRaw(text, args...).Exec(ctx)
}

func (h handle) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return h.conn.QueryContext(ctx, h.NewRaw(text, args...).String())
}

func (h handle) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	return h.conn.QueryRowContext(ctx, h.NewRaw(text, args...).String())
}

func (h handle) NewValues(model any) *bun.ValuesQuery {
	return bun.NewValuesQuery(h.db, model).Conn(h.conn)
}
func (h handle) NewSelect() *bun.SelectQuery { return bun.NewSelectQuery(h.db).Conn(h.conn) }
func (h handle) NewInsert() *bun.InsertQuery { return bun.NewInsertQuery(h.db).Conn(h.conn) }
func (h handle) NewUpdate() *bun.UpdateQuery { return bun.NewUpdateQuery(h.db).Conn(h.conn) }
func (h handle) NewDelete() *bun.DeleteQuery { return bun.NewDeleteQuery(h.db).Conn(h.conn) }
func (h handle) NewMerge() *bun.MergeQuery   { return bun.NewMergeQuery(h.db).Conn(h.conn) }

func (h handle) NewRaw(text string, args ...any) *bun.RawQuery {
	return bun.NewRawQuery(h.db, text, args...).Conn(h.conn)
}

func (h handle) NewCreateTable() *bun.CreateTableQuery {
	return bun.NewCreateTableQuery(h.db).Conn(h.conn)
}
func (h handle) NewDropTable() *bun.DropTableQuery { return bun.NewDropTableQuery(h.db).Conn(h.conn) }
func (h handle) NewCreateIndex() *bun.CreateIndexQuery {
	return bun.NewCreateIndexQuery(h.db).Conn(h.conn)
}
func (h handle) NewDropIndex() *bun.DropIndexQuery { return bun.NewDropIndexQuery(h.db).Conn(h.conn) }
func (h handle) NewAddColumn() *bun.AddColumnQuery { return bun.NewAddColumnQuery(h.db).Conn(h.conn) }
func (h handle) NewDropColumn() *bun.DropColumnQuery {
	return bun.NewDropColumnQuery(h.db).Conn(h.conn)
}

func (h handle) NewTruncateTable() *bun.TruncateTableQuery {
	return bun.NewTruncateTableQuery(h.db).Conn(h.conn)
}

func (handle) BeginTx(context.Context, *sql.TxOptions) (bun.Tx, error) {
	return bun.Tx{}, noTransactionInside()
}

func (handle) RunInTx(context.Context, *sql.TxOptions, func(context.Context, bun.Tx) error) error {
	return noTransactionInside()
}

func noTransactionInside() error {
	return &domain.Error{
		Code: domain.ErrSession, Op: "session",
		Message: "transactions cannot be nested: run the statements in the transaction of the session",
	}
}
