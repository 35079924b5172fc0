package conformance

import (
	"context"
	"maps"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports/porttest"
)

// next is a migration of a later version with which this version can work: each new column is nullable or has a
// default.
var next = []string{
	`ALTER TABLE habeas_consent_records ADD COLUMN evidence TEXT`,
	`ALTER TABLE habeas_restriction_records ADD COLUMN request TEXT`,
	`ALTER TABLE habeas_audit_events ADD COLUMN operator TEXT`,
	`ALTER TABLE habeas_outbox ADD COLUMN request TEXT`,
	`ALTER TABLE habeas_subject_erasures ADD COLUMN notes_until BIGINT NOT NULL DEFAULT 0`,
	`ALTER TABLE habeas_requests ADD COLUMN notice TEXT`,
	`ALTER TABLE habeas_holds ADD COLUMN notice TEXT`,
	`ALTER TABLE habeas_duties ADD COLUMN note TEXT`,
	`ALTER TABLE habeas_positions ADD COLUMN reached_at TEXT`,
	`ALTER TABLE habeas_installation ADD COLUMN zone TEXT`,
	`ALTER TABLE habeas_ancestors ADD COLUMN name TEXT`,
	`CREATE INDEX habeas_consent_records_evidence ON habeas_consent_records (evidence)`,
	`INSERT INTO habeas_migrations (name, checksum) VALUES ('0002_next.sql', 'f00')`,
}

// applyNext applies the migration of the later version in one transaction, as Migrate of that version does. It begins
// again after a conflict with another transaction, such as a deadlock.
func applyNext(t testing.TB, db *bun.DB) {
	t.Helper()
	var err error
	for range 10 {
		if err = db.RunInTx(t.Context(), nil, applyStatements); err == nil {
			return
		}
	}
	must(t, err)
}

func applyStatements(ctx context.Context, tx bun.Tx) error {
	for _, statement := range next {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// BunstoreOnNewerTables returns the Kind of Bunstore, on tables that a later version has changed.
func BunstoreOnNewerTables(driver databases.Driver) Kind {
	return Kind{"bunstore on newer tables on " + driver.Name, func(t testing.TB) porttest.StoreHarness {
		t.Helper()
		var harness porttest.StoreHarness
		if driver.IsSQLite() {
			harness = onSQLite(t, driver, applyNext)
		} else {
			harness = onPostgreSQL(t, driver, schemasOf(t, driver), applyNext)
		}
		waived := map[string]string{"session factory is probed": "the probe names the later version"}
		maps.Copy(waived, harness.Waive)
		harness.Waive = waived
		return harness
	}}
}
