package attack

import (
	"database/sql"
	"errors"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/tests/databases"
)

type bareUser struct {
	bun.BaseModel `bun:"table:clients"`
	ID            int64 `bun:"id,pk" subject:"id"`
}

type bareLetter struct {
	bun.BaseModel `bun:"table:letters" subject:"owned"`
	ID            int64     `bun:"id,pk"`
	ClientID      int64     `bun:"client_id"`
	Client        *bareUser `bun:"rel:belongs-to,join:client_id=id"`
	Body          string    `bun:"body" pii:"communication"`
}

type enclosure struct {
	bun.BaseModel `bun:"table:enclosures" subject:"owned"`
	ID            int64        `bun:"id,pk"`
	LetterID      int64        `bun:"letter_id"`
	Letter        *ownedLetter `bun:"rel:belongs-to,join:letter_id=id"`
	Body          string       `bun:"body" pii:"communication"`
}

func asRole(role string, grants ...string) []string {
	return slices.Concat([]string{
		"DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '" + role + "') THEN CREATE ROLE " + role + "; END IF; END $$",
		"DO $$ DECLARE n text; BEGIN FOR n IN SELECT c.relname FROM pg_class c WHERE c.relname LIKE 'habeas%' AND c.relkind IN ('r','S') LOOP EXECUTE format('GRANT ALL ON %I TO " + role + "', n); END LOOP; END $$",
		"GRANT " + role + " TO CURRENT_USER",
	}, grants, []string{"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET role = " + role + "', current_database()); END $$"})
}

// The subject's table belongs to an identity service: this role may only read it.
func TestASubjectTableThatTheRoleOnlyReads(t *testing.T) {
	db := databases.PostgreSQL(t)
	a := open(t, db, app.Config{Models: []any{(*bareUser)(nil), (*bareLetter)(nil)}}, slices.Concat(clientsTable(), []string{
		"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint REFERENCES clients, body text)",
		"INSERT INTO letters VALUES (1, 1, 'x'), (2, 2, 'x')",
	}, asRole("attack_a", "GRANT SELECT ON clients TO attack_a", "GRANT SELECT, DELETE ON letters TO attack_a"))...)
	db.SetMaxIdleConns(0)
	_, err := a.erase(t.Context(), "1")
	if err != nil {
		t.Errorf("%v (%v)", err, errors.Unwrap(err))
	}
}

// Rows that are deleted, never updated: the role has no UPDATE on them.
func TestARoleThatMayDeleteAndNotUpdate(t *testing.T) {
	db := databases.PostgreSQL(t)
	a := open(t, db, app.Config{Models: []any{(*client)(nil), (*ownedLetter)(nil), (*enclosure)(nil)}}, slices.Concat(clientsTable(), []string{
		"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint REFERENCES clients, body text)",
		"CREATE TABLE enclosures (id bigint PRIMARY KEY, letter_id bigint REFERENCES letters, body text)",
		"INSERT INTO letters VALUES (1, 1, 'x'), (2, 2, 'x')", "INSERT INTO enclosures VALUES (1, 1, 'x')",
	}, asRole("attack_b", "GRANT SELECT, UPDATE (email) ON clients TO attack_b", "GRANT SELECT, DELETE ON letters, enclosures TO attack_b"))...)
	db.SetMaxIdleConns(0)
	_, err := a.erase(t.Context(), "1")
	if err != nil {
		t.Errorf("%v (%v)", err, errors.Unwrap(err))
	}
}

// Columns that the role may not even read.
func TestColumnPrivileges(t *testing.T) {
	db := databases.PostgreSQL(t)
	a := open(t, db, app.Config{Models: ownedClients}, slices.Concat(clientsTable(), []string{
		"ALTER TABLE clients ADD COLUMN secret text",
		"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint REFERENCES clients, body text)",
		"INSERT INTO letters VALUES (1, 1, 'x'), (2, 2, 'x')",
	}, asRole("attack_c", "GRANT SELECT (id, email), UPDATE (email) ON clients TO attack_c", "GRANT SELECT, UPDATE, DELETE ON letters TO attack_c"))...)
	db.SetMaxIdleConns(0)
	for _, trigger := range []bool{false, true} {
		if trigger {
			execute(t, db, "RESET ROLE; CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$; CREATE TRIGGER f BEFORE UPDATE ON clients FOR EACH ROW EXECUTE FUNCTION f()")
		}
		if _, err := a.export(t.Context(), "1"); err != nil {
			t.Errorf("%v (%v)", err, errors.Unwrap(err))
		}
		if _, err := a.rectify(t.Context(), "1", domain.Corrections{domain.CategoryContact: "c@example.org"}); err != nil {
			t.Errorf("%v (%v)", err, errors.Unwrap(err))
		}
		if _, err := a.erase(t.Context(), "1"); err != nil {
			t.Errorf("%v (%v)", err, errors.Unwrap(err))
		}
	}
}

