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

func TestALimiterAdmitsInFIFOOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(2)
		var in []int
		done := make(chan struct{})
		for i := range 10 {
			go func() {
				if err := l.acquire(t.Context()); err != nil {
					t.Error(err)
				}
				in = append(in, i)
				<-done
				l.release()
			}()
			synctest.Wait() // the next caller comes later
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

func TestAWaitEndsWithTheContext(t *testing.T) {
	l := newLimiter(1)
	if err := l.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.acquire(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	l.release()
	if err := l.acquire(t.Context()); err != nil {
		t.Errorf("the place was lost: %v", err)
	}
}

func TestAnUnlimitedLimiterNeverWaits(t *testing.T) {
	l := newLimiter(0)
	for range 100 {
		if err := l.acquire(t.Context()); err != nil {
			t.Error(err)
		}
	}
	l.release()
}

// poolOf returns a pool without a database.
func poolOf(t *testing.T, connections int) *Pool {
	t.Helper()
	sqldb := sql.OpenDB(noDatabase{})
	t.Cleanup(func() { _ = sqldb.Close() })
	sqldb.SetMaxOpenConns(connections)
	return NewPool(bun.NewDB(sqldb, pgdialect.New()))
}

// noDatabase is a driver without a database.
type noDatabase struct{}

func (noDatabase) Connect(context.Context) (driver.Conn, error) {
	return nil, errors.New("no database")
}
func (noDatabase) Driver() driver.Driver { return nil }

// poolOperations holds all operations of a Pool that use a connection.
var poolOperations = map[string]func(ctx context.Context, p *Pool) error{
	"reads":  func(ctx context.Context, p *Pool) error { return p.Query(ctx, Ignore, "SELECT 1") },
	"writes": func(ctx context.Context, p *Pool) error { _, err := p.Begin(ctx); return err },
	"appends": func(ctx context.Context, p *Pool) error {
		_, err := p.ExecAlone(ctx, "SELECT 1", nil)
		return err
	},
	"snapshot": func(ctx context.Context, p *Pool) error { _, err := p.Snapshot(ctx); return err },
}

// Every operation that uses a connection must wait in the limiter, and not in database/sql. The limiter admits one
// operation for each connection.
func TestAUseWaitsForItsPlace(t *testing.T) {
	pool := poolOf(t, 2)
	if cap(pool.connections) != 2 {
		t.Fatalf("there are %d places for 2 connections", cap(pool.connections))
	}
	pool.connections <- struct{}{}
	pool.connections <- struct{}{}
	for name, use := range poolOperations {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := use(ctx, pool)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) { // not the error of noDatabase
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
		for name, use := range poolOperations {
			err := use(t.Context(), pool)
			if err == nil || len(pool.connections) > 0 {
				t.Errorf("%s: %d places are taken after %v", name, len(pool.connections), err)
			}
		}
	}
}

// A session that writes first takes the place of its person. It leaves the place however it ends.
func TestASessionTakesAndLeavesThePlaceOfItsPerson(t *testing.T) {
	pool := poolOf(t, 2)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, write := range map[string]func(context.Context, *Session) error{
		"begins": func(ctx context.Context, s *Session) error { return s.Begin(ctx) },
		"writes alone": func(ctx context.Context, s *Session) error {
			_, err := s.WriteAlone(ctx, "append", "SELECT 1", nil)
			return err
		},
	} {
		first, second := &Session{Pool: pool}, &Session{Pool: pool}
		for _, session := range []*Session{first, second} {
			session.For("1")
			session.For("2") // waits for no second place
		}
		if err := write(t.Context(), first); err == nil || len(pool.connections) > 0 || pool.people.Keys() != 1 {
			t.Errorf("%s: %d connections and %d places are taken after %v", name, len(pool.connections),
				pool.people.Keys(), err)
		}
		if err := write(ended, second); !errors.Is(err, context.Canceled) {
			t.Errorf("a session that %s does not wait for its person: %v", name, err)
		}
		second.RollBack(t.Context())
		first.RollBack(t.Context())
		if n := pool.people.Keys(); n > 0 {
			t.Errorf("a session that %s has left %d places", name, n)
		}
	}
}

// A session with a transaction, such as one of the application, waits for no place.
func TestASessionWithATransactionWaitsForNoPlace(t *testing.T) {
	pool := poolOf(t, 1)
	leave, err := pool.people.Enter(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	session := &Session{Pool: pool, Tx: &Tx{}}
	session.For("1")
	if err := session.Begin(ctx); err != nil {
		t.Error(err)
	}
}
