package bunstore

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"
)

// prepared is a connection together with the parameters of one statement. bun writes parameters into the text of a
// query; given to it as the connection of a raw query without parameters, this passes them to the driver instead,
// and the query hooks of the application still see the statement.
type prepared struct {
	bun.IConn
	args []any
}

func (p prepared) ExecContext(ctx context.Context, query string, _ ...any) (sql.Result, error) {
	return p.IConn.ExecContext(ctx, query, p.args...)
}

func (p prepared) QueryContext(ctx context.Context, query string, _ ...any) (*sql.Rows, error) {
	return p.IConn.QueryContext(ctx, query, p.args...)
}

// eachRow lets bun hand its rows to a function, one at a time. It implements bun.Model.
type eachRow func(*sql.Rows) error

func (each eachRow) Value() any { return nil }

func (each eachRow) ScanRows(_ context.Context, rows *sql.Rows) (int, error) {
	n := 0
	for rows.Next() {
		if err := each(rows); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Err()
}

// exec runs a statement on conn and returns how many rows it changed.
func exec(ctx context.Context, db *bun.DB, conn bun.IConn, text string, args ...any) (int64, error) {
	result, err := db.NewRaw(text).Conn(prepared{conn, args}).Exec(ctx)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// query runs a statement on conn and calls each for every row.
func query(ctx context.Context, db *bun.DB, conn bun.IConn, each func(*sql.Rows) error, text string, args ...any) error {
	return db.NewRaw(text).Conn(prepared{conn, args}).Scan(ctx, eachRow(each))
}
