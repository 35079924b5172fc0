package schemas

import (
	"slices"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// forecastCase is a database with the expected error of check.Run and the expected result of an erasure.
type forecastCase struct {
	statements []string
	rows       []string // rows instead of usualRows; nil for usualRows
	change     func(people, visits *datamap.Table)
	code       string // code of the error, or "" without one
	left       string // a query that counts the values that a trigger keeps, which lint names as one to rehearse
	onPostgres bool
}

// These statements create the tables of most cases. An erasure keeps the row of a person and deletes the person's
// visits.
const (
	makePeople = "CREATE TABLE people (id bigint PRIMARY KEY, email text, nick text)"
	makeVisits = "CREATE TABLE visits (id bigint PRIMARY KEY, person_id bigint REFERENCES people (id), agent text)"
)

var usualRows = []string{
	"INSERT INTO people (id, email, nick) VALUES (1, 'al@example.org', 'al'), (2, 'bo@example.org', 'bo')",
	"INSERT INTO visits (id, person_id, agent) VALUES (1, 1, 'x'), (2, 2, 'y')",
}

func guests() (people, visits datamap.Table) {
	contact := func(strategy domain.Strategy) *datamap.Annotation {
		return &datamap.Annotation{Category: domain.CategoryContact, Strategy: strategy}
	}
	people = datamap.Table{
		Name: "people", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "email", Type: datamap.TypeText, Personal: contact(domain.StrategyAnonymize)},
			{Name: "nick", Type: datamap.TypeText, Personal: contact(domain.StrategyNull)},
		},
	}
	visits = datamap.Table{
		Name: "visits", PrimaryKey: []string{"id"}, Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "person_id", Type: datamap.TypeBigInt},
			{Name: "agent", Type: datamap.TypeText, Personal: contact(domain.StrategyErase)},
		},
		Relations: []datamap.Relation{
			{Columns: []string{"person_id"}, References: "people", ReferencedColumns: []string{"id"}},
		},
	}
	return people, visits
}

// withPeople returns the statements that create the tables "people" and "visits", where "people" has the given columns.
func withPeople(columns string, more ...string) []string {
	return append([]string{"CREATE TABLE people (" + columns + ")", makeVisits}, more...)
}

func with(more ...string) []string { return append([]string{makePeople, makeVisits}, more...) }

