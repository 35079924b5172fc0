package schemas

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// awaitLock returns as soon as a connection to the database waits for a lock.
func (a *application) awaitLock(t testing.TB) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if a.count(t, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"+
			" AND datname = current_database()") > 0 {
			return
		}
	}
	t.Fatal("nothing waits for a lock")
}

// eraseDuring executes the statements in a transaction of the application. It then starts an erasure, and commits the
// transaction as soon as the erasure waits for a lock.
func (a *application) eraseDuring(t *testing.T, statements ...string) {
	t.Helper()
	tx, err := a.db.BeginTx(t.Context(), nil)
	must(t, err)
	execute(t, tx, statements...)
	erased := make(chan error, 1)
	go func() {
		_, err := a.erase(t.Context(), "1")
		erased <- err
	}()
	a.awaitLock(t)
	must(t, tx.Commit())
	must(t, <-erased)
}

func TestRowsInFlightAreErased(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"an order":            {"INSERT INTO orders VALUES (11, 1, 'in flight')"},
		"an item of an order": {"INSERT INTO items VALUES (101, 10, 'in flight')"},
		"an item of an order, as well": {
			"INSERT INTO orders VALUES (11, 1, 'in flight')", "INSERT INTO items VALUES (101, 11, 'in flight')",
		},
		"an item from another person":  {"UPDATE items SET order_id = 10 WHERE id = 200"},
		"an order from another person": {"UPDATE orders SET person_id = 1 WHERE id = 20"},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, onPostgres(t), app.Config{Models: shop}, shopTables()...)
			a.eraseDuring(t, statements...)
			left := a.count(t, "SELECT (SELECT count(*) FROM people WHERE id = 1)"+
				" + (SELECT count(*) FROM orders WHERE person_id = 1)"+
				" + (SELECT count(*) FROM items JOIN orders ON orders.id = order_id WHERE person_id = 1)")
			if left > 0 || a.count(t, "SELECT count(*) FROM items WHERE engraving = 'in flight'") > 0 {
				t.Errorf("%d rows are left", left)
			}
		})
	}
}

// A concurrent transaction inserts a letter during an erasure. The erasure must delete this letter, even if the default
// isolation level of the database is stricter than read committed. With a stricter level, the erasure could miss the
// letter. No foreign key would reveal the missed letter, because the erasure keeps the row of the client.
func TestRowsInFlightAreErasedUnderAnyDefaultIsolation(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			db := onPostgres(t)
			a := open(t, db, app.Config{Models: clients}, append(clientTables("clients"),
				"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint REFERENCES clients, body text)")...)
			execute(t, db, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = ''"+level+
				"''', current_database()); END $$")
			databases.Reconnect(db) // new connections have the setting
			a.eraseDuring(t, "INSERT INTO letters VALUES (11, 1, 'in flight')")
			if n := a.count(t, "SELECT count(*) FROM letters"); n > 0 {
				t.Errorf("%d letters are left", n)
			}
		})
	}
}

func TestAnErasureInATransactionThatCannotSeeRowsInFlightIsRefused(t *testing.T) {
	t.Parallel()
	a := open(t, onPostgres(t), app.Config{Models: shop}, shopTables()...)
	for level, want := range map[string]error{
		"READ COMMITTED": nil, "REPEATABLE READ": domain.ErrSession, "SERIALIZABLE": domain.ErrSession,
	} {
		tx, err := a.db.BeginTx(t.Context(), nil)
		must(t, err)
		execute(t, tx, "SET TRANSACTION ISOLATION LEVEL "+level)
		joined, err := a.Join(tx)
		must(t, err)
		subject := fixture.MustSubject(t, "1")
		err = joined.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := a.Stack().Eraser.Erase(ctx, s, subject)
			return err
		})
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v", level, err)
		}
		must(t, tx.Rollback())
	}
}

func TestWhatIsGivenToAnotherPersonSurvives(t *testing.T) {
	t.Parallel()
	a := open(t, onPostgres(t), app.Config{Models: shop}, shopTables()...)
	a.eraseDuring(t, "UPDATE orders SET person_id = 2 WHERE id = 10")
	if n := a.count(t, "SELECT count(*) FROM items WHERE id = 100"); n != 1 {
		t.Error("an item of the other person is gone")
	}
	if n := a.count(t, "SELECT count(*) FROM people WHERE id = 1"); n > 0 {
		t.Error("the person is left")
	}
}

// During the erasures of some people, transactions of the application add items to the orders of these people. Each
// erasure must succeed and delete the orders.
func TestABusyCartIsErased(t *testing.T) {
	t.Parallel()
	trigger := []string{
		"CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN COALESCE(NEW, OLD); END $$",
		"CREATE TRIGGER touch BEFORE INSERT OR UPDATE OR DELETE ON items FOR EACH ROW EXECUTE FUNCTION touch()",
		"CREATE TRIGGER touch BEFORE INSERT OR UPDATE OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION touch()",
	}
	for name, triggers := range map[string][]string{"without triggers": nil, "with triggers": trigger} {
		t.Run(name, func(t *testing.T) {
			const people, writers = 20, 4
			a := open(t, onPostgres(t), app.Config{Models: shop}, append(shopTables(), triggers...)...)
			for id := 3; id < 3+people; id++ {
				execute(t, a.db, fmt.Sprintf("INSERT INTO people VALUES (%d, 'x')", id),
					fmt.Sprintf("INSERT INTO orders VALUES (%d, %d, 'x')", id*10, id))
			}
			ctx, stop := context.WithCancel(t.Context())
			var all sync.WaitGroup
			for w := range writers {
				all.Go(func() {
					for n := 0; ctx.Err() == nil; n++ {
						for id := 3; id < 3+people; id++ {
							fill(ctx, a.db, 1_000_000*(w+1)+n*people*2+id, id)
						}
					}
				})
			}
			for id := 3; id < 3+people; id++ {
				if _, err := a.erase(t.Context(), fmt.Sprint(id)); err != nil {
					t.Errorf("person %d: %v (%v)", id, err, errors.Unwrap(err))
				}
			}
			stop()
			all.Wait()
			if n := a.count(t, "SELECT count(*) FROM orders WHERE id >= 30 OR person_id > 2"); n > 0 {
				t.Errorf("%d orders are left", n)
			}
		})
	}
}

// fill adds an item to an order in a transaction. It ignores errors, because the order may be erased already.
func fill(ctx context.Context, db *bun.DB, item, person int) {
	_ = db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO items VALUES (?, ?, 'x')", item, person*10); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE orders SET note = 'y' WHERE id = ?", person*10)
		return err
	})
}
