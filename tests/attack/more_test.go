package attack

import (
	"errors"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/tests/databases"
)

func TestHistoryWarningsOnSQLite(t *testing.T) {
	for name, body := range map[string]string{
		"brackets":  "INSERT INTO [clients_history] VALUES (OLD.id, OLD.email);",
		"backticks": "INSERT INTO `clients_history` VALUES (OLD.id, OLD.email);",
		"update":    "UPDATE clients_history SET email = OLD.email;",
		"comment":   "INSERT /* keep */ INTO clients_history VALUES (OLD.id, OLD.email);",
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, databases.SQLite(t), app.Config{Models: []any{(*client)(nil)}}, append(clientsTable(),
				"CREATE TABLE clients_history (id bigint, email text)", "INSERT INTO clients_history VALUES (0, '')",
				"CREATE TRIGGER keep AFTER UPDATE ON clients BEGIN "+body+" END")...)
			_, err := a.erase(t.Context(), "1")
			must(t, err)
			if !strings.Contains(a.log.String(), "clients_history") {
				t.Errorf("no warning: %s", a.log.String())
			}
		})
	}
}

type price struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:bpchar" pii:"contact,erasure:anonymize"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
}

// A column cut by the database, not by the model.
func TestAColumnThatATriggerShortens(t *testing.T) {
	a := open(t, databases.PostgreSQL(t), app.Config{Models: []any{(*price)(nil)}},
		"CREATE TABLE profiles (id bigint PRIMARY KEY, v text, email text)", "INSERT INTO profiles VALUES (1, 'abc', 'a')",
		"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.v := left(NEW.v, 3); RETURN NEW; END $$",
		"CREATE TRIGGER f BEFORE UPDATE ON profiles FOR EACH ROW EXECUTE FUNCTION f()")
	if _, err := a.erase(t.Context(), "1"); err != nil {
		t.Errorf("%v (%v)", err, errors.Unwrap(err))
	}
}

// A trigger that keeps a part of the old value beside the surrogate, or behind its prefix.
func TestATriggerThatKeepsTheOldValueBesideTheSurrogate(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		trigger := []string{"CREATE TRIGGER f AFTER UPDATE ON clients BEGIN UPDATE clients SET email = 'anon-' || OLD.email WHERE id = NEW.id; END"}
		if isPostgres(db) {
			trigger = []string{"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.email := NEW.email || ' was ' || OLD.email; RETURN NEW; END $$",
				"CREATE TRIGGER f BEFORE UPDATE ON clients FOR EACH ROW EXECUTE FUNCTION f()"}
		}
		a := open(t, db, app.Config{Models: []any{(*client)(nil)}}, append(clientsTable(), trigger...)...)
		_, err := a.erase(t.Context(), "1")
		if err == nil && strings.Contains(a.text(t, "SELECT email FROM clients WHERE id = 1"), "a@example.org") {
			t.Error("success, and the address is left")
		}
	})
}

// A value that looks like a surrogate before, and is restored.
func TestAValueThatLooksLikeASurrogate(t *testing.T) {
	a := open(t, databases.PostgreSQL(t), app.Config{Models: []any{(*client)(nil)}}, append(clientsTable(),
		"UPDATE clients SET email = 'anon-ymous@example.org' WHERE id = 1",
		"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
		"CREATE TRIGGER f BEFORE UPDATE ON clients FOR EACH ROW EXECUTE FUNCTION f()")...)
	_, err := a.erase(t.Context(), "1")
	if err == nil && a.text(t, "SELECT email FROM clients WHERE id = 1") == "anon-ymous@example.org" {
		t.Error("success, and the address is left")
	}
}

// The trigger moves the row out of the subject's sight instead of deleting it.
func TestATriggerThatMovesRowsAway(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		trigger := []string{"CREATE TRIGGER f BEFORE DELETE ON letters BEGIN UPDATE letters SET client_id = NULL WHERE id = OLD.id; SELECT RAISE(IGNORE); END"}
		if isPostgres(db) {
			trigger = []string{"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE letters SET client_id = NULL WHERE id = OLD.id; RETURN NULL; END $$",
				"CREATE TRIGGER f BEFORE DELETE ON letters FOR EACH ROW EXECUTE FUNCTION f()"}
		}
		a := open(t, db, app.Config{Models: ownedClients}, append(append(clientsTable(),
			"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint, body text)", "INSERT INTO letters VALUES (1, 1, 'dear')"), trigger...)...)
		_, err := a.erase(t.Context(), "1")
		if err == nil && a.count(t, "SELECT count(*) FROM letters WHERE body = 'dear'") > 0 {
			t.Error("success, and the letter is left")
		}
	})
}

type shared struct {
	bun.BaseModel `bun:"table:clients" subject:"owned"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact"`
}

// Tables whose foreign key clears the path: rows that hang on a deleted parent by ON DELETE SET NULL of the database.
func TestATriggerOnATableThatIsNotInASteps(t *testing.T) {
	a := open(t, databases.PostgreSQL(t), app.Config{Models: []any{(*shared)(nil)}}, append(clientsTable(),
		"CREATE TABLE archive (id bigint, email text)",
		"CREATE RULE keep AS ON DELETE TO clients DO ALSO INSERT INTO archive VALUES (OLD.id, OLD.email)")...)
	_, err := a.erase(t.Context(), "1")
	if err != nil {
		t.Error(err, errors.Unwrap(err))
	}
	if a.count(t, "SELECT count(*) FROM clients") != 1 {
		t.Error("wrong rows")
	}
}
