package attack

import (
	"errors"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/tests/databases"
)

type client struct {
	bun.BaseModel `bun:"table:clients"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
}

type letter struct {
	bun.BaseModel `bun:"table:letters"`
	ID            int64   `bun:"id,pk"`
	ClientID      int64   `bun:"client_id"`
	Client        *client `bun:"rel:belongs-to,join:client_id=id"`
	Body          string  `bun:"body" pii:"communication"`
}

type ownedLetter struct {
	bun.BaseModel `bun:"table:letters" subject:"owned"`
	ID            int64   `bun:"id,pk"`
	ClientID      int64   `bun:"client_id"`
	Client        *client `bun:"rel:belongs-to,join:client_id=id"`
	Body          string  `bun:"body" pii:"communication"`
}

var clients = []any{(*client)(nil), (*letter)(nil)}
var ownedClients = []any{(*client)(nil), (*ownedLetter)(nil)}

func clientsTable() []string {
	return []string{
		"CREATE TABLE clients (id bigint PRIMARY KEY, email text)",
		"INSERT INTO clients VALUES (1, 'a@example.org'), (2, 'b@example.org')",
	}
}

func TestAFilterBelowAViewOfAView(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: clients}, append(clientsTable(),
			"CREATE TABLE all_letters (id bigint PRIMARY KEY, client_id bigint, body text, hidden boolean)",
			"INSERT INTO all_letters VALUES (1, 1, 'seen', NULL), (2, 1, 'hidden', TRUE)",
			"CREATE VIEW some_letters AS SELECT id, client_id, body FROM all_letters WHERE hidden IS NULL",
			"CREATE VIEW letters AS SELECT id, client_id, body FROM some_letters")...)
		bundle, err := a.export(t.Context(), "1")
		if err == nil {
			t.Errorf("exported %d records as if they were all", len(bundle.Records))
		}
	})
}

func TestAFilterBelowAViewOfAViewErase(t *testing.T) {
	a := open(t, databases.PostgreSQL(t), app.Config{Models: ownedClients}, append(clientsTable(),
		"CREATE TABLE all_letters (id bigint PRIMARY KEY, client_id bigint, body text, hidden boolean)",
		"INSERT INTO all_letters VALUES (1, 1, 'seen', NULL), (2, 1, 'hidden', TRUE)",
		"CREATE VIEW some_letters AS SELECT * FROM all_letters WHERE hidden IS NULL",
		"CREATE VIEW letters AS SELECT * FROM some_letters")...)
	_, err := a.erase(t.Context(), "1")
	if err == nil && a.count(t, "SELECT count(*) FROM all_letters WHERE client_id = 1") > 0 {
		t.Error("success, and a letter is left")
	}
}

func TestAViewOfOnlyTheParent(t *testing.T) {
	a := open(t, databases.PostgreSQL(t), app.Config{Models: ownedClients}, append(clientsTable(),
		"CREATE TABLE all_letters (id bigint PRIMARY KEY, client_id bigint, body text)",
		"CREATE TABLE old_letters () INHERITS (all_letters)",
		"INSERT INTO old_letters VALUES (2, 1, 'old')",
		"CREATE VIEW letters AS SELECT id, client_id, body FROM ONLY all_letters")...)
	_, err := a.erase(t.Context(), "1")
	if err == nil && a.count(t, "SELECT count(*) FROM all_letters WHERE client_id = 1") > 0 {
		t.Error("success, and a letter is left")
	}
}

func TestRowSecurityBelowTwoViews(t *testing.T) {
	db := databases.PostgreSQL(t)
	a := open(t, db, app.Config{Models: clients}, append(clientsTable(),
		"CREATE TABLE all_letters (id bigint PRIMARY KEY, client_id bigint, body text)",
		"INSERT INTO all_letters VALUES (1, 1, 'seen'), (2, 1, 'hidden')",
		"CREATE VIEW some_letters WITH (security_invoker) AS SELECT id, client_id, body FROM all_letters",
		"CREATE VIEW letters WITH (security_invoker) AS SELECT id, client_id, body FROM some_letters",
		"ALTER TABLE all_letters ENABLE ROW LEVEL SECURITY", "ALTER TABLE all_letters FORCE ROW LEVEL SECURITY",
		"CREATE POLICY part ON all_letters USING (id <> 2)",
		"DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'habeas_plain2') THEN CREATE ROLE habeas_plain2; END IF; END $$",
		"GRANT ALL ON ALL TABLES IN SCHEMA public TO habeas_plain2", "GRANT habeas_plain2 TO CURRENT_USER",
		"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET role = habeas_plain2', current_database()); END $$")...)
	db.SetMaxIdleConns(0)
	bundle, err := a.export(t.Context(), "1")
	if err == nil {
		t.Errorf("exported %d records as if they were all", len(bundle.Records))
	}
	_, err = a.erase(t.Context(), "1")
	if err == nil {
		t.Errorf("erased")
	}
}

// Row security that comes later, on the table below a view.
func TestRowSecurityBelowAViewThatComesLater(t *testing.T) {
	db := databases.PostgreSQL(t)
	a := open(t, db, app.Config{Models: clients}, append(clientsTable(),
		"CREATE TABLE all_letters (id bigint PRIMARY KEY, client_id bigint, body text)",
		"INSERT INTO all_letters VALUES (1, 1, 'seen'), (2, 1, 'hidden')",
		"CREATE VIEW letters WITH (security_invoker) AS SELECT id, client_id, body FROM all_letters",
		"DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'habeas_plain3') THEN CREATE ROLE habeas_plain3; END IF; END $$",
		"GRANT ALL ON ALL TABLES IN SCHEMA public TO habeas_plain3", "GRANT habeas_plain3 TO CURRENT_USER")...)
	if _, err := a.export(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	execute(t, db, "ALTER TABLE all_letters ENABLE ROW LEVEL SECURITY", "ALTER TABLE all_letters FORCE ROW LEVEL SECURITY",
		"CREATE POLICY part ON all_letters USING (id <> 2)",
		"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET role = habeas_plain3', current_database()); END $$")
	db.SetMaxIdleConns(0)
	bundle, err := a.export(t.Context(), "1")
	if err == nil {
		t.Errorf("exported %d records as if they were all", len(bundle.Records))
	}
}

// A column that comes later, to the table below a view.
func TestAnUnknownColumnBelowAViewThatComesLater(t *testing.T) {
	db := databases.PostgreSQL(t)
	a := open(t, db, app.Config{Models: clients}, append(clientsTable(),
		"CREATE TABLE all_letters (id bigint PRIMARY KEY, client_id bigint, body text)",
		"INSERT INTO all_letters VALUES (1, 1, 'seen')",
		"CREATE VIEW letters AS SELECT id, client_id, body FROM all_letters")...)
	if _, err := a.erase(t.Context(), "2"); err != nil {
		t.Fatal(err)
	}
	execute(t, db, "ALTER TABLE all_letters ADD COLUMN invoice text DEFAULT 'x'")
	if _, err := a.erase(t.Context(), "1"); err == nil {
		t.Error("deleted rows with a column that is unknown")
	}
}

// A child table that inherits has columns of its own.
func TestUnknownColumnsOfAnInheritingTable(t *testing.T) {
	db := databases.PostgreSQL(t)
	a := open(t, db, app.Config{Models: clients}, append(clientsTable(),
		"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint, body text)",
		"CREATE TABLE invoices (sum numeric) INHERITS (letters)",
		"INSERT INTO invoices VALUES (1, 1, 'x', 100)")...)
	_, err := a.erase(t.Context(), "1")
	if !errors.Is(err, domain.ErrManifest) || a.count(t, "SELECT count(*) FROM invoices") != 1 {
		t.Errorf("deleted rows with a column that is unknown: %v", err)
	}
}

type limited struct {
	bun.BaseModel `bun:"table:letters" subject:"owned"`
	ID            int64   `bun:"id,pk"`
	ClientID      int64   `bun:"client_id"`
	Client        *client `bun:"rel:belongs-to,join:client_id=id"`
	Body          string  `bun:"body" pii:"communication"`
	Limit         int64   `bun:"limit"`
}

// A plain view with a column whose name is a word of SQL.
func TestAViewWithAColumnCalledLimit(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: []any{(*client)(nil), (*limited)(nil)}}, append(clientsTable(),
			`CREATE TABLE all_letters (id bigint PRIMARY KEY, client_id bigint, body text, "limit" bigint)`,
			"INSERT INTO all_letters VALUES (1, 1, 'seen', 5)",
			`CREATE VIEW letters AS SELECT id, client_id, body, "limit" FROM all_letters`)...)
		bundle, err := a.export(t.Context(), "1")
		if err != nil || len(bundle.Records) != 2 {
			t.Errorf("a plain view is refused: %v", err)
		}
	})
}

func TestHistoryWarnings(t *testing.T) {
	for name, statements := range map[string][]string{
		"a schema with the same names": {
			"CREATE SCHEMA history", "CREATE TABLE history.clients (id bigint, email text)",
			"CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO history.clients VALUES (OLD.id, OLD.email); RETURN NULL; END $$",
			"CREATE TRIGGER keep AFTER UPDATE ON clients FOR EACH ROW EXECUTE FUNCTION keep()",
		},
		"a rule": {
			"CREATE TABLE clients_history (id bigint, email text)",
			"CREATE RULE keep AS ON UPDATE TO clients DO ALSO INSERT INTO clients_history VALUES (OLD.id, OLD.email)",
		},
		"dynamic": {
			"CREATE TABLE clients_history (id bigint, email text)",
			"CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN EXECUTE format('INSERT INTO %I SELECT ($1).*', TG_ARGV[0]) USING OLD; RETURN NULL; END $$",
			"CREATE TRIGGER keep AFTER UPDATE ON clients FOR EACH ROW EXECUTE FUNCTION keep('clients_history')",
		},
		"an update": {
			"CREATE TABLE clients_history (id bigint, email text)", "INSERT INTO clients_history VALUES (1, '')",
			"CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE clients_history SET email = OLD.email WHERE id = OLD.id; RETURN NULL; END $$",
			"CREATE TRIGGER keep AFTER UPDATE ON clients FOR EACH ROW EXECUTE FUNCTION keep()",
		},
		"a statement trigger": {
			"CREATE TABLE clients_history (id bigint, email text)",
			"CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO clients_history SELECT * FROM olds; RETURN NULL; END $$",
			"CREATE TRIGGER keep AFTER UPDATE ON clients REFERENCING OLD TABLE AS olds FOR EACH STATEMENT EXECUTE FUNCTION keep()",
		},
		"a nested function": {
			"CREATE TABLE clients_history (id bigint, email text)",
			"CREATE FUNCTION write(a bigint, b text) RETURNS void LANGUAGE sql AS $$ INSERT INTO clients_history VALUES (a, b) $$",
			"CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM write(OLD.id, OLD.email); RETURN NULL; END $$",
			"CREATE TRIGGER keep AFTER UPDATE ON clients FOR EACH ROW EXECUTE FUNCTION keep()",
		},
		"a partition's trigger": {
			"CREATE TABLE clients_history (id bigint, email text)", "DROP TABLE clients",
			"CREATE TABLE clients (id bigint PRIMARY KEY, email text) PARTITION BY HASH (id)",
			"CREATE TABLE clients_0 PARTITION OF clients FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
			"INSERT INTO clients VALUES (1, 'a@example.org')",
			"CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO clients_history VALUES (OLD.id, OLD.email); RETURN NULL; END $$",
			"CREATE TRIGGER keep AFTER UPDATE ON clients_0 FOR EACH ROW EXECUTE FUNCTION keep()",
		},
		"the table below a view": {
			"CREATE TABLE clients_history (id bigint, email text)",
			"ALTER TABLE clients RENAME TO all_clients", "CREATE VIEW clients AS SELECT * FROM all_clients",
			"CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO clients_history VALUES (OLD.id, OLD.email); RETURN NULL; END $$",
			"CREATE TRIGGER keep AFTER UPDATE ON all_clients FOR EACH ROW EXECUTE FUNCTION keep()",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, databases.PostgreSQL(t), app.Config{Models: []any{(*client)(nil)}}, append(clientsTable(), statements...)...)
			_, err := a.erase(t.Context(), "1")
			if err != nil {
				t.Fatal(err, errors.Unwrap(err))
			}
			history := "clients_history"
			if strings.Contains(name, "schema") {
				history = "history.clients"
			}
			if a.count(t, "SELECT count(*) FROM "+history+" WHERE email LIKE '%@example.org'") == 0 {
				t.Fatal("nothing was kept")
			}
			if !strings.Contains(a.log.String(), history) {
				t.Errorf("no warning: %s", a.log.String())
			}
		})
	}
}