var forecasts = map[string]forecastCase{
	"a database that fits": {statements: with()},
	"constraints that hold": {statements: withPeople(
		"id bigint PRIMARY KEY, email text NOT NULL UNIQUE CHECK (length(email) < 40 AND email <> ''), nick text UNIQUE " +
			"CHECK (nick <> '')")},
	"a constraint": {
		statements: withPeople("id bigint PRIMARY KEY, email text CHECK (email LIKE '%@%'), nick text"),
		code:       "check-violated",
	},
	"a constraint of NULL": {
		statements: withPeople("id bigint PRIMARY KEY, email text, nick text CHECK (nick IS NOT NULL)"),
		code:       "check-violated",
	},
	"NOT NULL": {
		statements: withPeople("id bigint PRIMARY KEY, email text, nick text NOT NULL"), code: "null-refused",
	},
	"a computed column": {
		statements: withPeople(
			"id bigint PRIMARY KEY, nick text, email text GENERATED ALWAYS AS (nick || '@example.org') STORED"),
		rows: []string{"INSERT INTO people (id, nick) VALUES (1, 'al'), (2, 'bo')"},
		code: "generated-written",
	},
	"equal surrogates": {
		statements: withPeople("id bigint PRIMARY KEY, email text UNIQUE, nick text"),
		change:     func(people, _ *datamap.Table) { people.Columns[1].Surrogate = "gone" },
		code:       "unique-violated",
	},
	"surrogates with a placeholder": {
		statements: withPeople("id bigint PRIMARY KEY, email text UNIQUE, nick text"),
		change:     func(people, _ *datamap.Table) { people.Columns[1].Surrogate = "{}@erased.invalid" },
	},
	"a foreign key to the column": {
		statements: withPeople("id bigint PRIMARY KEY, email text UNIQUE, nick text",
			"CREATE TABLE mails (address text REFERENCES people (email))"),
		rows: append(slices.Clone(usualRows), "INSERT INTO mails VALUES ('al@example.org')"),
		code: "referenced-overwritten",
	},
	"a foreign key of the column": {
		statements: []string{
			"CREATE TABLE mails (address text PRIMARY KEY)",
			"CREATE TABLE people (id bigint PRIMARY KEY, email text REFERENCES mails (address), nick text)", makeVisits,
		},
		rows: append([]string{"INSERT INTO mails VALUES ('al@example.org'), ('bo@example.org')"}, usualRows...),
		code: "reference-overwritten",
	},
	"rows that hang on deleted ones": {
		statements: with("CREATE TABLE pages (visit_id bigint REFERENCES visits (id))"),
		rows:       append(slices.Clone(usualRows), "INSERT INTO pages VALUES (1)"),
		code:       "delete-restricted",
	},
	"rows that lose their reference": {
		statements: with("CREATE TABLE pages (visit_id bigint REFERENCES visits (id) ON DELETE SET NULL)"),
		rows:       append(slices.Clone(usualRows), "INSERT INTO pages VALUES (1)"),
	},
	"rows that cannot lose their reference": {
		statements: with("CREATE TABLE pages (visit_id bigint NOT NULL REFERENCES visits (id) ON DELETE SET NULL)"),
		rows:       append(slices.Clone(usualRows), "INSERT INTO pages VALUES (1)"),
		code:       "delete-sets-null",
	},
	"rows that are deleted with others": {
		statements: with("CREATE TABLE pages (visit_id bigint REFERENCES visits (id) ON DELETE CASCADE)"),
		rows:       append(slices.Clone(usualRows), "INSERT INTO pages VALUES (1)"),
	},
	"a column that the data map does not have": {
		statements: with("ALTER TABLE visits ADD COLUMN page text"), code: "column-unmapped",
	},
	"a column that is gone": {
		statements: withPeople("id bigint PRIMARY KEY, nick text"),
		rows:       []string{"INSERT INTO people VALUES (1, 'al'), (2, 'bo')"}, code: "column-missing",
	},
	"a table that is gone": {statements: []string{makePeople}, rows: usualRows[:1], code: "table-missing"},
	"a trigger that keeps old values": {
		statements: with("CREATE TABLE history (email text)"),
		left:       "SELECT count(*) FROM history WHERE email LIKE '%@%'",
	},

	"a short column": {
		statements: withPeople("id bigint PRIMARY KEY, email varchar(20), nick text"),
		code:       "surrogate-length", onPostgres: true,
	},
	"a short column that the data map knows": {
		statements: withPeople("id bigint PRIMARY KEY, email varchar(20), nick text"),
		change:     func(people, _ *datamap.Table) { people.Columns[1].Length = 20 }, onPostgres: true,
	},
	"an address": {
		statements: withPeople("id bigint PRIMARY KEY, email inet, nick text"),
		rows:       []string{"INSERT INTO people VALUES (1, '::1', 'al'), (2, '::2', 'bo')"},
		code:       "surrogate-type", onPostgres: true,
	},
	"an address that is a constant": {
		statements: withPeople("id bigint PRIMARY KEY, email inet, nick text"),
		rows:       []string{"INSERT INTO people VALUES (1, '::1', 'al'), (2, '::2', 'bo')"},
		change:     func(people, _ *datamap.Table) { people.Columns[1].Surrogate = "0.0.0.0" }, onPostgres: true,
	},
	"a number in a text": {
		statements: with(),
		change:     func(people, _ *datamap.Table) { people.Columns[1].Type = datamap.TypeBigInt }, onPostgres: true,
	},
	"a truth in a number": {
		statements: withPeople("id bigint PRIMARY KEY, email integer, nick text"),
		rows:       []string{"INSERT INTO people VALUES (1, 1, 'al'), (2, 1, 'bo')"},
		change:     func(people, _ *datamap.Table) { people.Columns[1].Type = datamap.TypeBoolean },
		code:       "surrogate-type", onPostgres: true,
	},
	"JSON in an array": {
		statements: withPeople("id bigint PRIMARY KEY, email text[], nick text"),
		rows:       []string{"INSERT INTO people VALUES (1, '{a}', 'al'), (2, '{b}', 'bo')"},
		change: func(people, _ *datamap.Table) {
			people.Columns[1].Type, people.Columns[1].Surrogate = datamap.TypeJSON, "[]"
		},
		code: "surrogate-type", onPostgres: true,
	},
	"an enum": {
		statements: append([]string{"CREATE TYPE kind AS ENUM ('a', 'b')"},
			withPeople("id bigint PRIMARY KEY, email kind, nick text")...),
		rows: []string{"INSERT INTO people VALUES (1, 'a', 'al'), (2, 'b', 'bo')"},
		code: "enum-refuses", onPostgres: true,
	},
	"a label of an enum": {
		statements: append([]string{"CREATE TYPE kind AS ENUM ('a', 'b')"},
			withPeople("id bigint PRIMARY KEY, email kind, nick text")...),
		rows:   []string{"INSERT INTO people VALUES (1, 'a', 'al'), (2, 'b', 'bo')"},
		change: func(people, _ *datamap.Table) { people.Columns[1].Surrogate = "b" }, onPostgres: true,
	},
	"a domain": {
		statements: append([]string{"CREATE DOMAIN kind AS text CHECK (VALUE ~ '^[a-z]+@')"},
			withPeople("id bigint PRIMARY KEY, email kind, nick text")...),
		code: "check-violated", onPostgres: true,
	},
	"a key of another type": {
		statements: []string{
			"CREATE TABLE people (id text PRIMARY KEY, email text, nick text)",
			"CREATE TABLE visits (id bigint PRIMARY KEY, person_id text REFERENCES people (id), agent text)",
		},
		code: "key-type", onPostgres: true,
	},
	"a rule that takes the place of a deletion": {
		statements: with("CREATE RULE stay AS ON DELETE TO visits DO INSTEAD NOTHING"),
		code:       "trigger-replaces", onPostgres: true,
	},
	"a trigger that restores only NULL": {
		statements: with(`CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN NEW.email := COALESCE(NEW.email, OLD.email); RETURN NEW; END $$`,
			"CREATE TRIGGER keep BEFORE UPDATE ON people FOR EACH ROW EXECUTE FUNCTION keep()"),
		onPostgres: true,
	},
	"a trigger that keeps old values under another name": {
		statements: with("CREATE TABLE history (who text)"),
		left:       "SELECT count(*) FROM history WHERE who LIKE '%@%'",
	},
	"a generated column that becomes NULL": {
		statements: withPeople("id bigint PRIMARY KEY, email text, nick text, " +
			"key text GENERATED ALWAYS AS (lower(email || nick)) STORED UNIQUE"),
		change: func(people, _ *datamap.Table) { people.Columns[1].Surrogate = "gone" }, onPostgres: true,
	},
	"rows of a materialized view": {
		statements: []string{
			makePeople, "CREATE MATERIALIZED VIEW visits AS SELECT id, id AS person_id, nick AS agent FROM people",
		},
		rows: append(slices.Clone(usualRows[:1]), "REFRESH MATERIALIZED VIEW visits"),
		code: "rows-not-lockable", onPostgres: true,
	},
}

