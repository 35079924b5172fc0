package conn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"

	"github.com/uptrace/bun"
)

// Row is a row of a result. Scan works like sql.Rows.Scan.
type Row interface{ Scan(dest ...any) error }

const (
	directColumns = 5 // the number of columns that a statement of QueryDirect returns
	directArgs    = 2 // the number of parameters of such a statement
)

// QueryDirect runs a statement that only reads, outside a transaction and directly on the driver's connection. It is
// faster than Query. database/sql starts a goroutine for each query whose context can end, and makes the rows safe for
// concurrent use. QueryDirect needs neither: it reads all rows before it returns, and the driver ends the query when
// the context ends. With Query instead, the line "cost consent_get 16" of make bench-quick is 1.33 instead of 1.21
// (medians of eight runs of each).
//
// The statement has directArgs parameters and returns directColumns columns. The targets of the columns are strings,
// booleans or scanners. QueryDirect calls visit for each row. If the driver or the type of a column is not supported,
// or the connection is bad, QueryDirect repeats the query through database/sql, and calls visit for all rows again.
func (p *Pool) QueryDirect(ctx context.Context, visit func(Row) error, text string, args [directArgs]string) error {
	if err := p.connections.acquire(ctx); err != nil {
		return err
	}
	defer p.connections.release()
	text = p.database.numbered(text)
	q := &directQuery{IConn: p.db.DB, db: p.db.DB, text: text, visit: visit}
	for i, arg := range args {
		q.args[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	_, err := p.db.NewRaw(text).Conn(q).Exec(ctx)
	return err
}

// directQuery is one query of QueryDirect. It is also the connection that bun uses for the query, so that bun calls the
// query hooks.
type directQuery struct {
	bun.IConn
	db    *sql.DB
	text  string
	args  [directArgs]driver.NamedValue
	visit func(Row) error
	row   directRow
	ctx   context.Context //nolint:containedctx // the context of ExecContext, for run
}

// ExecContext implements bun.IConn.
func (q *directQuery) ExecContext(ctx context.Context, _ string, _ ...any) (sql.Result, error) {
	err := q.onConnection(ctx)
	if errors.Is(err, errNotDirect) || errors.Is(err, driver.ErrSkip) || errors.Is(err, driver.ErrBadConn) {
		err = q.throughPool(ctx)
	}
	return driver.ResultNoRows, err
}

// errNotDirect means that QueryDirect must repeat the query through database/sql.
var errNotDirect = errors.New("the driver or a type is not known")

func (q *directQuery) onConnection(ctx context.Context) error {
	connection, err := q.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }() // fails only if Raw has closed a bad connection
	q.ctx = ctx
	return connection.Raw(q.run)
}

// run runs the query on connection, which is the connection of the driver.
func (q *directQuery) run(connection any) error {
	able, ok := connection.(driver.QueryerContext)
	if !ok {
		return errNotDirect
	}
	rows, err := able.QueryContext(q.ctx, q.text, q.args[:])
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Next returns the errors of the query
	for {
		err := rows.Next(q.row[:])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = q.visit(&q.row)
		}
		if err != nil {
			return err
		}
	}
}

// throughPool runs the query through database/sql.
func (q *directQuery) throughPool(ctx context.Context) error {
	var args [directArgs]any
	for i, arg := range q.args {
		args[i] = arg.Value
	}
	rows, err := q.db.QueryContext(ctx, q.text, args[:]...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := q.visit(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// directRow is a row as the driver returns it.
type directRow [directColumns]driver.Value

// Scan implements Row. It returns errNotDirect if it does not support the type of a target or of a value.
func (r *directRow) Scan(dest ...any) error {
	for i, target := range dest {
		switch target := target.(type) {
		case sql.Scanner:
			if err := target.Scan(r[i]); err != nil {
				return err
			}
		case *string:
			switch value := r[i].(type) {
			case string:
				*target = value
			case []byte:
				*target = string(value)
			default:
				return errNotDirect
			}
		case *bool:
			value, err := driver.Bool.ConvertValue(r[i])
			truth, ok := value.(bool)
			if err != nil || !ok {
				return errNotDirect
			}
			*target = truth
		default:
			return errNotDirect
		}
	}
	return nil
}
