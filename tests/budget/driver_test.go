package budget_test

import (
	"context"
	"database/sql/driver"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// counting is a database connector whose connections count their round trips to the server.
type counting struct {
	driver.Connector
	trips *atomic.Int64
}

func newCounting(url string) (counting, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return counting{}, err
	}
	return counting{stdlib.GetConnector(*config), &atomic.Int64{}}, nil
}

func (c counting) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &connection{opened.(*stdlib.Conn), c.trips}, nil
}

// connection is a connection of pgx that counts its round trips.
type connection struct {
	*stdlib.Conn
	trips *atomic.Int64
}

func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.trips.Add(1)
	return c.Conn.QueryContext(ctx, query, args)
}

func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.trips.Add(1)
	return c.Conn.ExecContext(ctx, query, args)
}

func (c *connection) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.trips.Add(1)
	return c.Conn.PrepareContext(ctx, query)
}

func (c *connection) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.trips.Add(1)
	tx, err := c.Conn.BeginTx(ctx, opts)
	return transaction{tx, c.trips}, err
}

type transaction struct {
	driver.Tx
	trips *atomic.Int64
}

func (t transaction) Commit() error {
	t.trips.Add(1)
	return t.Tx.Commit()
}

func (t transaction) Rollback() error {
	t.trips.Add(1)
	return t.Tx.Rollback()
}
