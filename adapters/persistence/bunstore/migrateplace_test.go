package bunstore_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/ports"
)

// asRole creates a role that may only use the tables of habeas in the schema public. The first returned handle is
// connected as this role.
func asRole(t testing.TB) (db *bun.DB, admin *bun.DB, role string) {
	t.Helper()
	url := postgres.NewDatabase(t)
	admin = openDB(t, "pgx", url)
	must(t, bunstore.Migrate(t.Context(), admin, bunstore.Options{}))
	must(t, admin.NewRaw("SELECT 'user_' || current_database()").Scan(t.Context(), &role))
	execute(t, admin, "CREATE ROLE "+role+" LOGIN", "REVOKE ALL ON SCHEMA public FROM PUBLIC",
		"GRANT USAGE ON SCHEMA public TO "+role,
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "+role)
	t.Cleanup(func() {
		_, err := admin.ExecContext(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role)
		must(t, err)
	})
	db = openDB(t, "pgx", strings.Replace(url, "postgres://postgres", "postgres://"+role, 1))
	t.Cleanup(func() { must(t, db.Close()) })
	return db, admin, role
}

func TestMigrateNeedsNoPrivilegesIfNothingIsPending(t *testing.T) {
	t.Parallel()
	db, _, _ := asRole(t)
	for _, schema := range []string{"", "public"} {
		if err := bunstore.Migrate(t.Context(), db, bunstore.Options{Schema: schema}); err != nil {
			t.Errorf("schema %q: %v", schema, err)
		}
	}
}

func TestMigrateOnlyReadsIfNothingIsPending(t *testing.T) {
	t.Parallel()
	url := postgres.NewDatabase(t)
	path := filepath.Join(t.TempDir(), "db")
	for reading, writing := range map[*bun.DB]*bun.DB{
		openDB(t, "pgx", url+"&default_transaction_read_only=on"): openDB(t, "pgx", url),
		openDB(t, "sqlite", "file:"+path+"?mode=ro"):              openDB(t, "sqlite", databases.SQLiteURL(path)),
	} {
		must(t, bunstore.Migrate(t.Context(), writing, bunstore.Options{}))
		must(t, bunstore.Migrate(t.Context(), reading, bunstore.Options{}))
	}
}

func TestASchemaFirstInTheSearchPathHidesNoTables(t *testing.T) {
	t.Parallel()
	db, admin, role := asRole(t)
	id := subject(t, "1")
	restricted := domain.RestrictionRecord{SubjectID: id, Restricted: true, RecordedAt: noon, Source: "test"}
	must(t, newStore(t, db).Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		return s.Restrictions().Append(ctx, restricted)
	}))
	execute(t, admin, "CREATE SCHEMA "+role+" AUTHORIZATION "+role) // the search path has "$user" first
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	if made := catalog(t, admin, role); len(made) > 0 {
		t.Errorf("in front there are %v", made)
	}
	must(t, newStore(t, db).Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		global, _, err := s.Restrictions().Latest(ctx, id, nil)
		if global == nil {
			t.Error("the restriction has vanished")
		}
		return err
	}))
	// Migrate applies pending migrations in public, which has tables of habeas already, and not in the first schema of the
	// search path.
	execute(t, admin, "DELETE FROM habeas_migrations", "DROP FUNCTION habeas_is_erased, habeas_key_text",
		"DROP TABLE habeas_audit_events, habeas_consent_records, habeas_outbox, "+
			"habeas_duties, habeas_positions, habeas_restriction_records, habeas_subject_erasures, "+
			"habeas_installation, habeas_ancestors, habeas_requests, habeas_holds",
		"DROP FUNCTION habeas_audit_events_append_only, habeas_ledger_append_only",
		"GRANT CREATE ON SCHEMA public TO "+role)
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	if made := tablesIn(catalog(t, admin, role)); len(made) > 0 {
		t.Errorf("in front there are %v", made)
	}
	// Options.Schema creates a second set of tables.
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{Schema: role}))
	if made := tablesIn(catalog(t, admin, role)); len(made) != len(ownTables) {
		t.Errorf("in the schema there are %v", made)
	}
	err := bunstore.Migrate(t.Context(), db, bunstore.Options{})
	if !errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), role) ||
		!strings.Contains(err.Error(), "public") {
		t.Errorf("with two sets: %v", err)
	}
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{Schema: "public"}))
}

func TestAnAttachedDatabaseHidesNoTables(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	must(t, bunstore.Migrate(t.Context(), openDB(t, "sqlite", databases.SQLiteURL(path)), bunstore.Options{}))
	db := openDB(t, "sqlite", databases.SQLiteURL(filepath.Join(t.TempDir(), "main")))
	db.SetMaxOpenConns(1)
	execute(t, db, "ATTACH '"+path+"' AS "+`"the 'other'"`)
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	if made := catalog(t, db, ""); len(made) > 0 {
		t.Errorf("in main there are %v", made)
	}
	execute(t, db, "DELETE FROM habeas_migrations")
	if err := bunstore.Migrate(t.Context(), db, bunstore.Options{}); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("with something pending there: %v", err)
	}
	execute(t, db, "CREATE TEMP TABLE habeas_outbox (entry_id TEXT)")
	if err := bunstore.Migrate(t.Context(), db, bunstore.Options{}); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("with a temporary table in front: %v", err)
	}
}

// A session of any role may hold a lock for which a migration waits. The error names it by the name of its application.
func TestMigrateNamesTheSessionForWhichItWaits(t *testing.T) {
	t.Parallel()
	url := postgres.NewDatabase(t)
	holder, err := openDB(t, "pgx", url+"&application_name=nightly").Begin()
	must(t, err)
	_, err = holder.ExecContext(t.Context(), "SELECT pg_advisory_xact_lock(114767471927667)")
	must(t, err)
	db := openDB(t, "pgx", url+"&lock_timeout=20")
	err = bunstore.Migrate(t.Context(), db, bunstore.Options{})
	if !errors.Is(err, domain.ErrUnavailable) || !strings.Contains(err.Error(), `of "nightly"`) {
		t.Errorf("got %v", err)
	}
	must(t, holder.Rollback())
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
}
