package conformance

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
)

// onSQLite returns a harness that opens each store on a separate file. The file is a copy of a template with all
// tables, after the functions in changes have run on it.
func onSQLite(t testing.TB, driver databases.Driver, changes ...func(testing.TB, *bun.DB)) porttest.StoreHarness {
	t.Helper()
	path := filepath.Join(t.TempDir(), "template.db")
	db := driver.Open(t, databases.SQLiteURL(path))
	makeTables(t, db, sqliteTypes(), changes...)
	must(t, db.Close()) // this writes all changes to the file
	template, err := os.ReadFile(path)
	must(t, err)
	return porttest.StoreHarness{
		Patience: patience,
		Open: func(t testing.TB) porttest.Store {
			t.Helper()
			directory := t.TempDir()
			path := filepath.Join(directory, "test.db")
			must(t, os.WriteFile(path, template, 0o600))
			return openBun(t, driver, databases.SQLiteURL(path), func(testing.TB) string {
				return databases.SQLiteURL(filepath.Join(directory, "nowhere", "test.db"))
			}).Store
		},
		Waive: map[string]string{
			"outbox claims do not wait for each other": "SQLite has one write transaction at a time",
		},
	}
}

// onPostgreSQL returns a harness that opens stores in separate schemas. After a successful test case, the harness
// empties the tables of the schema and uses the schema again, which is ten times faster than new tables. The functions
// in changes run on new tables.
func onPostgreSQL(
	t testing.TB, driver databases.Driver, place func(c testing.TB) string, changes ...func(testing.TB, *bun.DB),
) porttest.StoreHarness {
	t.Helper()
	var mu sync.Mutex
	var free []opened
	take := func(c testing.TB) opened {
		c.Helper()
		mu.Lock()
		defer mu.Unlock()
		for len(free) > 0 {
			last := free[len(free)-1]
			free = free[:len(free)-1]
			if last.empty(c) {
				return last
			}
		}
		store := openBun(t, driver, place(c), unusedURL)
		makeTables(c, store.past, postgresTypes(), changes...)
		return store
	}
	return porttest.StoreHarness{
		Patience: patience,
		Open: func(c testing.TB) porttest.Store {
			c.Helper()
			store := take(c)
			c.Cleanup(func() {
				if !c.Failed() && store.Connections() == 0 {
					mu.Lock()
					defer mu.Unlock()
					free = append(free, store)
				}
			})
			return store.Store
		},
	}
}

// opened is a store, and a connection that the tests use to read and write the same database without the store.
type opened struct {
	porttest.Store
	past *bun.DB
}

// empty deletes all rows. Meanwhile, the triggers that protect the ledgers and the audit trail are disabled. empty
// returns false if a test case has not released a lock.
func (o opened) empty(t testing.TB) bool {
	t.Helper()
	text := "SET LOCAL lock_timeout = '1s';"
	for _, table := range slices.Backward(inOrder(porttest.DataMap().Tables())) {
		text += "DELETE FROM " + quote(table.Name) + ";"
	}
	for _, table := range []string{
		"consent_records", "restriction_records", "audit_events", "outbox", "subject_erasures", "duties", "positions",
		"requests", "holds",
	} {
		table = "habeas_" + table
		text += "ALTER TABLE " + table + " DISABLE TRIGGER USER; DELETE FROM " + table + ";" +
			"ALTER TABLE " + table + " ENABLE TRIGGER USER;"
	}
	text += "UPDATE habeas_installation SET registers = FALSE, retention_hash = NULL;"
	err := o.past.RunInTx(t.Context(), nil, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, text)
		return err
	})
	const lockNotAvailable = "55P03"
	if err != nil && strings.Contains(err.Error(), lockNotAvailable) {
		return false
	}
	must(t, err)
	return true
}

// unusedURL returns a URL of PostgreSQL whose port refuses connections.
func unusedURL(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	_ = listener.Close()
	return "postgres://nobody@" + listener.Addr().String() + "/nothing?sslmode=disable"
}

// makeTables creates the tables of habeas and of the shop in an empty database, and then calls the functions in
// changes.
func makeTables(
	t testing.TB, db *bun.DB, types map[datamap.ColumnType]string, changes ...func(testing.TB, *bun.DB),
) {
	t.Helper()
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	for _, change := range changes {
		change(t, db)
	}
	for _, statement := range createTables(porttest.DataMap(), types) {
		_, err := db.ExecContext(t.Context(), statement)
		must(t, err)
	}
}

// openBun opens a store on a database, in which the tables may still be missing. The last argument is a function that
// returns the URL of a database that does not exist.
func openBun(
	t testing.TB, driver databases.Driver, database string, nowhere func(testing.TB) string,
) opened {
	t.Helper()
	past := driver.Open(t, database)
	sent := &counter{}
	db := databases.WithHook(driver.Open(t, database), sent)
	shop, store := shop{past.DB, porttest.DataMap()}, newStore(t, db, nil)
	return opened{past: past, Store: porttest.Store{
		Sessions: store, Catalog: store, Finder: store,
		Observed: func(t testing.TB, observer ports.Observer) ports.SessionFactory {
			t.Helper()
			return newStore(t, db, observer)
		},
		Insert: shop.insert,
		Rows:   shop.rows,
		Unreachable: func(t testing.TB) porttest.Store {
			t.Helper()
			away := newStore(t, driver.Open(t, nowhere(t)), nil)
			return porttest.Store{Sessions: away, Catalog: away, Finder: away}
		},
		Tamper: func(t testing.TB, eventID string) (change, remove error) {
			t.Helper()
			_, change = db.DB.ExecContext(t.Context(),
				"UPDATE habeas_audit_events SET event_type = 'forged' WHERE event_id = $1", eventID)
			_, remove = db.DB.ExecContext(t.Context(), "DELETE FROM habeas_audit_events WHERE event_id = $1", eventID)
			return change, remove
		},
		Statements:  func() int { return int(sent.n.Load()) },
		Connections: func() int { return db.Stats().InUse },
		Erased: func(t testing.TB, id domain.SubjectID) (last time.Time, marked bool) {
			t.Helper()
			return erased(t, past.DB, id)
		},
		Entries: func(t testing.TB) []domain.OutboxEntry {
			t.Helper()
			return entries(t, past.DB)
		},
	}}
}

func newStore(t testing.TB, db *bun.DB, observer ports.Observer) *bunstore.Store {
	t.Helper()
	store, err := bunstore.New(db, porttest.DataMap(), bunstore.Options{Observer: observer})
	must(t, err)
	return store
}

var must = fixture.Must

type counter struct{ n atomic.Int64 }

func (c *counter) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if !strings.Contains(event.Query, "pg_notify") { // pg_notify runs at an unknown time after the session
		c.n.Add(1)
	}
	return ctx
}

func (c *counter) AfterQuery(context.Context, *bun.QueryEvent) {}

// patience is longer than the default, because packages run side by side, and one case opens 16 connections.
const patience = 30 * time.Second
