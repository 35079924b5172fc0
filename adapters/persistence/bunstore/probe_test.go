package bunstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// wantUnready checks that Probe returns a configuration error that names all parts.
func wantUnready(t *testing.T, store *bunstore.Store, parts ...string) {
	t.Helper()
	err := store.Probe(t.Context())
	if !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("want an error about %q, got %v", parts, err)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not name %q: %v", part, err)
		}
	}
}

func TestAProbeNamesMissingTablesAndColumns(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 0)
		must(t, s.store.Probe(t.Context()))
		execute(t, db, "ALTER TABLE habeas_subject_erasures DROP COLUMN swept_at", "DROP TABLE habeas_positions")
		wantUnready(t, s.store, "the column habeas_subject_erasures.swept_at", "the table habeas_positions")
	})
}

func TestAProbeNamesMissingPrivileges(t *testing.T) {
	t.Parallel()
	db, admin, role := asRole(t)
	store := newStore(t, db)
	must(t, store.Probe(t.Context()))
	execute(t, admin, "REVOKE UPDATE, DELETE ON habeas_outbox FROM "+role)
	wantUnready(t, store, "the privilege UPDATE on habeas_outbox", "the privilege DELETE on habeas_outbox")
}

func TestAProbeNamesAFunctionThatCannotBeCalled(t *testing.T) {
	t.Parallel()
	db, admin, role := asRole(t)
	store := newStore(t, db)
	for _, function := range []string{"habeas_is_erased", "habeas_key_text"} {
		execute(t, admin, "REVOKE EXECUTE ON FUNCTION "+function+" FROM PUBLIC")
		wantUnready(t, store, "the privilege EXECUTE on the function "+function)
		execute(t, admin, "GRANT EXECUTE ON FUNCTION "+function+" TO "+role)
		must(t, store.Probe(t.Context()))
		execute(t, admin, "DROP FUNCTION "+function)
		wantUnready(t, store, "the function "+function+" is missing")
		must(t, bunstore.Migrate(t.Context(), admin, bunstore.Options{}))
		must(t, store.Probe(t.Context()))
	}
}

// The schema of a tenant is renamed, and its former name is given to another tenant. Nothing of the renamed one may be
// judged by the erasures of the other.
func TestARenamedSchemaIsNotJudgedByTheErasuresOfAnother(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	for _, name := range []string{"", "staff"} {
		first := bunstore.Options{Schema: "first" + name, Name: name}
		second := bunstore.Options{Schema: "second" + name, Name: name}
		must(t, bunstore.Migrate(t.Context(), db, first))
		execute(t, db, "ALTER SCHEMA first"+name+" RENAME TO second"+name)
		must(t, bunstore.Migrate(t.Context(), db, first))
		store := storeOf(t, db, mapOf(t, db, models[:1]), second)
		wantUnready(t, store, "is_erased for this schema (it reads another schema)")
		must(t, bunstore.Migrate(t.Context(), db, second))
		must(t, store.Probe(t.Context()))
	}
}

func TestAProbeTellsThatADatabaseCanOnlyBeRead(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 0)
		db.SetMaxOpenConns(1)
		only := "SET default_transaction_read_only = on"
		if db.Dialect().Name() == dialect.SQLite {
			only = "PRAGMA query_only = 1"
		}
		execute(t, db, only)
		if err := s.store.Probe(t.Context()); !errors.Is(err, domain.ErrReadOnlyDatabase) {
			t.Errorf("got %v", err)
		}
	})
}
