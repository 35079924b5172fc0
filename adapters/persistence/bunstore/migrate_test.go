package bunstore_test

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/postgres"
)

// ownTables are the tables of habeas.
var ownTables = []string{
	"habeas_ancestors", "habeas_audit_events", "habeas_consent_records", "habeas_duties", "habeas_holds",
	"habeas_installation", "habeas_migrations", "habeas_outbox", "habeas_positions", "habeas_requests",
	"habeas_restriction_records", "habeas_subject_erasures",
}

// catalog returns descriptions of all tables with their columns, indexes, triggers and functions, by table name. On
// PostgreSQL, it describes only the tables of the schema.
func catalog(t testing.TB, db bun.IDB, schema string) map[string]string {
	t.Helper()
	query, args := `SELECT name, coalesce(sql, '') AS text FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'`, []any(nil)
	if db.Dialect().Name() == dialect.PG {
		query, args = `SELECT c.relname AS name, c.relkind::text || coalesce(pg_get_indexdef(i.indexrelid), '') || coalesce((
				SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
						pg_get_expr(adbin, adrelid)), ', ' ORDER BY attnum)
				FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
				WHERE attrelid = c.oid AND attnum > 0), '') AS text
			FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid WHERE c.relnamespace = to_regnamespace(?0)
			UNION ALL SELECT tgname, pg_get_triggerdef(g.oid) FROM pg_trigger g JOIN pg_class c ON c.oid = tgrelid
				WHERE NOT tgisinternal AND c.relnamespace = to_regnamespace(?0)
			UNION ALL SELECT proname, prosrc FROM pg_proc WHERE pronamespace = to_regnamespace(?0)`, []any{schema}
	}
	var rows []struct{ Name, Text string }
	must(t, db.NewRaw(query, args...).Scan(t.Context(), &rows))
	made := map[string]string{}
	for _, row := range rows {
		made[row.Name] = row.Text
	}
	return made
}

// tablesIn returns the names of the tables of habeas that the map byName contains.
func tablesIn(byName map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(byName)),
		func(name string) bool { return !slices.Contains(ownTables, name) })
}

// wantCatalog fails unless both catalogs are equal.
func wantCatalog(t testing.TB, got, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s:\n got %s\nwant %s", name, got[name], want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, wanted := want[name]; !wanted {
			t.Errorf("%s is there", name)
		}
	}
}

func TestMigratingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		once := catalog(t, db, "public")
		if tables := tablesIn(once); !slices.Equal(tables, ownTables) {
			t.Fatalf("the tables are %v", tables)
		}
		execute(t, db, "INSERT INTO habeas_subject_erasures VALUES ('1', '2024-03-01T12:00:00.000000Z', 1, 1, NULL, NULL,"+
			" NULL, NULL, 0, 0, 0)")
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		wantCatalog(t, catalog(t, db, "public"), once)
		if rows, err := db.NewSelect().Table("habeas_subject_erasures").Count(t.Context()); err != nil || rows != 1 {
			t.Errorf("%d rows are left, %v", rows, err)
		}
	})
}

func TestConcurrentMigrationsWaitForEachOther(t *testing.T) {
	t.Parallel()
	concurrently := func(t *testing.T, db *bun.DB) {
		t.Helper()
		start := make(chan struct{})
		failures := make([]error, 10)
		var all sync.WaitGroup
		for i := range failures {
			all.Go(func() {
				<-start
				failures[i] = bunstore.Migrate(t.Context(), db, bunstore.Options{})
			})
		}
		close(start)
		all.Wait()
		for _, err := range failures {
			if err != nil {
				t.Errorf("%v (%v)", err, errors.Unwrap(err))
			}
		}
		if rows, err := db.NewSelect().Table("habeas_migrations").Count(t.Context()); err != nil || rows != 1 {
			t.Errorf("%d migrations were applied, %v", rows, err)
		}
	}
	databases.Each(t, concurrently)
	for _, isolation := range []string{"repeatable%20read", "serializable"} {
		t.Run("PostgreSQL, "+isolation, func(t *testing.T) {
			concurrently(t, openDB(t, "pgx", postgres.NewDatabase(t)+"&default_transaction_isolation="+isolation))
		})
	}
}

func TestTheStatesOfMigrationsAreListed(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		state := func(want domain.MigrationState) {
			t.Helper()
			states, err := bunstore.MigrationStates(t.Context(), db, bunstore.Options{})
			must(t, err)
			if !slices.Equal(states, []domain.Migration{
				{Name: "0001_habeas.sql", State: want},
			}) {
				t.Errorf("got %v, want %s", states, want)
			}
		}
		state(domain.MigrationPending)
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		state(domain.MigrationApplied)
		execute(t, db, "DROP TABLE habeas_migrations")
		state(domain.MigrationUnrecorded)
	})
}

