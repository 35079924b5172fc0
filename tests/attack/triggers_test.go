package attack

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/tests/databases"
)

type profile struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64     `bun:"id,pk" subject:"id"`
	Email         string    `bun:"email" pii:"contact,erasure:anonymize"`
	Doc           string    `bun:"doc,type:xml" pii:"identity,erasure:anonymize,surrogate:'<x/>'"`
	Extra         string    `bun:"extra,type:json" pii:"identity,erasure:anonymize"`
	IP            string    `bun:"ip,type:inet" pii:"technical,erasure:anonymize,surrogate:0.0.0.0"`
	State         string    `bun:"state,type:mood" pii:"identity,erasure:anonymize,surrogate:ok"`
	Span          string    `bun:"span,type:daterange" pii:"identity,erasure:anonymize,surrogate:empty"`
	Place         string    `bun:"place,type:point" pii:"location,erasure:anonymize,surrogate:'(0,0)'"`
	Area          string    `bun:"area,type:box" pii:"location,erasure:anonymize,surrogate:'(0,0),(0,0)'"`
	Salary        string    `bun:"salary,type:numeric" pii:"financial,erasure:anonymize"`
	Raw           []byte    `bun:"raw,type:bytea" pii:"identity,erasure:anonymize"`
	Tags          []string  `bun:"tags,array" pii:"identity,erasure:anonymize"`
	Born          time.Time `bun:"born,type:date" pii:"identity,erasure:anonymize"`
	Seen          time.Time `bun:"seen" pii:"behavioral,erasure:anonymize"`
}

var profileColumns = map[string]string{
	"email": "text", "doc": "xml", "extra": "json", "ip": "inet", "state": "mood", "span": "daterange", "place": "point",
	"area": "box", "salary": "numeric(10,2)", "raw": "bytea", "tags": "text[]", "born": "date", "seen": "timestamptz",
}

var profileRow = "(%d, 'a@example.org', '<a/>', '{\"a\":1}', '1.2.3.4', 'sad', '[2020-01-01,2021-01-01)', '(1,2)', '(1,1),(2,2)', 10.5, 'abc', '{a}', '1990-01-01', now())"

// An ordinary trigger must not keep an erasure of any type from its work.
func TestTypesBesideATrigger(t *testing.T) {
	run := func(t *testing.T, emailType string, model any, prepare ...string) {
		a := open(t, databases.PostgreSQL(t), app.Config{Models: []any{model}}, append(prepare,
			"CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.updated_at := now(); RETURN NEW; END $$",
			"CREATE TRIGGER touch BEFORE UPDATE ON profiles FOR EACH ROW EXECUTE FUNCTION touch()")...)
		_, err := a.erase(t.Context(), "1")
		if err != nil {
			t.Errorf("%v (%v)", err, errors.Unwrap(err))
		}
		if a.failed(t, "1") != nil {
			t.Log(a.failed(t, "1"))
		}
	}
	all := []string{
		"CREATE TYPE mood AS ENUM ('ok', 'sad')",
		"CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
	}
	t.Run("nondeterministic collation", func(t *testing.T) {
		run(t, "", (*client2)(nil), slices.Concat(all, []string{
			"CREATE TABLE profiles (id bigint PRIMARY KEY, email text COLLATE loose, updated_at timestamptz)",
			"INSERT INTO profiles VALUES (1, 'a@example.org')"})...)
	})
	type one struct {
		name, ddl, value string
		model            any
	}
	for _, c := range []one{
		{"xml", "xml", "'<a/>'", (*xmlModel)(nil)},
		{"box", "box", "'(1,1),(2,2)'", (*boxModel)(nil)},
		{"point", "point", "'(1,1)'", (*pointModel)(nil)},
		{"inet", "inet", "'1.2.3.4'", (*inetModel)(nil)},
		{"enum", "mood", "'sad'", (*enumModel)(nil)},
		{"range", "daterange", "'[2020-01-01,2021-01-01)'", (*rangeModel)(nil)},
		{"json", "json", "'{\"a\":1}'", (*jsonModel)(nil)},
		{"json surrogate", "json", "'{\"a\":1}'", (*jsonSurrogateModel)(nil)},
		{"array", "text[]", "'{a}'", (*arrayModel)(nil)},
		{"bytea", "bytea", "'a'", (*bytesModel)(nil)},
		{"numeric", "numeric(10,2)", "2.5", (*numericModel)(nil)},
		{"date", "date", "'2020-01-01'", (*dateModel)(nil)},
		{"timestamp", "timestamp", "'2020-01-01'", (*dateModel)(nil)},
		{"timestamptz", "timestamptz", "'infinity'", (*dateModel)(nil)},
		{"char(20)", "char(20)", "'abc'", (*client2v)(nil)},
		{"money", "money", "5", (*moneyModel)(nil)},
		{"bit", "bit(3)", "B'101'", (*bitModel)(nil)},
		{"uuid", "uuid", "'6ba7b810-9dad-11d1-80b4-00c04fd430c8'", (*uuidModel)(nil)},
		{"tsvector", "tsvector", "'abc'", (*tsModel)(nil)},
		{"interval", "interval", "'1 day'", (*intervalModel)(nil)},
		{"hash by trigger", "text", "'abc'", (*client2v)(nil)},
	} {
		for _, trigger := range []bool{false, true} {
			name := c.name
			if trigger {
				name += " with trigger"
			}
			t.Run(name, func(t *testing.T) {
				statements := slices.Concat(all, []string{
					"CREATE TABLE profiles (id bigint PRIMARY KEY, v " + c.ddl + ", updated_at timestamptz)",
					"INSERT INTO profiles VALUES (1, " + c.value + "), (2, " + c.value + ")"})
				if trigger {
					run(t, "", c.model, statements...)
					return
				}
				a := open(t, databases.PostgreSQL(t), app.Config{Models: []any{c.model}}, statements...)
				if _, err := a.erase(t.Context(), "1"); err != nil {
					t.Errorf("%v (%v)", err, errors.Unwrap(err))
				}
			})
		}
	}
}

