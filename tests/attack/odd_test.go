package attack

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/tests/databases"
)

type intInText struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64 `bun:"id,pk" subject:"id"`
	V             int64 `bun:"v,type:varchar" pii:"contact,erasure:anonymize"`
}
type boolInText struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64 `bun:"id,pk" subject:"id"`
	V             bool  `bun:"v,type:varchar" pii:"contact,erasure:anonymize"`
}
type uuidWithSurrogate struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:uuid" pii:"contact,erasure:anonymize,surrogate:00000000-0000-0000-0000-000000000000"`
}
type arrayWithSurrogate struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64    `bun:"id,pk" subject:"id"`
	V             []string `bun:"v,array" pii:"contact,erasure:anonymize,surrogate:'{none}'"`
}
type shortWithSurrogate struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:varchar(4)" pii:"contact,erasure:anonymize,surrogate:none"`
}
type timeInText struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64     `bun:"id,pk" subject:"id"`
	V             time.Time `bun:"v,type:varchar" pii:"contact,erasure:anonymize"`
}
type uuidInText struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64    `bun:"id,pk" subject:"id"`
	V             [3]uint8 `bun:"-"`
	W             string   `bun:"v,type:char(36)" pii:"contact,erasure:anonymize"`
}

func TestConstantsBesideATrigger(t *testing.T) {
	for name, c := range map[string]struct {
		ddl, value string
		model      any
	}{
		"int in text":          {"varchar", "'5'", (*intInText)(nil)},
		"bool in text":         {"varchar", "'true'", (*boolInText)(nil)},
		"time in text":         {"varchar", "'2020-01-01 00:00:00+00:00'", (*timeInText)(nil)},
		"uuid with surrogate":  {"uuid", "'6ba7b810-9dad-11d1-80b4-00c04fd430c8'", (*uuidWithSurrogate)(nil)},
		"array with surrogate": {"text[]", "'{a}'", (*arrayWithSurrogate)(nil)},
		"short with surrogate": {"varchar(4)", "'abc'", (*shortWithSurrogate)(nil)},
		"char 36":              {"char(36)", "'abc'", (*uuidInText)(nil)},
	} {
		for _, trigger := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				databases.Each(t, func(t *testing.T, db *bun.DB) {
					ddl := c.ddl
					if !isPostgres(db) {
						ddl = strings.ReplaceAll(ddl, "[]", "")
					}
					statements := []string{"CREATE TABLE profiles (id bigint PRIMARY KEY, v " + ddl + ")", "INSERT INTO profiles VALUES (1, " + c.value + ")"}
					if trigger && isPostgres(db) {
						statements = append(statements, "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",
							"CREATE TRIGGER f BEFORE UPDATE ON profiles FOR EACH ROW EXECUTE FUNCTION f()")
					} else if trigger {
						statements = append(statements, "CREATE TRIGGER f AFTER UPDATE ON profiles BEGIN SELECT 1; END")
					}
					a := open(t, db, app.Config{Models: []any{c.model}}, statements...)
					if _, err := a.erase(t.Context(), "1"); err != nil {
						t.Errorf("trigger %v: %v (%v)", trigger, err, errors.Unwrap(err))
					}
				})
			})
		}
	}
}

type odd struct {
	bun.BaseModel `bun:"table:Ödd '$1 ?0 table"`
	ID            int64  `bun:"$id ?,pk" subject:"id"`
	Email         string `bun:"select" pii:"contact,erasure:anonymize"`
}
type oddChild struct {
	bun.BaseModel `bun:"table:order"`
	ID            int64  `bun:"id,pk"`
	OddID         int64  `bun:"from"`
	Odd           *odd   `bun:"rel:belongs-to,join:from=$id ?"`
	Body          string `bun:"$2" pii:"communication"`
}