func TestMigratingNeedsOneConnection(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		db.SetMaxOpenConns(1)
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	})
}

func TestMigrationsCanBeAppliedByHand(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		want := catalog(t, db, "public")
		delete(want, "habeas_migrations")
		delete(want, "habeas_migrations_pkey")

		other := databases.SQLite
		if db.Dialect().Name() == dialect.PG {
			other = databases.PostgreSQL
		}
		byHand := other(t)
		files, err := bunstore.Migrations(byHand)
		must(t, err)
		must(t, fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := fs.ReadFile(files, name)
			for _, statement := range strings.Split(string(text), "\n\n") {
				execute(t, byHand, statement)
			}
			return err
		}))
		wantCatalog(t, catalog(t, byHand, "public"), want)
	})
}

func TestMigratingTouchesNoTableOfTheApplication(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		for _, model := range models {
			databases.Create(t, db, model)
		}
		before := catalog(t, db, "public")
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		after := catalog(t, db, "public")
		maps.DeleteFunc(after, func(name, _ string) bool { return strings.HasPrefix(name, "habeas_") })
		wantCatalog(t, after, before)
	})
}

func TestAMigrationThatFailsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		execute(t, db, "CREATE TABLE habeas_outbox (mine INTEGER)") // makes the creation of the third table fail
		before := catalog(t, db, "public")
		err := bunstore.Migrate(t.Context(), db, bunstore.Options{})
		wantSilence(t, err, "CREATE", "exists")
		wantDriverError(t, db, err)
		if !strings.Contains(err.Error(), "migrate: 0001_habeas.sql") {
			t.Errorf("%q does not name the file", err)
		}
		wantCatalog(t, catalog(t, db, "public"), before)
		execute(t, db, "DROP TABLE habeas_outbox")
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	})
}

// asReplica makes PostgreSQL skip all triggers that are not ENABLE ALWAYS, until the end of the statement's
// transaction.
const asReplica = "SELECT set_config('session_replication_role', 'replica', TRUE); "

func TestTheAuditTrailIsAppendOnlyInTheDatabase(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		event := "('e1', 'consent_granted', '1', '2024-03-01T12:00:00.000000Z', '{}')"
		add := "INSERT INTO habeas_audit_events (event_id, event_type, subject_ref, occurred_at, payload) VALUES "
		execute(t, db, add+event)
		attempts := []string{
			"UPDATE habeas_audit_events SET payload = '{}'",
			"UPDATE habeas_audit_events SET event_id = 'e2' WHERE event_id = 'e1'",
			"DELETE FROM habeas_audit_events",
			"DELETE FROM habeas_audit_events WHERE event_id = 'e1'",
			add + event + " ON CONFLICT (event_id) DO UPDATE SET payload = '{}'",
		}
		if db.Dialect().Name() == dialect.PG {
			attempts = append(attempts, "TRUNCATE habeas_audit_events", "TRUNCATE habeas_audit_events RESTART IDENTITY CASCADE",
				asReplica+"DELETE FROM habeas_audit_events")
		} else {
			attempts = append(attempts, "UPDATE OR REPLACE habeas_audit_events SET payload = '[]'",
				"INSERT OR REPLACE"+strings.TrimPrefix(add, "INSERT")+event,
				"REPLACE INTO habeas_audit_events VALUES (1, 'e2', 'consent_granted', '1', '2024-03-01T12:00:00.000000Z', '{}')")
		}
		for _, attempt := range attempts {
			if _, err := db.ExecContext(t.Context(), attempt); err == nil || !strings.Contains(err.Error(), "append-only") {
				t.Errorf("%s: %v", attempt, err)
			}
		}
		execute(t, db, add+"('e2', 'consent_granted', '1', '2024-03-01T12:00:00.000000Z', '{}')")
		if rows, err := db.NewSelect().Table("habeas_audit_events").Where("event_id IN ('e1', 'e2')").
			Count(t.Context()); err != nil || rows != 2 {
			t.Errorf("%d events are left, %v", rows, err)
		}
	})
}

// foreign is the dialect of a database that is not supported.
type foreign struct{ *pgdialect.Dialect }

func (foreign) Name() dialect.Name { return dialect.MySQL }

func TestAnotherDialectIsRefused(t *testing.T) {
	t.Parallel()
	db := bun.NewDB(nil, foreign{pgdialect.New()})
	dataMap := mapOf(t, unconnected(), models)
	_, newErr := bunstore.New(db, dataMap, bunstore.Options{})
	_, migrationsErr := bunstore.Migrations(db)
	for _, err := range []error{newErr, migrationsErr, bunstore.Migrate(t.Context(), db, bunstore.Options{})} {
		if !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("got %v", err)
		}
	}
}