// check.Run reports a missing foreign key only on PostgreSQL. On SQLite, no other transaction can add a row while an
// erasure runs.
func TestCheckReportsAMissingForeignKeyOnPostgreSQL(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := openGuests(t, db, forecastCase{statements: []string{
			makePeople, "CREATE TABLE visits (id bigint PRIMARY KEY, person_id bigint, agent text)",
		}})
		checked, err := a.check(t.Context())
		must(t, err)
		missing := slices.ContainsFunc(checked.Findings, func(f datamap.Finding) bool {
			return f.Code == "foreign-key-missing" && f.Table == "visits" && f.Column == "person_id"
		})
		if missing != isPostgres(db) {
			t.Errorf("got %v", checked.Findings)
		}
	})
}

// If check.Run reports an error, an erasure must fail or leave values behind. If check.Run reports no error, erasures
// must succeed.
func TestACheckPredictsTheResultOfAnErasure(t *testing.T) {
	t.Parallel()
	for name, test := range forecasts {
		if !test.onPostgres {
			t.Run("SQLite/"+name, func(t *testing.T) { checkForecast(t, databases.SQLite(t), test) })
		}
	}
	db := onPostgres(t)
	for name, test := range forecasts {
		t.Run("PostgreSQL/"+name, func(t *testing.T) {
			execute(t, db, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
			// The open connections have prepared statements for the tables of the previous case. These connections are closed,
			// because the statements would fail after a change of the column types.
			databases.Reconnect(db)
			checkForecast(t, db, test)
		})
	}
}

func checkForecast(t *testing.T, db *bun.DB, test forecastCase) {
	t.Helper()
	a := openGuests(t, db, test)
	checked, err := a.check(t.Context())
	must(t, err)
	errors := slices.DeleteFunc(slices.Clone(checked.Findings), func(f datamap.Finding) bool {
		return f.Severity != datamap.SeverityError
	})
	if wrong := slices.IndexFunc(errors, func(f datamap.Finding) bool { return f.Code != test.code }); wrong >= 0 ||
		(len(errors) == 0) != (test.code == "") {
		t.Errorf("checked.Findings %v", errors)
	}
	_, first := a.erase(t.Context(), "1")
	_, second := a.erase(t.Context(), "2")
	if failed := first != nil || second != nil; failed != (test.code != "") {
		t.Errorf("the check says %q, and the erasures %v, %v", test.code, first, second)
	}
	if test.left == "" {
		return
	}
	fires := slices.ContainsFunc(checked.Findings, func(f datamap.Finding) bool { return f.Code == "trigger-fires" })
	var left int
	must(t, db.QueryRowContext(t.Context(), test.left).Scan(&left))
	if left == 0 || !fires {
		t.Errorf("%d values are left, found %v", left, checked.Findings)
	}
}

func openGuests(t *testing.T, db *bun.DB, test forecastCase) *application {
	t.Helper()
	statements := slices.Clone(test.statements)
	if test.left != "" {
		statements = append(statements, copying(db)...)
	}
	rows := test.rows
	if rows == nil {
		rows = usualRows
	}
	people, visits := guests()
	if test.change != nil {
		test.change(&people, &visits)
	}
	dataMap := fixture.MustMap(t, people, visits)
	return open(t, db, app.Config{DataMap: dataMap}, append(statements, rows...)...)
}

// copying returns statements that create a trigger. The trigger copies email addresses into the table "history".
func copying(db *bun.DB) []string {
	if isPostgres(db) {
		return function("BEFORE UPDATE", "people", "INSERT INTO history VALUES (OLD.email); RETURN NEW;")
	}
	return []string{"CREATE TRIGGER guard AFTER UPDATE ON people BEGIN INSERT INTO history VALUES (OLD.email); END"}
}