// Subjects that are read from something that cannot be locked.
func TestASubjectTableThatCannotBeLocked(t *testing.T) {
	for name, statements := range map[string][]string{
		"materialized view": {"CREATE MATERIALIZED VIEW clients AS SELECT id, email FROM people"},
		"values":            {"CREATE VIEW clients AS SELECT 1::bigint AS id, 'x' AS email"},
		"plain view":        {"CREATE VIEW clients AS SELECT id, email FROM people"},
		"function":          {"CREATE FUNCTION all_people() RETURNS SETOF people LANGUAGE sql AS 'SELECT * FROM people'", "CREATE VIEW clients AS SELECT id, email FROM all_people()"},
		"partitioned": {"CREATE TABLE clients (id bigint PRIMARY KEY, email text) PARTITION BY RANGE (id)",
			"CREATE TABLE c1 PARTITION OF clients FOR VALUES FROM (0) TO (2)", "CREATE TABLE c2 PARTITION OF clients DEFAULT", "INSERT INTO clients SELECT * FROM people"},
		"inherited": {"CREATE TABLE clients (id bigint PRIMARY KEY, email text)", "CREATE TABLE c1 () INHERITS (clients)", "INSERT INTO c1 SELECT * FROM people"},
		"unlogged":  {"CREATE UNLOGGED TABLE clients AS SELECT * FROM people"},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, databases.PostgreSQL(t), app.Config{Models: []any{(*bareUser)(nil), (*bareLetter)(nil)}}, slices.Concat(
				[]string{"CREATE TABLE people (id bigint PRIMARY KEY, email text)", "INSERT INTO people VALUES (1, 'a'), (2, 'b')"},
				statements, []string{
					"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint, body text)",
					"INSERT INTO letters VALUES (1, 1, 'x'), (2, 2, 'x')",
				})...)
			if _, err := a.export(t.Context(), "1"); err != nil {
				t.Errorf("%v (%v)", err, errors.Unwrap(err))
			}
			if _, err := a.erase(t.Context(), "1"); err != nil {
				t.Errorf("%v (%v)", err, errors.Unwrap(err))
			}
		})
	}
}

type kept struct {
	bun.BaseModel `bun:"table:kept"`
	ID            int64     `bun:"id,pk" subject:"id"`
	Email         string    `bun:"email" pii:"contact,erasure:anonymize"`
	Address       string    `bun:"address" pii:"financial,erasure:retain,reason:'books',retain:10y,since:issued_at"`
	IssuedAt      time.Time `bun:"issued_at"`
}

func TestRetention(t *testing.T) {
	now := time.Now().UTC()
	near := now.AddDate(-10, 0, 0)
	for name, c := range map[string]struct {
		ddl, value string
		gone       bool
	}{
		"text, offset, not over": {"text", near.Add(3 * time.Hour).In(time.FixedZone("", -10*3600)).Format("2006-01-02 15:04:05-07:00"), false},
		"text, offset, over":     {"text", near.Add(-3 * time.Hour).In(time.FixedZone("", 10*3600)).Format("2006-01-02 15:04:05-07:00"), true},
		"text RFC 3339":          {"text", near.Add(3 * time.Hour).In(time.FixedZone("", -10*3600)).Format(time.RFC3339), false},
		"text empty":             {"text", "", false},
		"text garbage":           {"text", "unknown", false},
		"date":                   {"date", near.AddDate(0, 0, -2).Format("2006-01-02"), true},
		"date today":             {"date", near.AddDate(0, 0, 1).Format("2006-01-02"), false},
		"timestamp":              {"timestamp", near.Add(time.Hour).Format("2006-01-02 15:04:05"), false},
		"timestamp over":         {"timestamp", near.Add(-time.Hour).Format("2006-01-02 15:04:05"), true},
		"timestamptz":            {"timestamptz", near.Add(time.Hour).Format("2006-01-02 15:04:05Z"), false},
		"timestamptz over":       {"timestamptz", near.Add(-time.Hour).Format("2006-01-02 15:04:05Z"), true},
		"domain":                 {"moment", near.Add(time.Hour).Format("2006-01-02 15:04:05Z"), false},
		"domain over":            {"moment", near.Add(-time.Hour).Format("2006-01-02 15:04:05Z"), true},
		"infinity":               {"timestamptz", "infinity", false},
		"-infinity":              {"timestamptz", "-infinity", true},
		"infinity date":          {"date", "infinity", false},
		"null":                   {"timestamptz", "", false},
	} {
		for _, zone := range []string{"UTC", "Pacific/Kiritimati", "Etc/GMT+12"} {
			for _, trigger := range []bool{false, true} {
				t.Run(name+" "+zone, func(t *testing.T) {
					if trigger && zone != "UTC" {
						return
					}
					db := databases.PostgreSQL(t)
					value := "'" + c.value + "'"
					if name == "null" {
						value = "NULL"
					}
					statements := []string{
						"CREATE DOMAIN moment AS timestamptz",
						"CREATE TABLE kept (id bigint PRIMARY KEY, email text, address text, issued_at " + c.ddl + ")",
						"INSERT INTO kept VALUES (1, 'a', 'home', " + value + ")",
						"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''" + zone + "''', current_database()); END $$",
					}
					if trigger {
						statements = append(statements, "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$; CREATE TRIGGER f BEFORE UPDATE ON kept FOR EACH ROW EXECUTE FUNCTION f()")
					}
					a := open(t, db, app.Config{Models: []any{(*kept)(nil)}}, statements...)
					db.SetMaxIdleConns(0)
					if b, err := a.export(t.Context(), "1"); err != nil {
						t.Error(b, err)
					}
					_, err := a.erase(t.Context(), "1")
					if err != nil {
						t.Fatalf("%v (%v)", err, errors.Unwrap(err))
					}
					if gone := a.text(t, "SELECT address FROM kept") != "home"; gone != c.gone {
						t.Errorf("gone %v, want %v", gone, c.gone)
					}
				})
			}
		}
	}
}

