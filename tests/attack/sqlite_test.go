package attack

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/tests/databases"
)

// Names that are not qualified may mean a table of an attached database.
func TestATriggerInAnAttachedDatabase(t *testing.T) {
	db := databases.SQLite(t)
	db.SetMaxOpenConns(1)
	a := open(t, db, app.Config{Models: ownedClients},
		"ATTACH '"+filepath.Join(t.TempDir(), "crm.db")+"' AS crm",
		"CREATE TABLE crm.clients (id bigint PRIMARY KEY, email text)",
		"CREATE TABLE crm.letters (id bigint PRIMARY KEY, client_id bigint, body text)",
		"INSERT INTO clients VALUES (1, 'a@example.org')", "INSERT INTO letters VALUES (1, 1, 'x')",
		"CREATE TRIGGER crm.guard BEFORE DELETE ON letters BEGIN SELECT RAISE(IGNORE); END")
	_, err := a.erase(t.Context(), "1")
	if err == nil && a.count(t, "SELECT count(*) FROM letters") > 0 {
		t.Error("success, and a letter is left")
	}
}

func TestUnknownColumnsInAnAttachedDatabase(t *testing.T) {
	db := databases.SQLite(t)
	db.SetMaxOpenConns(1)
	a := open(t, db, app.Config{Models: clients},
		"ATTACH '"+filepath.Join(t.TempDir(), "crm.db")+"' AS crm",
		"CREATE TABLE crm.clients (id bigint PRIMARY KEY, email text)",
		"CREATE TABLE crm.letters (id bigint PRIMARY KEY, client_id bigint, body text, invoice text)",
		"INSERT INTO clients VALUES (1, 'a@example.org')", "INSERT INTO letters VALUES (1, 1, 'x', 'y')")
	_, err := a.erase(t.Context(), "1")
	if err == nil && a.count(t, "SELECT count(*) FROM letters") == 0 {
		t.Error("deleted with an unknown column")
	}
}

func TestATemporaryView(t *testing.T) {
	db := databases.SQLite(t)
	db.SetMaxOpenConns(1)
	a := open(t, db, app.Config{Models: clients}, append(clientsTable(),
		"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint, body text)",
		"INSERT INTO letters VALUES (1, 1, 'x'), (2, 1, 'hidden')",
		"CREATE TEMP VIEW letters AS SELECT * FROM main.letters WHERE id <> 2")...)
	bundle, err := a.export(t.Context(), "1")
	if err == nil {
		t.Errorf("exported %d records as if they were all", len(bundle.Records))
	}
}

// A trigger that comes later on a table of an attached database.
func TestAnAttachedQualifiedTable(t *testing.T) {
	db := databases.SQLite(t)
	db.SetMaxOpenConns(1)
	type person struct {
		bun.BaseModel `bun:"table:crm.people"`
		ID            int64  `bun:"id,pk" subject:"id"`
		Email         string `bun:"email" pii:"contact,erasure:anonymize"`
	}
	a := open(t, db, app.Config{Models: []any{(*person)(nil)}},
		"ATTACH '"+filepath.Join(t.TempDir(), "crm.db")+"' AS crm",
		"CREATE TABLE crm.people (id bigint PRIMARY KEY, email text)",
		"INSERT INTO crm.people VALUES (1, 'a@example.org'), (2, 'b@example.org')")
	_, err := a.erase(t.Context(), "2")
	must(t, err)
	execute(t, db, "CREATE TRIGGER crm.guard BEFORE UPDATE ON people BEGIN SELECT RAISE(IGNORE); END")
	if _, err := a.erase(t.Context(), "1"); err == nil {
		t.Error("success")
	}
	if _, err := a.export(t.Context(), "1"); err != nil {
		t.Error(err)
	}
}

func TestSQLiteShapes(t *testing.T) {
	for name, statements := range map[string][]string{
		"without rowid": {
			"CREATE TABLE clients (id bigint PRIMARY KEY, email text) WITHOUT ROWID",
			"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint REFERENCES clients, body text) WITHOUT ROWID",
		},
		"strict": {
			"CREATE TABLE clients (id integer PRIMARY KEY, email text) STRICT",
			"CREATE TABLE letters (id integer PRIMARY KEY, client_id integer REFERENCES clients, body text) STRICT",
		},
		"fts": {
			"CREATE TABLE clients (id integer PRIMARY KEY, email text)",
			"CREATE TABLE letters (id integer PRIMARY KEY, client_id integer REFERENCES clients, body text)",
			"CREATE VIRTUAL TABLE letters_fts USING fts5(body, content='letters', content_rowid='id')",
			"CREATE TRIGGER letters_ai AFTER INSERT ON letters BEGIN INSERT INTO letters_fts(rowid, body) VALUES (new.id, new.body); END",
			"CREATE TRIGGER letters_ad AFTER DELETE ON letters BEGIN INSERT INTO letters_fts(letters_fts, rowid, body) VALUES('delete', old.id, old.body); END",
			"CREATE TRIGGER letters_au AFTER UPDATE ON letters BEGIN INSERT INTO letters_fts(letters_fts, rowid, body) VALUES('delete', old.id, old.body); INSERT INTO letters_fts(rowid, body) VALUES (new.id, new.body); END",
		},
		"fts is the table": {
			"CREATE TABLE clients (id integer PRIMARY KEY, email text)",
			"CREATE VIRTUAL TABLE letters USING fts5(id UNINDEXED, client_id UNINDEXED, body)",
		},
		"generated": {
			"CREATE TABLE clients (id integer PRIMARY KEY, email text, lower_email text GENERATED ALWAYS AS (lower(email)) STORED)",
			"CREATE TABLE letters (id integer PRIMARY KEY, client_id integer REFERENCES clients, body text, n int AS (length(body)))",
		},
		"updated": {
			"CREATE TABLE clients (id integer PRIMARY KEY, email text, updated_at text)",
			"CREATE TRIGGER touch AFTER UPDATE ON clients BEGIN UPDATE clients SET updated_at = CURRENT_TIMESTAMP WHERE id = NEW.id; END",
			"CREATE TABLE letters (id integer PRIMARY KEY, client_id integer REFERENCES clients, body text)",
		},
		"names of another case": {
			"CREATE TABLE Clients (ID integer PRIMARY KEY, Email text)",
			"CREATE TABLE LETTERS (ID integer PRIMARY KEY, CLIENT_ID integer REFERENCES clients, BODY text)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, databases.SQLite(t), app.Config{Models: clients}, append(statements,
				"INSERT INTO clients (id, email) VALUES (1, 'a@example.org'), (2, 'b@example.org')",
				"INSERT INTO letters (id, client_id, body) VALUES (1, 1, 'x'), (2, 2, 'x')")...)
			if b, err := a.export(t.Context(), "1"); err != nil || len(b.Records) != 2 {
				t.Errorf("export %v %v", b.Records, err)
			}
			result, err := a.erase(t.Context(), "1")
			if err != nil || result.Deleted["letters"] != 1 || result.Anonymized["clients"] != 1 {
				t.Errorf("%+v %v (%v)", result, err, errors.Unwrap(err))
			}
			if a.count(t, "SELECT count(*) FROM letters") != 1 || a.count(t, "SELECT count(*) FROM clients WHERE email = 'b@example.org'") != 1 {
				t.Error("wrong rows")
			}
		})
	}
}
