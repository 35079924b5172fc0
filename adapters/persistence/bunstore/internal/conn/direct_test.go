package conn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

// fakeDriver is a driver whose connections fail as the test configures. It records its queries.
type fakeDriver struct {
	directly bool // its connections run queries without preparing them
	fails    []error
	values   []driver.Value
	queries  []string
}

func (d *fakeDriver) Connect(context.Context) (driver.Conn, error) {
	if d.directly {
		return &ableConn{preparing{d}}, nil
	}
	return &preparing{d}, nil
}

func (d *fakeDriver) Driver() driver.Driver { return nil }

func (d *fakeDriver) query(way string, args []driver.NamedValue) (driver.Rows, error) {
	query := way
	for _, arg := range args {
		query += " " + arg.Value.(string)
	}
	d.queries = append(d.queries, query)
	if len(d.fails) > 0 {
		err := d.fails[0]
		d.fails = d.fails[1:]
		if err != nil {
			return nil, err
		}
	}
	return &oneRow{values: d.values}, nil
}

type preparing struct{ *fakeDriver }

func (c *preparing) Prepare(string) (driver.Stmt, error) { return &fakeStatement{c.fakeDriver}, nil }
func (c *preparing) Close() error                        { return nil }
func (c *preparing) Begin() (driver.Tx, error)           { return nil, errors.New("unexpected") }

type ableConn struct{ preparing }

func (c *ableConn) QueryContext(_ context.Context, _ string, args []driver.NamedValue) (driver.Rows, error) {
	return c.query("direct", args)
}

type fakeStatement struct{ *fakeDriver }

func (s *fakeStatement) Close() error  { return nil }
func (s *fakeStatement) NumInput() int { return directArgs }
func (s *fakeStatement) Exec([]driver.Value) (driver.Result, error) {
	return nil, errors.New("unexpected")
}

func (s *fakeStatement) Query([]driver.Value) (driver.Rows, error) {
	return nil, errors.New("unexpected")
}

func (s *fakeStatement) QueryContext(_ context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.query("prepared", args)
}

type oneRow struct {
	values []driver.Value
	read   bool
}

func (r *oneRow) Columns() []string { return []string{"a", "b", "c", "d"} }
func (r *oneRow) Close() error      { return nil }

func (r *oneRow) Next(into []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read = true
	copy(into, r.values)
	return nil
}

func TestADirectQueryFallsBackToThePool(t *testing.T) {
	plain := []driver.Value{"text", true, int64(7), []byte("bytes")}
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		driver  fakeDriver
		queries []string
		err     error
	}{
		"a driver that is able": {fakeDriver{directly: true, values: plain}, []string{"direct s p"}, nil},
		"numbers for a boolean": {
			fakeDriver{directly: true, values: []driver.Value{[]byte("text"), int64(1), int64(7), "bytes"}},
			[]string{"direct s p"},
			nil,
		},
		"a driver that only prepares": {fakeDriver{values: plain}, []string{"prepared s p"}, nil},
		"a driver that declines": {
			fakeDriver{directly: true, values: plain, fails: []error{driver.ErrSkip, driver.ErrSkip}},
			[]string{"direct s p", "direct s p", "prepared s p"},
			nil,
		},
		"bad connections": {
			fakeDriver{directly: true, values: plain, fails: []error{driver.ErrBadConn, driver.ErrBadConn}},
			[]string{"direct s p", "direct s p", "direct s p"},
			nil,
		},
		"a type that only database/sql knows": {
			fakeDriver{directly: true, values: []driver.Value{"text", "true", int64(7), int64(5)}},
			[]string{"direct s p", "direct s p"},
			nil,
		},
		"a query that fails": {
			fakeDriver{directly: true, values: plain, fails: []error{broken}}, []string{"direct s p"}, broken,
		},
	} {
		t.Run(name, func(t *testing.T) {
			hook := &countingHook{}
			db := bun.NewDB(sql.OpenDB(&test.driver), pgdialect.New()).WithQueryHook(hook)
			t.Cleanup(func() { _ = db.Close() })
			db.SetMaxOpenConns(1)
			pool := NewPool(db)
			var text, last string
			var truth bool
			var number sql.NullInt64
			err := pool.QueryDirect(t.Context(), func(row Row) error {
				return row.Scan(&text, &truth, &number, &last)
			}, "SELECT", [...]string{"s", "p"})
			if !errors.Is(err, test.err) || !slices.Equal(test.driver.queries, test.queries) {
				t.Errorf("%v after %q", err, test.driver.queries)
			}
			if err == nil && (text != "text" || !truth || number.Int64 != 7 || last == "") {
				t.Errorf("read %q, %v, %v, %q", text, truth, number, last)
			}
			if hook.calls != 1 {
				t.Errorf("the hook was called %d times", hook.calls)
			}
			if used := db.Stats().InUse; used > 0 || len(pool.connections) > 0 {
				t.Errorf("%d connections and %d places are kept", used, len(pool.connections))
			}
		})
	}
}

// QueryDirect releases the connection even if visit returns an error or panics.
func TestADirectQueryGivesItsConnectionBack(t *testing.T) {
	db := bun.NewDB(sql.OpenDB(&fakeDriver{directly: true, values: make([]driver.Value, 4)}), pgdialect.New())
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	pool, broken := NewPool(db), errors.New("broken")
	run := func(visit func(Row) error) (err error) {
		defer func() {
			if value := recover(); value != nil {
				err, _ = value.(error)
			}
		}()
		return pool.QueryDirect(t.Context(), visit, "SELECT", [...]string{"s", "p"})
	}
	for _, visit := range []func(Row) error{
		func(Row) error { return broken }, func(Row) error { panic(broken) },
	} {
		if err := run(visit); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
		if used := db.Stats().InUse; used > 0 || len(pool.connections) > 0 {
			t.Errorf("%d connections and %d places are kept", used, len(pool.connections))
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := pool.QueryDirect(ended, func(Row) error { return nil }, "SELECT", [...]string{"s", "p"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

type countingHook struct{ calls int }

func (h *countingHook) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context {
	return ctx
}
func (h *countingHook) AfterQuery(context.Context, *bun.QueryEvent) { h.calls++ }