func TestOddNames(t *testing.T) {
	for _, trigger := range []bool{false, true} {
		databases.Each(t, func(t *testing.T, db *bun.DB) {
			statements := []string{
				`CREATE TABLE "Ödd '$1 ?0 table" ("$id ?" bigint PRIMARY KEY, "select" text)`,
				`CREATE TABLE "order" (id bigint PRIMARY KEY, "from" bigint REFERENCES "Ödd '$1 ?0 table", "$2" text)`,
				`INSERT INTO "Ödd '$1 ?0 table" VALUES (1, 'a'), (2, 'b')`, `INSERT INTO "order" VALUES (1, 1, 'a'), (2, 2, 'b')`,
			}
			if trigger && isPostgres(db) {
				statements = append(statements, "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",
					`CREATE TRIGGER f BEFORE UPDATE ON "Ödd '$1 ?0 table" FOR EACH ROW EXECUTE FUNCTION f()`)
			} else if trigger {
				statements = append(statements, `CREATE TRIGGER f AFTER UPDATE ON "Ödd '$1 ?0 table" BEGIN SELECT 1; END`)
			}
			for i, s := range statements {
				_ = i
				if _, err := db.DB.ExecContext(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			a := open(t, db, app.Config{Models: []any{(*odd)(nil), (*oddChild)(nil)}})
			if b, err := a.export(t.Context(), "1"); err != nil || len(b.Records) != 2 {
				t.Error(b.Records, err, errors.Unwrap(err))
			}
			if _, err := a.rectify(t.Context(), "1", domain.Corrections{domain.CategoryContact: "c"}); err != nil {
				t.Error(err, errors.Unwrap(err))
			}
			if r, err := a.erase(t.Context(), "1"); err != nil || r.Deleted["order"] != 1 {
				t.Error(r, err, errors.Unwrap(err))
			}
		})
	}
}

func TestRetentionOnSQLite(t *testing.T) {
	now := time.Now().UTC()
	near := now.AddDate(-10, 0, 0)
	for name, c := range map[string]struct {
		ddl, value string
		gone       bool
	}{
		"offset, not over":   {"timestamp", near.Add(3 * time.Hour).In(time.FixedZone("", -10*3600)).Format("2006-01-02 15:04:05-07:00"), false},
		"offset, over":       {"timestamp", near.Add(-3 * time.Hour).In(time.FixedZone("", 10*3600)).Format("2006-01-02 15:04:05-07:00"), true},
		"Go, not over":       {"text", near.Add(3 * time.Hour).In(time.FixedZone("X", -10*3600)).String(), false},
		"Go, over":           {"text", near.Add(-50 * time.Hour).String(), true},
		"empty":              {"text", "", false},
		"garbage":            {"text", "unknown", false},
		"time of day only":   {"text", "10:00", false},
		"now":                {"text", "now", false},
		"a year":             {"text", "2024", false},
		"an integer year":    {"integer", "2024", false},
		"unix seconds":       {"integer", "1900000000", false},
		"unix seconds, new":  {"integer", "1750000000", false},
		"days":               {"integer", "20000", false},
		"a date as a number": {"integer", "20251122", false},
		"German":             {"text", "01.02.2025", false},
		"RFC 3339":           {"text", near.Add(time.Hour).Format(time.RFC3339Nano), false},
		"T without zone":     {"text", near.Add(-time.Hour).Format("2006-01-02T15:04:05"), true},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, databases.SQLite(t), app.Config{Models: []any{(*kept)(nil)}},
				"CREATE TABLE kept (id bigint PRIMARY KEY, email text, address text, issued_at "+c.ddl+")",
				"INSERT INTO kept VALUES (1, 'a', 'home', '"+c.value+"')")
			if _, err := a.erase(t.Context(), "1"); err != nil {
				t.Fatalf("%v (%v)", err, errors.Unwrap(err))
			}
			if gone := a.text(t, "SELECT address FROM kept") != "home"; gone != c.gone {
				t.Errorf("gone %v, want %v", gone, c.gone)
			}
		})
	}
}

type account struct {
	bun.BaseModel `bun:"table:accounts" subject:"owned"`
	Tenant        string `bun:"tenant,pk" subject:"id"`
	Name          string `bun:"name,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact"`
}
type note struct {
	bun.BaseModel `bun:"table:notes" subject:"owned"`
	ID            int64    `bun:"id,pk"`
	Tenant        string   `bun:"tenant"`
	Name          string   `bun:"name"`
	Account       *account `bun:"rel:belongs-to,join:tenant=tenant,join:name=name"`
	Body          string   `bun:"body" pii:"communication"`
}

// Two integrations with different data maps on one database.
func TestTwoIntegrations(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: ownedClients}, append(clientsTable(),
			"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint REFERENCES clients, body text)",
			"INSERT INTO letters VALUES (1, 1, 'x')",
			"CREATE TABLE members (handle text PRIMARY KEY, email text)", "INSERT INTO members VALUES ('1', 'm')",
			"CREATE TABLE posts (id text PRIMARY KEY, handle text, body text)", "CREATE TABLE remarks (id bigint PRIMARY KEY, post_id text, body text)")...)
		b := open(t, db, app.Config{Models: forum})
		_, err := a.erase(t.Context(), "1")
		must(t, err)
		if bundle, err := b.export(t.Context(), "1"); err != nil || len(bundle.Records) != 1 {
			t.Error(bundle.Records, err)
		}
		if r, err := b.erase(t.Context(), "1"); err != nil || r.Deleted["members"] != 1 {
			t.Error(r, err)
		}
	})
}

// Tenants by search path: the same names mean other tables on other connections.
func TestSearchPaths(t *testing.T) {
	d := databases.Driver{Name: "pg", SQL: "pgx"}
	url := d.NewDatabase(t)
	admin := d.Open(t, url)
	a := open(t, admin, app.Config{Models: clients}, append(clientsTable(),
		"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint, body text)", "INSERT INTO letters VALUES (1, 1, 'x')",
		"CREATE SCHEMA tenant", "CREATE TABLE tenant.letters (id bigint PRIMARY KEY, client_id bigint, body text)",
		"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
		"CREATE TRIGGER f BEFORE DELETE ON tenant.letters FOR EACH ROW EXECUTE FUNCTION f()",
		"INSERT INTO tenant.letters VALUES (1, 1, 'x')")...)
	_, err := a.export(t.Context(), "1")
	must(t, err)
	_, err = a.erase(t.Context(), "1")
	must(t, err)
	admin.SetMaxOpenConns(1)
	execute(t, admin, "SET search_path TO tenant, public")
	if _, err := a.erase(t.Context(), "1"); err == nil {
		t.Error("success, and the letter is left")
	}
	execute(t, admin, "SET search_path TO public")
	if _, err := a.erase(t.Context(), "1"); err != nil {
		t.Error(err)
	}
	_ = slices.Concat[[]int]
}