// Every way in which pgx sends statements.
func TestExecModes(t *testing.T) {
	for _, mode := range []string{"exec", "simple_protocol", "cache_describe", "describe_exec"} {
		for _, trigger := range []bool{false, true} {
			t.Run(mode, func(t *testing.T) {
				d := databases.Driver{Name: "pg", SQL: "pgx"}
				u, _ := url.Parse(d.NewDatabase(t))
				q := u.Query()
				q.Set("default_query_exec_mode", mode)
				u.RawQuery = q.Encode()
				sqldb, err := sql.Open("pgx", u.String())
				must(t, err)
				t.Cleanup(func() { _ = sqldb.Close() })
				db := bun.NewDB(sqldb, pgdialect.New()).WithNamedArg("id", 7)
				statements := []string{
					"CREATE TABLE kept (id bigint PRIMARY KEY, email text, address text, issued_at timestamptz)",
					"INSERT INTO kept VALUES (1, 'a', 'home', '2000-01-01'), (2, 'b', 'home', '2000-01-01')",
					"CREATE TYPE mood AS ENUM ('ok', 'sad')",
					"CREATE TABLE sub (id bigint PRIMARY KEY, kept_id bigint REFERENCES kept, v mood, x jsonb, c varchar(3), n numeric)",
					"INSERT INTO sub VALUES (1, 1, 'sad', '{}', 'abc', 2), (2, 2, 'sad', '{\"a\":1}', 'abc', 2)",
				}
				if trigger {
					for _, table := range []string{"kept", "sub"} {
						statements = append(statements, "CREATE OR REPLACE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",
							"CREATE TRIGGER f BEFORE UPDATE ON "+table+" FOR EACH ROW EXECUTE FUNCTION f()")
					}
				}
				a := open(t, db, app.Config{Models: []any{(*kept)(nil), (*sub)(nil)}}, statements...)
				if b, err := a.export(t.Context(), "1"); err != nil || len(b.Records) != 6 {
					t.Error(len(b.Records), err, errors.Unwrap(err))
				}
				if _, err := a.rectify(t.Context(), "1", domain.Corrections{domain.CategoryContact: "c@example.org", domain.CategoryFinancial: "moved"}); err != nil {
					t.Error(err, errors.Unwrap(err))
				}
				if _, err := a.erase(t.Context(), "1"); err != nil {
					t.Errorf("%v (%v)", err, errors.Unwrap(err))
				}
				if a.count(t, "SELECT count(*) FROM kept WHERE email = 'b' AND address = 'home'") != 1 || a.count(t, "SELECT count(*) FROM sub WHERE v = 'sad' AND n = 2") != 1 {
					t.Error("wrong row")
				}
			})
		}
	}
}

type sub struct {
	bun.BaseModel `bun:"table:sub"`
	ID            int64          `bun:"id,pk"`
	KeptID        int64          `bun:"kept_id"`
	Kept          *kept          `bun:"rel:belongs-to,join:kept_id=id"`
	V             string         `bun:"v,type:mood" pii:"identity,erasure:anonymize,surrogate:ok"`
	X             map[string]any `bun:"x,type:jsonb" pii:"identity,erasure:anonymize,surrogate:'{\"none\": true}'"`
	C             string         `bun:"c,type:varchar(3)" pii:"identity,erasure:anonymize"`
	N             float64        `bun:"n,type:numeric" pii:"identity,erasure:anonymize"`
}
