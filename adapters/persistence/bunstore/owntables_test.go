package bunstore_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// ofTheApplication are tables of the application whose names are like those of habeas. Each holds soughtMail once.
var ofTheApplication = []string{
	`CREATE TABLE habeas_orders (note TEXT)`, `INSERT INTO habeas_orders VALUES ('zoe@example.org')`,
	// There is no table of migrations beside this one.
	`CREATE TABLE habeas_alone_outbox (note TEXT)`, `INSERT INTO habeas_alone_outbox VALUES ('zoe@example.org')`,
	// The columns of this table of migrations are not those of habeas.
	`CREATE TABLE habeas_shop_migrations (id INTEGER PRIMARY KEY, name TEXT, applied_at TIMESTAMP)`,
	`INSERT INTO habeas_shop_migrations (id, name) VALUES (1, '0001_habeas.sql')`,
	`CREATE TABLE habeas_shop_outbox (note TEXT)`, `INSERT INTO habeas_shop_outbox VALUES ('zoe@example.org')`,
	// No migration of habeas is a row of this table.
	`CREATE TABLE habeas_mine_migrations (name TEXT PRIMARY KEY, applied_at TIMESTAMP, checksum TEXT, breaks BOOLEAN)`,
	`INSERT INTO habeas_mine_migrations (name) VALUES ('0001_orders.sql')`,
	// This table records a migration with the name of one of habeas, but in other columns.
	`CREATE TABLE habeas_old_migrations (name TEXT PRIMARY KEY, applied_at TIMESTAMP)`,
	`INSERT INTO habeas_old_migrations (name) VALUES ('0001_habeas.sql')`,
	`CREATE TABLE habeas_old_outbox (note TEXT)`, `INSERT INTO habeas_old_outbox VALUES ('zoe@example.org')`,
	`CREATE TABLE habeas_mine_positions (note TEXT)`, `INSERT INTO habeas_mine_positions VALUES ('zoe@example.org')`,
	// The name of a data map has no underscores, and at most 20 characters.
	`CREATE TABLE habeas_a_b_migrations (name TEXT PRIMARY KEY, applied_at TIMESTAMP, checksum TEXT, breaks BOOLEAN)`,
	`INSERT INTO habeas_a_b_migrations (name) VALUES ('0001_habeas.sql')`,
	`CREATE TABLE habeas_a_b_outbox (note TEXT)`, `INSERT INTO habeas_a_b_outbox VALUES ('zoe@example.org')`,
	`CREATE TABLE habeas_staff_notes (note TEXT)`, `INSERT INTO habeas_staff_notes VALUES ('zoe@example.org')`,
	`CREATE VIEW habeas_staff_positions AS SELECT note FROM habeas_staff_notes`,
}

// ofHabeas makes sets of the tables of habeas, also incomplete ones, each with soughtMail in a table.
func ofHabeas(t *testing.T, db *bun.DB) {
	t.Helper()
	for _, name := range []string{"", "staff", "unrecorded"} {
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{Name: name}))
		execute(t, db, "INSERT INTO "+datamap.ObjectPrefix(name)+"restriction_records"+
			" (subject_id, restricted, reason, recorded_at, source)"+
			" VALUES ('1', TRUE, 'zoe@example.org', '2024-03-01T12:00:00.000000Z', 'api')")
	}
	execute(t, db, `DROP TABLE habeas_staff_positions`, `DROP TABLE habeas_staff_installation`,
		`DROP TABLE habeas_unrecorded_migrations`, // as if the application had run the migrations
	)
}

func TestTablesOfHabeasAreKnownByTheirMigrations(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		ofHabeas(t, db)
		execute(t, db, append(slices.Clone(ofTheApplication), `CREATE TABLE people (id INTEGER PRIMARY KEY)`)...)
		store := existingApplication(t, db, nil, (*person)(nil)).store
		isListed(t, "tables", namesOf(catalogOf(t, store)), []string{
			"habeas_a_b_migrations", "habeas_a_b_outbox", "habeas_alone_outbox", "habeas_mine_migrations",
			"habeas_mine_positions", "habeas_old_migrations", "habeas_old_outbox", "habeas_orders", "habeas_shop_migrations",
			"habeas_shop_outbox", "habeas_staff_notes",
			"habeas_staff_positions", "people",
		})
		want := onceIn("habeas_a_b_outbox", "note")
		for _, table := range []string{
			"habeas_alone_outbox", "habeas_mine_positions", "habeas_old_outbox", "habeas_orders", "habeas_shop_outbox",
			"habeas_staff_notes",
		} {
			want = append(want, onceIn(table, "note")...)
		}
		want = append(want, onceIn("habeas_restriction_records", "reason")...) // of this data map only
		isListed(t, "occurrences", findMail(t, store).Occurrences, want)
	})
}

func TestFindNamesTheTablesOfItsDataMap(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		ofHabeas(t, db)
		execute(t, db, `CREATE TABLE people (id INTEGER PRIMARY KEY)`)
		store := storeOf(t, db, mapOf(t, db, []any{(*person)(nil)}), bunstore.Options{Name: "staff"})
		isListed(t, "occurrences", findMail(t, store).Occurrences, onceIn("habeas_staff_restriction_records", "reason"))
	})
}

func TestTheTablesOfHabeasAreInOneSchema(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	ofHabeas(t, db)
	execute(t, db, `CREATE SCHEMA other`, `CREATE TABLE other.habeas_staff_outbox (note text)`,
		`CREATE TABLE other.habeas_outbox (note text)`, `CREATE TABLE people (id bigint PRIMARY KEY)`)
	store := existingApplication(t, db, nil, (*person)(nil)).store
	isListed(t, "tables", namesOf(catalogOf(t, store)),
		[]string{"other.habeas_outbox", "other.habeas_staff_outbox", "people"})
}

// The role of one data map need not have privileges on the tables of another one.
func TestMigrationsThatCannotBeReadAreKnownByTheirColumns(t *testing.T) {
	t.Parallel()
	db, admin, role := asRole(t)
	must(t, bunstore.Migrate(t.Context(), admin, bunstore.Options{Name: "staff"}))
	execute(t, admin, `CREATE TABLE people (id bigint PRIMARY KEY)`, `GRANT SELECT ON people TO `+role,
		`REVOKE ALL ON habeas_staff_migrations FROM `+role, `DROP TABLE habeas_staff_installation`)
	isListed(t, "tables", namesOf(catalogOf(t, existingApplication(t, db, nil, (*person)(nil)).store)), []string{"people"})
}

func TestTheCatalogTakesOneStatementForTheTablesOfHabeas(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		ofHabeas(t, db)
		log := &statements{}
		observed, reads := databases.WithHook(db, log), 0
		for _, query := range log.during(t, func() { must(t, errOf(schemaOf(t, observed).Catalog(t.Context()))) }) {
			if strings.Contains(query, "0001_habeas.sql") {
				reads++
			}
		}
		if reads != 1 {
			t.Errorf("%d statements read the migrations of three data maps, want 1", reads)
		}
	})
}

func errOf[T any](_ T, err error) error { return err }
