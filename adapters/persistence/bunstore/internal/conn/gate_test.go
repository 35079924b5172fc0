package conn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

func TestThoseWhoWaitComeInInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(2)
		var in []int
		done := make(chan struct{})
		for i := range 10 {
			go func() {
				if err := g.enter(t.Context()); err != nil {
					t.Error(err)
				}
				in = append(in, i)
				<-done
				g.leave()
			}()
			synctest.Wait() // the next one comes later
		}
		if len(in) != 2 {
			t.Errorf("%d are in, and there is room for 2", len(in))
		}
		for range 10 {
			done <- struct{}{}
			synctest.Wait()
		}
		if !slices.Equal(in, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
			t.Errorf("they came in as %v", in)
		}
	})
}

func TestNobodyWaitsForLongerThanTheContext(t *testing.T) {
	g := newGate(1)
	if err := g.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.enter(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	g.leave()
	if err := g.enter(t.Context()); err != nil {
		t.Errorf("the place was lost: %v", err)
	}
}

func TestWithoutALimitNobodyWaits(t *testing.T) {
	g := newGate(0)
	for range 100 {
		if err := g.enter(t.Context()); err != nil {
			t.Error(err)
		}
	}
	g.leave()
}

// poolOf is a pool on a database that nobody connects to.
func poolOf(t *testing.T, connections int) *Pool {
	t.Helper()
	sqldb := sql.OpenDB(nobody{})
	t.Cleanup(func() { _ = sqldb.Close() })
	sqldb.SetMaxOpenConns(connections)
	return NewPool(bun.NewDB(sqldb, pgdialect.New()))
}

// nobody is a driver without a database.
type nobody struct{}

func (nobody) Connect(context.Context) (driver.Conn, error) {
	return nil, errors.New("nobody is there")
}
func (nobody) Driver() driver.Driver { return nil }

// uses are all ways to use a connection.
var uses = map[string]func(ctx context.Context, p *Pool) error{
	"reads":    func(ctx context.Context, p *Pool) error { return p.Query(ctx, Ignore, "SELECT 1") },
	"writes":   func(ctx context.Context, p *Pool) error { _, err := p.Begin(ctx); return err },
	"appends":  func(ctx context.Context, p *Pool) error { return p.ExecAlone(ctx, "SELECT 1", nil) },
	"snapshot": func(ctx context.Context, p *Pool) error { _, err := p.Snapshot(ctx); return err },
}

// Who waits for a connection waits at the gate, not in database/sql: there is a place for each connection, and every
// kind of use needs one.
func TestAUseWaitsForItsPlace(t *testing.T) {
	pool := poolOf(t, 2)
	if cap(pool.connections) != 2 {
		t.Fatalf("there are %d places for 2 connections", cap(pool.connections))
	}
	pool.connections <- struct{}{}
	pool.connections <- struct{}{}
	for name, use := range uses {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := use(ctx, pool)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) { // and not that nobody is there
			t.Errorf("a use that %s did not wait: %v", name, err)
		}
	}
	if n := len(pool.connections); n != 2 {
		t.Errorf("%d places are taken, want 2", n)
	}
}

func TestAUseThatFailsLeavesItsPlace(t *testing.T) {
	pool := poolOf(t, 1)
	for range 3 {
		for name, use := range uses {
			err := use(t.Context(), pool)
			if err == nil || len(pool.connections) > 0 {
				t.Errorf("%s: %d places are taken after %v", name, len(pool.connections), err)
			}
		}
	}
}
