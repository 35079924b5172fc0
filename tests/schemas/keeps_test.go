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

type client struct {
	bun.BaseModel `bun:"table:clients"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
	Code          string `bun:"code,type:varchar(4)" pii:"identity,erasure:anonymize"`
	Token         string `bun:"token,type:uuid" pii:"technical,erasure:anonymize,export:yes"`
	Age           int    `bun:"age" pii:"identity,erasure:anonymize"`
	Extra         string `bun:"extra,type:jsonb" pii:"identity,erasure:anonymize"`
}

type letter struct {
	bun.BaseModel `bun:"table:letters" subject:"owned"`
	ID            int64   `bun:"id,pk"`
	ClientID      int64   `bun:"client_id"`
	Client        *client `bun:"rel:belongs-to,join:client_id=id"`
	Body          string  `bun:"body" pii:"communication"`
}

var clients = []any{(*client)(nil), (*letter)(nil)}

const insertClients = "INSERT INTO %s VALUES" +
	" (1, 'a@example.org', 'ABC1', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', 7, '{\"a\":1}')," +
	" (2, 'b@example.org', 'ABC2', '6ba7b811-9dad-11d1-80b4-00c04fd430c8', 8, '{\"b\":1}')"

func clientTables(table string) []string {
	return []string{
		"CREATE TABLE " + table + " (id bigint PRIMARY KEY, email text, code varchar(4), token uuid, age int, extra jsonb)",
		strings.ReplaceAll(insertClients, "%s", table),
	}
}

func letterTables() []string {
	return []string{
		"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint, body text)",
		"INSERT INTO letters VALUES (1, 1, 'dear'), (2, 2, 'dear')",
	}
}

// function returns the statements that create a trigger with the given body in PL/pgSQL.
func function(event, table, body string) []string {
	return []string{
		"CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + body + " END $$",
		"CREATE TRIGGER guard " + event + " ON " + table + " FOR EACH ROW EXECUTE FUNCTION guard()",
	}
}

// In each case, a trigger or a view prevents the erasure of some data. The erasure must fail and change no row. The
// event of the failure must name the table.
func TestAnErasureFailsIfTheDatabaseKeepsData(t *testing.T) {
	t.Parallel()
	plain := slices.Concat(clientTables("clients"), letterTables())
	for name, test := range map[string]struct {
		postgres, sqlite []string // empty if the database does not support it
		table            string
	}{
		"deletes ignored": {
			slices.Concat(plain, function("BEFORE DELETE", "letters", "RETURN NULL;")),
			append(slices.Clone(plain), "CREATE TRIGGER guard BEFORE DELETE ON letters BEGIN SELECT RAISE(IGNORE); END"),
			"letters",
		},
		"rows that come back": {
			slices.Concat(plain, function("AFTER DELETE", "letters", "INSERT INTO letters VALUES (OLD.*); RETURN NULL;")),
			append(slices.Clone(plain), "CREATE TRIGGER guard AFTER DELETE ON letters BEGIN INSERT INTO letters VALUES"+
				" (OLD.id + 100, OLD.client_id, OLD.body); END"), "letters",
		},
		"rows that come back when the others have gone": {
			slices.Concat(plain, function("AFTER UPDATE", "clients", "INSERT INTO letters"+
				" VALUES (OLD.id + 50, OLD.id, OLD.email) ON CONFLICT DO NOTHING; RETURN NULL;"), []string{
				"CREATE FUNCTION back() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO letters" +
					" VALUES (OLD.id + 1, OLD.client_id, 'x'); RETURN NULL; END $$",
				"CREATE TRIGGER back AFTER DELETE ON letters FOR EACH ROW WHEN (OLD.id > 50) EXECUTE FUNCTION back()",
			}), nil, "letters",
		},
		"updates ignored": {
			slices.Concat(plain, function("BEFORE UPDATE", "clients", "RETURN NULL;")),
			append(slices.Clone(plain), "CREATE TRIGGER guard BEFORE UPDATE ON clients BEGIN SELECT RAISE(IGNORE); END"),
			"clients",
		},
		"an email restored": {
			slices.Concat(plain, function("BEFORE UPDATE", "clients", "NEW.email := OLD.email; RETURN NEW;")),
			append(slices.Clone(plain), "CREATE TRIGGER guard AFTER UPDATE ON clients BEGIN UPDATE clients"+
				" SET email = OLD.email WHERE id = OLD.id; END"), "clients",
		},
		"a short text restored": {
			slices.Concat(plain, function("BEFORE UPDATE", "clients", "NEW.code := OLD.code; RETURN NEW;")),
			append(slices.Clone(plain), "CREATE TRIGGER guard AFTER UPDATE ON clients BEGIN UPDATE clients SET code = OLD.code"+
				" WHERE id = OLD.id; END"), "clients",
		},
		"a UUID restored": {
			slices.Concat(plain, function("BEFORE UPDATE", "clients", "NEW.token := OLD.token; RETURN NEW;")),
			append(slices.Clone(plain), "CREATE TRIGGER guard AFTER UPDATE ON clients BEGIN UPDATE clients"+
				" SET token = OLD.token WHERE id = OLD.id; END"), "clients",
		},
		"a number restored": {
			slices.Concat(plain, function("BEFORE UPDATE", "clients", "NEW.age := OLD.age; RETURN NEW;")),
			append(slices.Clone(plain), "CREATE TRIGGER guard AFTER UPDATE ON clients BEGIN UPDATE clients SET age = OLD.age"+
				" WHERE id = OLD.id; END"), "clients",
		},
		"JSON restored": {
			slices.Concat(plain, function("BEFORE UPDATE", "clients", "NEW.extra := OLD.extra; RETURN NEW;")),
			append(slices.Clone(plain), "CREATE TRIGGER guard AFTER UPDATE ON clients BEGIN UPDATE clients"+
				" SET extra = OLD.extra WHERE id = OLD.id; END"), "clients",
		},
		"a deferred trigger": {
			slices.Concat(plain, []string{
				"CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN" +
					" UPDATE clients SET email = OLD.email WHERE id = OLD.id; RETURN NULL; END $$",
				"CREATE CONSTRAINT TRIGGER guard AFTER UPDATE ON clients DEFERRABLE INITIALLY DEFERRED" +
					" FOR EACH ROW WHEN (NEW.email LIKE 'anon-%') EXECUTE FUNCTION guard()",
			}), nil, "clients",
		},
		"a rule": {
			append(slices.Clone(plain), "CREATE RULE guard AS ON DELETE TO letters DO INSTEAD NOTHING"), nil, "letters",
		},
		"a view that hides": {
			slices.Concat(clientTables("clients"), []string{
				"CREATE TABLE all_letters (id bigint PRIMARY KEY, client_id bigint, body text, hidden boolean DEFAULT FALSE)",
				"INSERT INTO all_letters VALUES (1, 1, 'dear', FALSE), (3, 1, 'hidden', TRUE), (2, 2, 'dear', FALSE)",
				"CREATE VIEW letters AS SELECT id, client_id, body FROM all_letters WHERE NOT hidden",
				"CREATE RULE guard AS ON DELETE TO letters DO INSTEAD UPDATE all_letters SET hidden = TRUE WHERE id = OLD.id",
			}),
			slices.Concat(clientTables("clients"), []string{
				"CREATE TABLE all_letters (id bigint PRIMARY KEY, client_id bigint, body text, hidden boolean DEFAULT FALSE)",
				"INSERT INTO all_letters VALUES (1, 1, 'dear', FALSE), (3, 1, 'hidden', TRUE), (2, 2, 'dear', FALSE)",
				"CREATE VIEW letters AS SELECT id, client_id, body FROM all_letters WHERE NOT hidden",
				"CREATE TRIGGER guard INSTEAD OF DELETE ON letters BEGIN" +
					" UPDATE all_letters SET hidden = TRUE WHERE id = OLD.id; END",
			}), "letters",
		},
		"a view whose trigger does nothing": {
			slices.Concat(clientTables("clients"), []string{
				"CREATE TABLE all_letters (id bigint PRIMARY KEY, client_id bigint, body text)",
				"INSERT INTO all_letters VALUES (1, 1, 'dear'), (2, 2, 'dear')",
				"CREATE VIEW letters AS SELECT * FROM all_letters",
			}, function("INSTEAD OF DELETE", "letters", "RETURN OLD;")),
			slices.Concat(clientTables("clients"), []string{
				"CREATE TABLE all_letters (id bigint PRIMARY KEY, client_id bigint, body text)",
				"INSERT INTO all_letters VALUES (1, 1, 'dear'), (2, 2, 'dear')",
				"CREATE VIEW letters AS SELECT * FROM all_letters",
				"CREATE TRIGGER guard INSTEAD OF DELETE ON letters BEGIN SELECT 1; END",
			}), "letters",
		},
		"a trigger of a partition": {
			slices.Concat(clientTables("clients"), []string{
				"CREATE TABLE letters (id bigint, client_id bigint, body text) PARTITION BY HASH (id)",
				"CREATE TABLE letters_0 PARTITION OF letters FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
				"INSERT INTO letters VALUES (1, 1, 'dear'), (2, 2, 'dear')",
			}, function("BEFORE DELETE", "letters_0", "RETURN NULL;")), nil, "letters",
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
				a := open(t, db, app.Config{Models: clients}, statements...)
				_, err := a.erase(t.Context(), "1")
				want := domain.ErrLeftOver
				if strings.HasPrefix(name, "a view ") { // the erasure is refused before its first step
					want = domain.ErrConfiguration
				}
				if !errors.Is(err, want) {
					t.Fatalf("got %v (%v), want %v", err, errors.Unwrap(err), want)
				}
				if strings.Contains(err.Error(), "example.org") {
					t.Errorf("the error holds a value: %v", err)
				}
				failures := a.failed(t, "1")
				if len(failures) != 1 || failures[0]["target"] != test.table {
					t.Errorf("%v: evidence %v, want %s", err, failures, test.table)
				}
				if a.text(t, "SELECT email FROM clients WHERE id = 1") != "a@example.org" {
					t.Error("a part of the erasure is there")
				}
				if a.count(t, "SELECT count(*) FROM habeas_subject_erasures") > 0 {
					t.Error("the mark of an erasure is there")
				}
			})
		})
	}
}

// These triggers keep no erased data, and these views show all rows and columns of their table. An erasure succeeds.
func TestATableWithTriggersIsErased(t *testing.T) {
	t.Parallel()
	plain := slices.Concat(clientTables("clients"), letterTables())
	for name, test := range map[string]struct{ postgres, sqlite []string }{
		"a harmless trigger": {
			slices.Concat(plain, function("BEFORE INSERT OR UPDATE OR DELETE", "clients", "RETURN COALESCE(NEW, OLD);")),
			append(slices.Clone(plain), "CREATE TRIGGER guard AFTER UPDATE ON clients BEGIN SELECT 1; END"),
		},
		"a trigger that is switched off": {
			slices.Concat(plain, function("BEFORE UPDATE", "clients", "RETURN NULL;"),
				[]string{"ALTER TABLE clients DISABLE TRIGGER guard"}), nil,
		},
		"a view": {
			slices.Concat(clientTables("all_clients"), letterTables(),
				[]string{"CREATE VIEW clients AS SELECT * FROM all_clients"}),
			nil,
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
				a := open(t, db, app.Config{Models: clients}, statements...)
				for range 2 { // an erasure may be repeated
					result, err := a.erase(t.Context(), "1")
					if err != nil || result.Anonymized["clients"] != 1 {
						t.Fatalf("got %+v, %v (%v)", result, err, errors.Unwrap(err))
					}
				}
				if n := a.count(t, "SELECT count(*) FROM clients WHERE email = 'a@example.org' OR code = 'ABC1'"+
					" OR age = 7"); n > 0 {
					t.Error("something is left")
				}
				if n := a.count(t, "SELECT count(*) FROM clients WHERE email = 'b@example.org' AND code = 'ABC2'"+
					" AND age = 8"); n != 1 {
					t.Error("the other client was touched")
				}
			})
		})
	}
}

func TestRowSecurityIsRefusedUnlessItIsTrusted(t *testing.T) {
	t.Parallel()
	secured := slices.Concat(clientTables("clients"), letterTables(), []string{
		"ALTER TABLE letters ENABLE ROW LEVEL SECURITY", "ALTER TABLE letters FORCE ROW LEVEL SECURITY",
		"CREATE POLICY part ON letters USING (id <> 1)",
		"DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'habeas_plain') THEN" +
			" CREATE ROLE habeas_plain; END IF; END $$",
		"GRANT ALL ON ALL TABLES IN SCHEMA public TO habeas_plain", "GRANT habeas_plain TO CURRENT_USER",
		"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET role = habeas_plain', current_database()); END $$",
	})
	for _, trusted := range []bool{false, true} {
		db := onPostgres(t)
		a := open(t, db, app.Config{Models: clients, TrustRowFilters: trusted}, secured...)
		databases.Reconnect(db)
		_, exporting := a.export(t.Context(), "1")
		_, rectifying := a.rectify(t.Context(), "1", domain.Corrections{domain.CategoryContact: "c@example.org"})
		_, erasing := a.erase(t.Context(), "1")
		for what, err := range map[string]error{"erase": erasing, "export": exporting, "rectify": rectifying} {
			if trusted && err != nil {
				t.Errorf("%s, trusted: %v (%v)", what, err, errors.Unwrap(err))
			}
			if !trusted && (!errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), "letters")) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

func TestAFilteringViewIsNotExported(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: clients}, slices.Concat(clientTables("clients"), []string{
			"CREATE TABLE all_letters (id bigint PRIMARY KEY, client_id bigint, body text, hidden boolean)",
			"CREATE VIEW letters AS SELECT id, client_id, body FROM all_letters WHERE hidden IS NULL",
		})...)
		if _, err := a.export(t.Context(), "1"); !errors.Is(err, domain.ErrConfiguration) ||
			!strings.Contains(err.Error(), "letters") {
			t.Errorf("got %v", err)
		}
	})
}

func TestTablesIntoWhichTriggersCopyAreNamedOnce(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		trigger := []string{
			"CREATE TRIGGER guard AFTER UPDATE ON clients BEGIN INSERT INTO clients_history VALUES (OLD.id, OLD.email); END",
		}
		if isPostgres(db) {
			trigger = function("AFTER UPDATE", "clients",
				`INSERT INTO public."clients_history" VALUES (OLD.id, OLD.email); RETURN NULL;`)
		}
		a := open(t, db, app.Config{Models: clients}, slices.Concat(clientTables("clients"), letterTables(), []string{
			"CREATE TABLE clients_history (id bigint, email text)",
		}, trigger)...)
		for _, id := range []string{"1", "2"} {
			_, err := a.erase(t.Context(), id)
			must(t, err)
		}
		execute(t, db, "CREATE TABLE another (id bigint)")
		_, err := a.erase(t.Context(), "1")
		must(t, err)
		if log := a.log.String(); strings.Count(log, "clients_history") != 1 || strings.Contains(log, "example.org") {
			t.Errorf("logged %s", log)
		}
	})
}
