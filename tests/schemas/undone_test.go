package schemas

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// sqliteTrigger returns the statement that creates a trigger in SQLite.
func sqliteTrigger(event, table, body string) []string {
	return []string{"CREATE TRIGGER guard " + event + " ON " + table + " BEGIN " + body + " END"}
}

// In each case, a trigger or a view undoes a correction. The correction must fail and change no row. The event of the
// failure must name the table.
func TestADatabaseThatUndoesACorrectionFailsIt(t *testing.T) {
	t.Parallel()
	view := []string{
		"CREATE TABLE all_clients (id bigint PRIMARY KEY, email text, code varchar(4), token uuid, age int, extra jsonb)",
		strings.ReplaceAll(insertClients, "%s", "all_clients"), "CREATE VIEW clients AS SELECT * FROM all_clients",
	}
	for name, test := range map[string]struct {
		postgres, sqlite []string // empty if the database does not support it
		corrections      domain.Corrections
	}{
		"an update that is ignored": {
			postgres: slices.Concat(plainClients, function("BEFORE UPDATE", "clients", "RETURN NULL;")),
			sqlite:   slices.Concat(plainClients, sqliteTrigger("BEFORE UPDATE", "clients", "SELECT RAISE(IGNORE);")),
		},
		"a value restored": {
			postgres: slices.Concat(plainClients, function("BEFORE UPDATE", "clients", "NEW.email := OLD.email; RETURN NEW;")),
			sqlite: slices.Concat(plainClients, sqliteTrigger("AFTER UPDATE", "clients",
				"UPDATE clients SET email = OLD.email WHERE id = OLD.id;")),
		},
		"a value restored later": {
			postgres: slices.Concat(plainClients, function("AFTER UPDATE", "clients",
				"IF OLD.email LIKE 'a@%' THEN UPDATE clients SET email = OLD.email WHERE id = OLD.id; END IF; RETURN NULL;")),
		},
		"NULL restored": {
			postgres: slices.Concat(plainClients, []string{"UPDATE clients SET email = NULL"},
				function("BEFORE UPDATE", "clients", "NEW.email := OLD.email; RETURN NEW;")),
			sqlite: slices.Concat(plainClients, []string{"UPDATE clients SET email = NULL"},
				sqliteTrigger("AFTER UPDATE", "clients",
					"UPDATE clients SET email = OLD.email WHERE id = OLD.id;")),
		},
		"the value emptied": {
			postgres: slices.Concat(plainClients, function("BEFORE UPDATE", "clients", "NEW.email := ''; RETURN NEW;")),
			sqlite: slices.Concat(plainClients,
				sqliteTrigger("AFTER UPDATE", "clients", "UPDATE clients SET email = '' WHERE id = OLD.id;")),
		},
		"another value": {
			postgres: slices.Concat(plainClients,
				function("BEFORE UPDATE", "clients", "NEW.email := 'other@example.org'; RETURN NEW;")),
			sqlite: slices.Concat(plainClients, sqliteTrigger("AFTER UPDATE", "clients",
				"UPDATE clients SET email = 'other@example.org' WHERE id = OLD.id;")),
		},
		"a rule": {
			postgres: append(slices.Clone(plainClients), "CREATE RULE guard AS ON UPDATE TO clients DO INSTEAD NOTHING"),
		},
		"a view whose trigger does nothing": {
			postgres: slices.Concat(letterTables(), view, function("INSTEAD OF UPDATE", "clients", "RETURN NEW;")),
		},
		"a trigger of the table below a view": {
			postgres: slices.Concat(letterTables(), view, function("BEFORE UPDATE", "all_clients", "RETURN NULL;")),
		},
		"one of two values": {
			postgres: slices.Concat(plainClients, function("BEFORE UPDATE", "clients", "NEW.code := OLD.code; RETURN NEW;")),
			sqlite: slices.Concat(plainClients, sqliteTrigger("AFTER UPDATE", "clients",
				"UPDATE clients SET code = OLD.code WHERE id = OLD.id;")),
			corrections: domain.Corrections{domain.CategoryContact: "new@example.org", domain.CategoryIdentity: "AB"},
		},
		"a row that goes away": {
			postgres: slices.Concat(plainClients,
				function("AFTER UPDATE", "clients", "DELETE FROM clients WHERE id = OLD.id; RETURN NULL;")),
			sqlite: slices.Concat(plainClients,
				sqliteTrigger("AFTER UPDATE", "clients", "DELETE FROM clients WHERE id = OLD.id;")),
		},
		"a number": {
			postgres: slices.Concat(plainClients, function("BEFORE UPDATE", "clients", "NEW.age := OLD.age; RETURN NEW;")),
			sqlite: slices.Concat(plainClients,
				sqliteTrigger("AFTER UPDATE", "clients", "UPDATE clients SET age = OLD.age WHERE id = OLD.id;")),
			corrections: domain.Corrections{domain.CategoryBehavioral: 77},
		},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				statements := test.sqlite
				if isPostgres(db) {
					statements = test.postgres
				}
				if statements == nil {
					return
				}
				a := open(t, db, app.Config{Models: patrons}, statements...)
				corrections := test.corrections
				if corrections == nil {
					corrections = corrected
				}
				result, err := a.rectify(t.Context(), "1", corrections)
				if name == "a view whose trigger does nothing" && errors.Is(err, domain.ErrConfiguration) &&
					strings.Contains(err.Error(), "clients") { // the view is not trusted
					return
				}
				if !errors.Is(err, domain.ErrLeftOver) {
					t.Fatalf("rectified %v, %v (%v)", result.Rectified, err, errors.Unwrap(err))
				}
				if strings.Contains(err.Error(), "example.org") {
					t.Errorf("the error holds a value: %v", err)
				}
				failures := a.failures(t, "1", domain.EventRectificationStepFailed)
				if len(failures) != 1 || failures[0]["target"] != "clients" || failures[0]["error"] != "left_over" {
					t.Errorf("%v: evidence %v", err, failures)
				}
			})
		})
	}
}