type client2 struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64     `bun:"id,pk" subject:"id"`
	Email         string    `bun:"email" pii:"contact,erasure:anonymize"`
	UpdatedAt     time.Time `bun:"updated_at"`
}
type client2v struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:varchar(20)" pii:"contact,erasure:anonymize"`
}
type xmlModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:xml" pii:"contact,erasure:anonymize,surrogate:'<x/>'"`
}
type boxModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:box" pii:"contact,erasure:anonymize,surrogate:'(0,0),(0,0)'"`
}
type pointModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:point" pii:"contact,erasure:anonymize,surrogate:'(0,0)'"`
}
type inetModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:inet" pii:"contact,erasure:anonymize,surrogate:0.0.0.0"`
}
type enumModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:mood" pii:"contact,erasure:anonymize,surrogate:ok"`
}
type rangeModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:daterange" pii:"contact,erasure:anonymize,surrogate:empty"`
}
type jsonModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64          `bun:"id,pk" subject:"id"`
	V             map[string]any `bun:"v,type:json" pii:"contact,erasure:anonymize"`
}
type jsonSurrogateModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:json" pii:"contact,erasure:anonymize,surrogate:'{}'"`
}
type arrayModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64    `bun:"id,pk" subject:"id"`
	V             []string `bun:"v,array" pii:"contact,erasure:anonymize"`
}
type bytesModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             []byte `bun:"v" pii:"contact,erasure:anonymize"`
}
type numericModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:numeric" pii:"contact,erasure:anonymize"`
}
type dateModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64     `bun:"id,pk" subject:"id"`
	V             time.Time `bun:"v" pii:"contact,erasure:anonymize"`
}
type moneyModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:money" pii:"contact,erasure:anonymize,surrogate:0"`
}
type bitModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:bit" pii:"contact,erasure:anonymize,surrogate:000"`
}
type uuidModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:uuid" pii:"contact,erasure:anonymize"`
}
type tsModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:tsvector" pii:"contact,erasure:anonymize,surrogate:x"`
}
type intervalModel struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk" subject:"id"`
	V             string `bun:"v,type:interval" pii:"contact,erasure:anonymize,surrogate:0"`
}

type derived struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64     `bun:"id,pk" subject:"id"`
	Email         string    `bun:"email" pii:"contact,erasure:anonymize"`
	Hash          string    `bun:"hash" pii:"contact,erasure:anonymize"`
	Seen          time.Time `bun:"seen" pii:"behavioral,erasure:anonymize"`
}

// Triggers that derive an annotated column from the others leave nothing of the old values.
func TestTriggersThatDeriveColumns(t *testing.T) {
	for name, body := range map[string][2]string{
		"upper case":     {"NEW.email := upper(NEW.email);", "UPDATE profiles SET email = upper(email) WHERE id = NEW.id AND email <> upper(email);"},
		"a hash":         {"NEW.hash := md5(NEW.email);", "UPDATE profiles SET hash = substr(hex(NEW.email), 1, 20) WHERE id = NEW.id AND hash <> substr(hex(NEW.email), 1, 20);"},
		"a changed time": {"NEW.seen := now();", "UPDATE profiles SET seen = CURRENT_TIMESTAMP WHERE id = NEW.id AND seen <> CURRENT_TIMESTAMP;"},
		"cleared":        {"NEW.hash := '';", "UPDATE profiles SET hash = '' WHERE id = NEW.id AND hash <> '';"},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				trigger := []string{"CREATE TRIGGER derive AFTER UPDATE ON profiles BEGIN " + body[1] + " END"}
				if isPostgres(db) {
					trigger = []string{
						"CREATE FUNCTION derive() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + body[0] + " RETURN NEW; END $$",
						"CREATE TRIGGER derive BEFORE UPDATE ON profiles FOR EACH ROW EXECUTE FUNCTION derive()",
					}
				}
				a := open(t, db, app.Config{Models: []any{(*derived)(nil)}}, append([]string{
					"CREATE TABLE profiles (id bigint PRIMARY KEY, email text, hash text, seen timestamp)",
					"INSERT INTO profiles VALUES (1, 'a@example.org', 'hash', '2020-01-01')",
				}, trigger...)...)
				if _, err := a.erase(t.Context(), "1"); err != nil {
					t.Errorf("%v (%v)", err, errors.Unwrap(err))
				}
			})
		})
	}
}
