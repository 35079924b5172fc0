package bunstore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// exposuresSeen returns the exposures of the catalog, with the given name of a role as "them".
func exposuresSeen(t *testing.T, db *bun.DB, role string) (seen []string) {
	t.Helper()
	schema, err := bunstore.NewSchema(db, bunstore.Options{})
	must(t, err)
	catalog, err := schema.Catalog(t.Context())
	must(t, err)
	for _, e := range catalog.Exposures {
		if role != "" {
			e.By = strings.ReplaceAll(e.By, role, "them")
		}
		seen = append(seen, fmt.Sprintf("%s %s %s", e.Kind, strings.Join(e.Tables, ","), e.By))
	}
	return seen
}

func TestTheCatalogTellsHowOthersReachTheTablesOfHabeas(t *testing.T) {
	t.Parallel()
	db, admin, role := asRole(t)
	const refuse = `() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`
	for _, step := range []struct {
		statements string
		by         *bun.DB
		want       string
	}{
		{"SELECT 1", admin, ""},
		{"SELECT 1", db, ""},
		{
			"GRANT TRIGGER ON habeas_outbox TO them; GRANT TRUNCATE ON habeas_positions TO them", db,
			"granted habeas_outbox,habeas_positions them",
		},
		{"GRANT REFERENCES ON habeas_outbox TO PUBLIC", admin, "granted habeas_outbox PUBLIC"},
		{"GRANT CREATE ON SCHEMA public TO them", admin, "create all them"},
		{"GRANT CREATE ON SCHEMA public TO them", db, ""}, // its own
		{"GRANT CREATE ON SCHEMA public TO PUBLIC", db, "create all PUBLIC"},
		{"ALTER SCHEMA public OWNER TO them", admin, "create all them"},
		{"ALTER TABLE habeas_outbox OWNER TO them", admin, "owner habeas_outbox them"},
		{"ALTER TABLE habeas_outbox OWNER TO them", db, "owned habeas_outbox them"},
		{
			"CREATE FUNCTION extra" + refuse + "; " +
				"CREATE TRIGGER extra BEFORE INSERT ON habeas_outbox FOR EACH ROW EXECUTE FUNCTION extra()", db,
			"trigger habeas_outbox extra",
		},
		{"CREATE RULE extra AS ON DELETE TO habeas_outbox DO INSTEAD NOTHING", db, "trigger habeas_outbox extra"},
		{
			"CREATE FUNCTION posing" + refuse + "; ALTER FUNCTION posing OWNER TO them; DROP TRIGGER " +
				"habeas_audit_events_no_change ON habeas_audit_events; CREATE TRIGGER habeas_audit_events_no_change " +
				"BEFORE UPDATE ON habeas_audit_events EXECUTE FUNCTION posing()", db,
			"trigger habeas_audit_events habeas_audit_events_no_change",
		},
	} {
		before := exposuresSeen(t, step.by, role)
		execute(t, admin, strings.ReplaceAll(step.statements, "them", role))
		var more []string
		for _, seen := range exposuresSeen(t, step.by, role) {
			if !slices.Contains(before, seen) {
				more = append(more, seen)
			}
		}
		got := strings.ReplaceAll(strings.Join(more, "; "), allOwnTables(t, admin), "all")
		if got != step.want {
			t.Errorf("%s:\ngot  %s\nwant %s", step.statements, got, step.want)
		}
		execute(t, admin, "DROP RULE IF EXISTS extra ON habeas_outbox", "DROP TRIGGER IF EXISTS extra ON habeas_outbox",
			"DROP FUNCTION IF EXISTS extra", "ALTER TABLE habeas_outbox OWNER TO postgres",
			"ALTER SCHEMA public OWNER TO postgres", "REVOKE CREATE ON SCHEMA public FROM PUBLIC, "+role,
			"GRANT USAGE ON SCHEMA public TO "+role,
			"REVOKE TRIGGER, TRUNCATE, REFERENCES ON ALL TABLES IN SCHEMA public FROM PUBLIC, "+role)
	}
	execute(t, admin, "DROP FUNCTION posing CASCADE")
}

func allOwnTables(t *testing.T, db *bun.DB) string {
	t.Helper()
	return strings.Join(tablesIn(catalog(t, db, "public")), ",")
}

func TestTheCatalogTellsOfATriggerOnTheTablesOfHabeas(t *testing.T) {
	t.Parallel()
	db := databases.SQLite(t)
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	if seen := exposuresSeen(t, db, ""); seen != nil {
		t.Errorf("without one: %v", seen)
	}
	execute(t, db, `CREATE TRIGGER habeas_outbox_no_change AFTER INSERT ON habeas_audit_events
		BEGIN DELETE FROM habeas_outbox; END`)
	want := []string{"trigger habeas_audit_events habeas_outbox_no_change"}
	if seen := exposuresSeen(t, db, ""); !slices.Equal(seen, want) {
		t.Errorf("got %v, want %v", seen, want)
	}
}
