package attack

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/tests/databases"
)

// The role sees every row, which is what TrustRowFilters says, but a policy keeps it from deleting or updating them.
func TestAPolicyThatAppliesToWritesOnly(t *testing.T) {
	for name, policies := range map[string][]string{
		"delete": {"CREATE POLICY w ON letters FOR DELETE USING (id <> 1)", "CREATE POLICY u ON letters FOR UPDATE USING (true)"},
		"update": {"CREATE POLICY w ON clients FOR UPDATE USING (id <> 1)", "CREATE POLICY d ON letters FOR DELETE USING (true)"},
	} {
		t.Run(name, func(t *testing.T) {
			db := databases.PostgreSQL(t)
			table := map[string]string{"delete": "letters", "update": "clients"}[name]
			a := open(t, db, app.Config{Models: ownedClients, TrustRowFilters: true}, slices.Concat(clientsTable(), []string{
				"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint, body text)", "INSERT INTO letters VALUES (1, 1, 'x')",
				"ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY", "CREATE POLICY r ON " + table + " FOR SELECT USING (true)",
			}, policies, asRole("attack_p", "GRANT ALL ON clients, letters TO attack_p"))...)
			db.SetMaxIdleConns(0)
			_, err := a.erase(t.Context(), "1")
			t.Log(err, errors.Unwrap(err))
			if err == nil && a.count(t, "SELECT count(*) FROM letters")+a.count(t, "SELECT count(*) FROM clients WHERE email = 'a@example.org'") > 0 {
				t.Error("success, and something is left")
			}
		})
	}
}

type login struct {
	bun.BaseModel `bun:"table:logins"`
	ID            int64   `bun:"id,pk"`
	ClientID      int64   `bun:"client_id"`
	Client        *client `bun:"rel:belongs-to,join:client_id=id"`
	IP            string  `bun:"ip" pii:"technical"`
	Password      string  `bun:"password,scanonly"`
}

// A column that the model names, but only scans.
func TestAScanOnlyColumn(t *testing.T) {
	a := open(t, databases.PostgreSQL(t), app.Config{Models: []any{(*client)(nil), (*login)(nil)}}, append(clientsTable(),
		"CREATE TABLE logins (id bigint PRIMARY KEY, client_id bigint, ip text)", "INSERT INTO logins VALUES (1, 1, 'x')")...)
	if _, err := a.erase(t.Context(), "1"); err != nil {
		t.Error(err)
	}
}

// A row of the subject that leaves its view while the erasure waits; a view as a parent of others.
func TestRowsInFlightBehindAView(t *testing.T) {
	db := databases.PostgreSQL(t)
	a := open(t, db, app.Config{Models: []any{(*client)(nil), (*ownedLetter)(nil), (*enclosure)(nil)}}, append(clientsTable(),
		"ALTER TABLE clients RENAME TO all_clients", "CREATE VIEW clients AS SELECT * FROM all_clients",
		"CREATE TABLE all_letters (id bigint PRIMARY KEY, client_id bigint REFERENCES all_clients, body text)", "INSERT INTO all_letters VALUES (1, 1, 'x')",
		"CREATE VIEW letters AS SELECT * FROM all_letters",
		"CREATE TABLE enclosures (id bigint PRIMARY KEY, letter_id bigint REFERENCES all_letters, body text)")...)
	for i, statement := range []string{"INSERT INTO all_letters VALUES (5, 1, 'x')", "INSERT INTO enclosures VALUES (5, 6, 'x')"} {
		if i == 1 {
			execute(t, db, "INSERT INTO all_letters VALUES (6, 1, 'x')")
		}
		tx, err := db.BeginTx(t.Context(), nil)
		must(t, err)
		execute(t, tx, statement)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := a.erase(t.Context(), "1")
			if err != nil {
				t.Error(err, errors.Unwrap(err))
			}
		})
		for a.count(t, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()") == 0 {
		}
		must(t, tx.Commit())
		wg.Wait()
		if a.count(t, "SELECT (SELECT count(*) FROM all_letters) + (SELECT count(*) FROM enclosures)") > 0 {
			t.Error("left")
		}
	}
}

// A trigger that counts: an annotated number that the database derives.
type counted struct {
	bun.BaseModel `bun:"table:clients"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
	Changes       int64  `bun:"changes" pii:"behavioral,erasure:anonymize"`
}

func TestATriggerThatCounts(t *testing.T) {
	a := open(t, databases.PostgreSQL(t), app.Config{Models: []any{(*counted)(nil)}},
		"CREATE TABLE clients (id bigint PRIMARY KEY, email text, changes bigint)", "INSERT INTO clients VALUES (1, 'a', 7)",
		"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.changes := NEW.changes + 1; RETURN NEW; END $$",
		"CREATE TRIGGER f BEFORE UPDATE ON clients FOR EACH ROW EXECUTE FUNCTION f()")
	if _, err := a.erase(t.Context(), "1"); err != nil {
		t.Error(err)
	}
	_ = domain.ErrLeftOver
}
