package bunstore_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
)

// timingOut is a driver that behaves like pgdriver: it sets the deadline of the context on its network connection. Its
// BeginTx fails with the timeout of the network connection. It implements driver.Connector and driver.Conn.
type timingOut struct{ driver.Conn }

func (d timingOut) Connect(context.Context) (driver.Conn, error) { return d, nil }
func (timingOut) Driver() driver.Driver                          { return nil }
func (timingOut) Close() error                                   { return nil }

func (timingOut) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	return nil, &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
}

// QueryContext returns the encodings and the version that Migrate reads before it begins a transaction.
func (timingOut) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return &environmentRow{}, nil
}

type environmentRow struct{ read bool }

func (*environmentRow) Columns() []string { return []string{"environment"} }
func (*environmentRow) Close() error      { return nil }

func (r *environmentRow) Next(into []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read, into[0] = true, "UTF8 UTF8 150000 on"
	return nil
}

// unaware is a context with a deadline. It does not end at the deadline.
type unaware struct {
	context.Context
	deadline time.Time
}

func (u unaware) Deadline() (time.Time, bool) { return u.deadline, true }

func TestADeadlineThatTheDriverNoticesFirstIsTheContexts(t *testing.T) {
	t.Parallel()
	sqldb := sql.OpenDB(timingOut{})
	t.Cleanup(func() { _ = sqldb.Close() })
	db := bun.NewDB(sqldb, pgdialect.New())
	migrate := func(deadline time.Time) error {
		return bunstore.Migrate(unaware{t.Context(), deadline}, db, bunstore.Options{})
	}
	if err := migrate(time.Unix(0, 0)); !errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("past the deadline: %v", err)
	}
	if err := migrate(time.Now().Add(time.Hour)); !errors.Is(err, domain.ErrUnavailable) ||
		errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("long before the deadline: %v", err)
	}
}

// oldDriver is a driver that begins only transactions without options.
type oldDriver struct{ timingOut }

func (d oldDriver) Connect(context.Context) (driver.Conn, error) { return d, nil }
func (d oldDriver) Driver() driver.Driver                        { return d }
func (d oldDriver) Open(string) (driver.Conn, error)             { return d, nil }

func (oldDriver) BeginTx(_ context.Context, options driver.TxOptions) (driver.Tx, error) {
	if options.ReadOnly {
		return nil, errors.New("pgdriver: ReadOnly transactions are not supported")
	}
	return nil, errors.New("pgdriver: custom transaction isolation is not supported")
}

func TestADriverWithoutIsolationLevelsIsNamed(t *testing.T) {
	t.Parallel()
	sqldb := sql.OpenDB(oldDriver{})
	t.Cleanup(func() { _ = sqldb.Close() })
	db := bun.NewDB(sqldb, pgdialect.New())
	migrating := bunstore.Migrate(t.Context(), db, bunstore.Options{})
	_, reading := schemaOf(t, db).Catalog(t.Context())
	for what, err := range map[string]error{"migrate": migrating, "read the catalog": reading} {
		if !errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), "oldDriver") ||
			!strings.Contains(err.Error(), "pgdriver 1.2.15") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