// The old and the new address differ only in case or punctuation. A trigger that restores the old address undoes the
// correction, also if it does so only for such addresses. A trigger that gives every address the same form does not.
func TestACorrectionOfCaseOrPunctuationIsNotUndone(t *testing.T) {
	t.Parallel()
	const restore, similar = "UPDATE clients SET email = OLD.email WHERE id = OLD.id",
		"lower(replace(NEW.email, '.', '')) = lower(replace(OLD.email, '.', ''))"
	for name, test := range map[string]struct {
		postgres, sqlite string
		corrected        string
		want             error
	}{
		"restored": {"NEW.email := OLD.email;", restore + ";", "A@Example.org", domain.ErrLeftOver},
		"punctuation restored": {
			"NEW.email := OLD.email;", restore + ";", "a@exampleorg", domain.ErrLeftOver,
		},
		"restored if it is similar": {
			"IF " + similar + " THEN NEW.email := OLD.email; END IF;", restore + " AND " + similar + ";", "A@Example.org",
			domain.ErrLeftOver,
		},
		"a probe that is refused": {
			"IF NEW.email = 'A@Example.ora' THEN RAISE 'no'; END IF; NEW.email := lower(NEW.email);",
			"SELECT RAISE(ABORT, 'no') WHERE NEW.email = 'A@Example.ora'; UPDATE clients SET email = lower(NEW.email)" +
				" WHERE id = OLD.id;", "A@Example.org", domain.ErrLeftOver,
		},
		"lower case": {
			"NEW.email := lower(NEW.email);", "UPDATE clients SET email = lower(NEW.email) WHERE id = OLD.id;",
			"A@Example.org", nil,
		},
		"accepted": {"", "SELECT 1;", "A@Example.org", nil},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				trigger := sqliteTrigger("AFTER UPDATE", "clients", test.sqlite)
				if isPostgres(db) {
					trigger = function("BEFORE UPDATE", "clients", test.postgres+" RETURN NEW;")
				}
				a := open(t, db, app.Config{Models: patrons}, slices.Concat(plainClients, trigger)...)
				_, err := a.rectify(t.Context(), "1", domain.Corrections{domain.CategoryContact: test.corrected})
				if !errors.Is(err, test.want) {
					t.Errorf("got %v (%v)", err, errors.Unwrap(err))
				}
				want := "a@example.org"
				if name == "accepted" {
					want = test.corrected
				}
				if got := a.text(t, "SELECT email FROM clients WHERE id = 1"); got != want {
					t.Errorf("the address is %s, want %s", got, want)
				}
			})
		})
	}
}

