package bunstore_test

import (
	"path/filepath"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestTheCatalogSaysWhetherRowFiltersAreTrusted(t *testing.T) {
	t.Parallel()
	for _, trusts := range []bool{false, true} {
		db := databases.SQLite(t)
		store := storeOf(t, db, mapOf(t, db, []any{(*person)(nil)}), bunstore.Options{TrustRowFilters: trusts})
		if got := catalogOf(t, store).TrustsRowFilters; got != trusts {
			t.Errorf("trusts %t, want %t", got, trusts)
		}
	}
}

func TestTheCatalogSaysWhetherSQLiteEnforcesForeignKeys(t *testing.T) {
	t.Parallel()
	for pragma, ignores := range map[string]bool{
		"foreign_keys(1)": false, "foreign_keys(0)": true, "busy_timeout(1)": true,
	} {
		db := openDB(t, "sqlite", "file:"+filepath.Join(t.TempDir(), "a.db")+"?_pragma="+pragma)
		store := storeOf(t, db, mapOf(t, db, []any{(*person)(nil)}), bunstore.Options{})
		if got := catalogOf(t, store).IgnoresForeignKeys; got != ignores {
			t.Errorf("%s: ignores %t, want %t", pragma, got, ignores)
		}
	}
}

func TestTheCatalogOfSQLiteHasColumnsAndConstraints(t *testing.T) {
	t.Parallel()
	_, store := applicationWith(t, databases.SQLite(t), []string{
		`CREATE TABLE people (id INTEGER PRIMARY KEY)`,
		`CREATE TABLE "Visits" (id TEXT, person bigint NOT NULL REFERENCES People
			ON UPDATE SET NULL NOT DEFERRABLE INITIALLY DEFERRED,
			host INT CONSTRAINT h REFERENCES people (id) ON DELETE SET NULL ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
			Note varchar(40) DEFAULT 'none' CONSTRAINT "polite one" CHECK (Note <> 'a)' AND note IS NOT nickname), nickname,
			twice TEXT GENERATED ALWAYS AS (nickname || nickname) STORED, once AS (nickname), born TIMESTAMP, seen, doc JSON,
			score REAL, part BLOB, -- a comment with a check (of nothing)
			CHECK (score > 0), UNIQUE (note, host), PRIMARY KEY (id, person)) WITHOUT ROWID`,
		`CREATE UNIQUE INDEX one_mail ON visits (person, lower(nickname)) WHERE note IS NOT NULL`,
		`CREATE INDEX by_expression ON visits (lower(note), host)`,
		`CREATE INDEX by_host ON visits (host, lower(note))`,
		`CREATE TEMPORARY TABLE passing (note text)`,
		`INSERT INTO people VALUES (1), (2)`,
		`INSERT INTO visits (id, person, score) VALUES ('a', 1, 1), ('b', 1, 1), ('c', 1, 1)`,
		`ANALYZE`, `CREATE TABLE late (id)`,
	})
	isListed(t, "tables", namesOf(catalogOf(t, store)), []string{"Visits", "late", "people"})
	people := tableOf(t, store, "PEOPLE")
	isListed(t, "columns of people", people.Columns, []datamap.CatalogColumn{
		{Name: "id", Declared: "INTEGER", Type: datamap.TypeBigInt, Default: true, Reused: true},
	})
	isListed(t, "indexes of people", people.Indexes, []datamap.CatalogIndex{{Columns: []string{"id"}}})
	if rows := tableOf(t, store, "late").Rows; rows != -1 {
		t.Errorf("a table without statistics has %d rows, want -1", rows)
	}
	visits := tableOf(t, store, "main.visits")
	if visits.Rows != 3 {
		t.Errorf("there are %d rows, want 3", visits.Rows)
	}
	isListed(t, "columns", visits.Columns, []datamap.CatalogColumn{
		{Name: "id", Declared: "TEXT", Type: datamap.TypeText},
		{Name: "person", Declared: "bigint", Type: datamap.TypeBigInt},
		{Name: "host", Declared: "INT", Type: datamap.TypeBigInt, Nullable: true},
		{
			Name: "Note", Declared: "varchar(40)", Type: datamap.TypeText, Length: 40, Nullable: true, Default: true,
			Initial: "none",
		},
		{Name: "nickname", Nullable: true},
		{Name: "twice", Declared: "TEXT", Type: datamap.TypeText, Nullable: true, Generated: true},
		{Name: "once", Nullable: true, Generated: true},
		{Name: "born", Declared: "TIMESTAMP", Type: datamap.TypeTime, Nullable: true},
		{Name: "seen", Nullable: true},
		{Name: "doc", Declared: "JSON", Type: datamap.TypeJSON, Nullable: true},
		{Name: "score", Declared: "REAL", Type: datamap.TypeNumber, Nullable: true},
		{Name: "part", Declared: "BLOB", Type: datamap.TypeBytes, Nullable: true},
	})
	isListed(t, "the primary key", visits.PrimaryKey, []string{"id", "person"})
	isListed(t, "uniques", visits.Uniques, []datamap.CatalogUnique{
		{
			Name: "one_mail", Columns: []string{"person", "nickname"}, Expressions: true, Partial: true,
			Where: "CREATE UNIQUE INDEX one_mail ON visits (person, lower(nickname)) WHERE note IS NOT NULL",
		},
		{Name: "sqlite_autoindex_Visits_1", Columns: []string{"Note", "host"}},
	})
	isListed(t, "indexes", visits.Indexes, []datamap.CatalogIndex{
		{Name: "by_host", Columns: []string{"host"}},
		{Name: "one_mail", Columns: []string{"person"}, Partial: true, Present: []string{"note"}},
		{Name: "sqlite_autoindex_Visits_1", Columns: []string{"Note", "host"}},
		{Name: "sqlite_autoindex_Visits_2", Columns: []string{"id", "person"}},
	})
	isListed(t, "foreign keys", visits.ForeignKeys, []datamap.CatalogForeignKey{
		{
			Columns: []string{"person"}, References: "people", Referenced: []string{"id"}, OnDelete: datamap.ActionNone,
			ClearsOnUpdate: true,
		},
		{
			Columns: []string{"host"}, References: "people", Referenced: []string{"id"}, OnDelete: datamap.ActionSetNull,
			Deferrable: true, Follows: true,
		},
	})
	isListed(t, "checks", visits.Checks, []datamap.CatalogCheck{
		{Name: "polite one", Columns: []string{"Note", "nickname"}, Text: "CHECK (Note <> 'a)' AND note IS NOT nickname)"},
		{Columns: []string{"score"}, Text: "CHECK (score > 0)"},
	})
}

func TestTheCatalogOfSQLiteHasTriggersAndViews(t *testing.T) {
	t.Parallel()
	_, store := applicationWith(t, databases.SQLite(t), []string{
		`CREATE TABLE people (id INTEGER PRIMARY KEY, name text)`, `CREATE TABLE "Log" (note text)`,
		`CREATE TRIGGER IF NOT EXISTS main.update_ AFTER DELETE ON people WHEN OLD.id > 0
			BEGIN INSERT INTO log VALUES (OLD.name); UPDATE people SET id = 1; DELETE FROM people;
			REPLACE INTO gone VALUES (1); END`,
		`CREATE TRIGGER "insert" BEFORE UPDATE OF name ON People BEGIN SELECT 1; END`,
		`CREATE VIEW known AS SELECT id, name AS log FROM people`,
		`CREATE VIEW deep (x) AS SELECT k.id FROM (known AS k, "log") WHERE k.id > 1`,
		`CREATE TRIGGER instead INSTEAD OF INSERT ON known BEGIN SELECT 1; END`,
		`CREATE VIEW broken AS SELECT * FROM nowhere`,
		`CREATE VIRTUAL TABLE found USING fts5 (name, body)`, `CREATE TABLE found_of_mine (note text)`,
		`CREATE VIRTUAL TABLE places USING rtree (id, x, y)`, `CREATE TABLE places_data (note text)`,
		`PRAGMA writable_schema = 1`,
		`INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql)
			VALUES ('table', 'lost', 'lost', 0, 'CREATE VIRTUAL TABLE lost USING no_such_module (a)')`,
		`PRAGMA writable_schema = RESET`,
	})
	type kind struct {
		Name     string
		Kind     datamap.TableKind
		Reads    []string
		Filtered bool
		Columns  int
	}
	var kinds []kind
	for _, table := range catalogOf(t, store).Tables {
		kinds = append(kinds, kind{table.Name, table.Kind, table.Reads, table.Filtered, len(table.Columns)})
	}
	isListed(t, "tables", kinds, []kind{
		{"Log", datamap.KindTable, nil, false, 1},
		{"broken", datamap.KindView, nil, true, 0},
		{"deep", datamap.KindView, []string{"Log", "known", "people"}, true, 1},
		{"found", datamap.KindVirtual, nil, false, 2},
		{"found_of_mine", datamap.KindTable, nil, false, 1},
		{"known", datamap.KindView, []string{"people"}, true, 2},
		{"lost", datamap.KindVirtual, nil, false, 0},
		{"people", datamap.KindTable, nil, false, 2},
		{"places", datamap.KindVirtual, nil, false, 3},
		{"places_data", datamap.KindTable, nil, false, 1},
	})
	isListed(t, "triggers", triggersOf(t, store, "people"), []datamap.CatalogTrigger{
		{Name: "insert", Events: []string{"UPDATE"}},
		{Name: "update_", Events: []string{"DELETE"}, Writes: []string{"Log", "gone", "people"}, Deletes: []string{"people"}},
	})
	isListed(t, "triggers of a view", triggersOf(t, store, "known"), []datamap.CatalogTrigger{
		{Name: "instead", Events: []string{"INSERT"}, Instead: true},
	})
}

func TestTheCatalogOfSQLiteHasAttachedDatabases(t *testing.T) {
	t.Parallel()
	db := databases.SQLite(t)
	db.SetMaxOpenConns(1) // the other databases are attached to this connection
	_, store := applicationWith(t, db, []string{
		`CREATE TABLE people (id INTEGER PRIMARY KEY)`, `CREATE TABLE notes (id INTEGER PRIMARY KEY)`,
		`ATTACH ':memory:' AS other`, `CREATE TABLE other.people (id INTEGER PRIMARY KEY, name text)`,
		`CREATE TABLE other.cards (person REFERENCES people)`, `CREATE TEMPORARY TABLE notes (id)`,
		`CREATE TEMPORARY TRIGGER t AFTER DELETE ON cards BEGIN INSERT INTO cards VALUES (1); END`,
	})
	isListed(t, "tables", namesOf(catalogOf(t, store)), []string{"cards", "main.notes", "other.people", "people"})
	cards := tableOf(t, store, "other.cards")
	isListed(t, "foreign keys", cards.ForeignKeys, []datamap.CatalogForeignKey{{
		Columns: []string{"person"}, References: "other.people", Referenced: []string{"id"}, OnDelete: datamap.ActionNone,
	}})
	isListed(t, "triggers", triggersOf(t, store, "other.cards"), []datamap.CatalogTrigger{
		{Name: "t", Events: []string{"DELETE"}, Writes: []string{"cards"}},
	})
}
