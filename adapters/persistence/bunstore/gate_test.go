package bunstore

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

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
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

// storeOn is a store on a database that nobody connects to.
func storeOn(t *testing.T, connections int) *Store {
	t.Helper()
	sqldb := sql.OpenDB(nobody{})
	t.Cleanup(func() { _ = sqldb.Close() })
	sqldb.SetMaxOpenConns(connections)
	dataMap, err := domain.NewDataMap(domain.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []domain.Column{{Name: "id", Type: domain.TypeBigInt}},
	})
	if err != nil {
		t.Fatal(err)
	}
	store, err := New(bun.NewDB(sqldb, pgdialect.New()), dataMap, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// nobody is a driver without a database.
type nobody struct{}

func (nobody) Connect(context.Context) (driver.Conn, error) {
	return nil, errors.New("nobody is there")
}
func (nobody) Driver() driver.Driver { return nil }

// Who waits for a connection waits at the gate, not in database/sql: there is a place for each connection, and every
// kind of session needs one.
func TestASessionWaitsForItsPlace(t *testing.T) {
	store := storeOn(t, 2)
	if cap(store.gate) != 2 {
		t.Fatalf("there are %d places for 2 connections", cap(store.gate))
	}
	store.gate <- struct{}{}
	store.gate <- struct{}{}
	for name, use := range map[string]func(ctx context.Context, s *session) error{
		"reads":   func(ctx context.Context, s *session) error { return s.read(ctx, "test", ignore, "SELECT 1") },
		"writes":  func(ctx context.Context, s *session) error { return s.begin(ctx) },
		"appends": func(ctx context.Context, s *session) error { return s.hold(ctx, events, 1, 2, 3, 4, 5) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := store.Do(ctx, func(ctx context.Context, s ports.Session) error { return use(ctx, s.(*session)) })
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) { // and not that nobody is there
			t.Errorf("a session that %s did not wait: %v", name, err)
		}
	}
	if n := len(store.gate); n != 2 {
		t.Errorf("%d places are taken, want 2", n)
	}
}

func TestASessionThatFailsLeavesItsPlace(t *testing.T) {
	store := storeOn(t, 1)
	for range 3 {
		for _, use := range []func(ctx context.Context, s *session) error{
			func(ctx context.Context, s *session) error { return s.read(ctx, "test", ignore, "SELECT 1") },
			func(ctx context.Context, s *session) error { return s.begin(ctx) },
			func(ctx context.Context, s *session) error { return s.hold(ctx, events, 1, 2, 3, 4, 5) },
		} {
			err := store.Do(t.Context(), func(ctx context.Context, s ports.Session) error { return use(ctx, s.(*session)) })
			if err == nil || len(store.gate) > 0 {
				t.Errorf("%d places are taken after %v", len(store.gate), err)
			}
		}
	}
}