// patron is a model of the table "clients". Each of its columns has a different category of personal data.
type patron struct {
	bun.BaseModel `bun:"table:clients"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
	Code          string `bun:"code,type:varchar(4)" pii:"identity,erasure:anonymize"`
	Age           int    `bun:"age" pii:"behavioral,erasure:anonymize"`
	Extra         string `bun:"extra,type:jsonb" pii:"location,erasure:anonymize"`
}

var patrons = []any{(*patron)(nil)}

// These triggers keep no old value. Some of them change the form of the corrected value, for example to upper case. The
// correction succeeds.
func TestATableWithTriggersIsRectified(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ postgres, sqlite []string }{
		"a harmless trigger": {
			function("BEFORE UPDATE", "clients", "RETURN NEW;"), sqliteTrigger("AFTER UPDATE", "clients", "SELECT 1;"),
		},
		"lower case": {
			function("BEFORE UPDATE", "clients", "NEW.email := upper(NEW.email); RETURN NEW;"),
			sqliteTrigger("AFTER UPDATE", "clients", "UPDATE clients SET email = upper(NEW.email) WHERE id = OLD.id;"),
		},
		"a column that is derived": {
			function("BEFORE UPDATE", "clients", "NEW.token := md5(NEW.email)::uuid; RETURN NEW;"),
			sqliteTrigger("AFTER UPDATE", "clients", "UPDATE clients SET token = hex(NEW.email) WHERE id = OLD.id;"),
		},
		"a deferred one": {
			deferred("guard", "UPDATE", "clients", "UPDATE letters SET body = 'x' WHERE client_id = NEW.id;"), nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				trigger := test.sqlite
				if isPostgres(db) {
					trigger = test.postgres
				}
				if trigger == nil {
					return
				}
				a := open(t, db, app.Config{Models: patrons}, slices.Concat(plainClients, trigger)...)
				for range 2 { // a repeated rectification succeeds
					result, err := a.rectify(t.Context(), "1", domain.Corrections{
						domain.CategoryContact: "new@example.org", domain.CategoryIdentity: "AB", domain.CategoryBehavioral: 77,
						domain.CategoryLocation: domain.JSON(`{"b": [1.50], "a": null}`),
					})
					if err != nil || result.Rectified["clients"] != 1 {
						t.Fatalf("got %+v, %v (%v)", result, err, errors.Unwrap(err))
					}
				}
				if n := a.count(t, "SELECT count(*) FROM clients WHERE id = 1 AND lower(email) = 'new@example.org'"+
					" AND age = 77"); n != 1 {
					t.Error("it is not rectified")
				}
				if n := a.count(t, "SELECT count(*) FROM clients WHERE id = 2 AND email = 'b@example.org' AND age = 8"); n != 1 {
					t.Error("the other client was touched")
				}
			})
		})
	}
}

// A correction writes the new address to both columns of its category, "email" and "hash". A trigger then overwrites
// hash with a value that it computes from email. The correction succeeds.
func TestAColumnThatATriggerDerivesFromACorrectionIsNoFailure(t *testing.T) {
	t.Parallel()
	type subscriber struct {
		bun.BaseModel `bun:"table:subscribers"`
		ID            int64  `bun:"id,pk" subject:"id"`
		Email         string `bun:"email" pii:"contact,erasure:anonymize"`
		Hash          string `bun:"hash" pii:"contact,erasure:anonymize,export:no"`
	}
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		trigger := sqliteTrigger("AFTER UPDATE", "subscribers",
			"UPDATE subscribers SET hash = hex(NEW.email) WHERE id = OLD.id;")
		if isPostgres(db) {
			trigger = function("BEFORE UPDATE", "subscribers", "NEW.hash := md5(NEW.email); RETURN NEW;")
		}
		a := open(t, db, app.Config{Models: []any{(*subscriber)(nil)}}, append([]string{
			"CREATE TABLE subscribers (id bigint PRIMARY KEY, email text, hash text)",
			"INSERT INTO subscribers VALUES (1, 'a@example.org', 'x'), (2, 'b@example.org', 'y')",
		}, trigger...)...)
		for range 2 {
			_, err := a.rectify(t.Context(), "1", corrected)
			must(t, err)
		}
		if n := a.count(t, "SELECT count(*) FROM subscribers WHERE email = 'new@example.org' AND length(hash) > 20"); n != 1 {
			t.Error("it is not rectified")
		}
	})
}

// A correction writes to the table "clients" and then to "letters". The second write fires a trigger, which restores
// the old value in clients. The store notices this and writes the correction to clients again.
func TestATriggerOfALaterTableThatUndoesACorrectionIsFound(t *testing.T) {
	t.Parallel()
	type account struct {
		bun.BaseModel `bun:"table:letters"`
		ID            int64   `bun:"id,pk"`
		ClientID      int64   `bun:"client_id"`
		Client        *patron `bun:"rel:belongs-to,join:client_id=id"`
		Body          string  `bun:"body" pii:"contact,erasure:anonymize"`
	}
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		trigger := sqliteTrigger("AFTER UPDATE", "letters",
			"UPDATE clients SET email = 'a@example.org' WHERE id = OLD.client_id;")
		if isPostgres(db) {
			trigger = function("AFTER UPDATE", "letters",
				"UPDATE clients SET email = 'a@example.org' WHERE id = OLD.client_id; RETURN NULL;")
		}
		a := open(t, db, app.Config{Models: []any{(*patron)(nil), (*account)(nil)}}, slices.Concat(plainClients, trigger)...)
		result, err := a.rectify(t.Context(), "1", corrected)
		if err != nil || result.Rectified["clients"] != 1 || result.Rectified["letters"] != 1 {
			t.Errorf("rectified %v, %v", result.Rectified, err)
		}
		if got := a.text(t, "SELECT email FROM clients WHERE id = 1"); got != "new@example.org" {
			t.Errorf("the address is %s", got)
		}
	})
}
