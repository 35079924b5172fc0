package bunstore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// erasedRow has the values that a row holds after an erasure. The table has further columns, which the row does not
// have: kept and there.
var erasedRow = map[string]any{
	"email": "anon-0123456789abcdef0123456789abcdef", "code": "0123456789", "none": "", "amount": int64(0),
	"active": false, "born": "1970-01-01 00:00:00+00:00", "data": "{}", "id": "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
	"gone": nil,
}

func schemaOf(t *testing.T, db *bun.DB) *bunstore.Schema {
	t.Helper()
	schema, err := bunstore.NewSchema(db, bunstore.Options{})
	must(t, err)
	return schema
}

// verdicts creates a table with one CHECK constraint for each condition. It returns the verdict for each condition.
func verdicts(t *testing.T, db *bun.DB, columns string, conditions []string) []datamap.Verdict {
	t.Helper()
	var checks strings.Builder
	for i, condition := range conditions {
		if !strings.HasPrefix(condition, "CHECK") {
			condition = "CHECK (" + condition + ")"
		}
		fmt.Fprintf(&checks, ", CONSTRAINT c%03d %s", i, condition)
	}
	execute(t, db, "CREATE TABLE evaluated ("+columns+checks.String()+")")
	schema := schemaOf(t, db)
	catalog, err := schema.Catalog(t.Context())
	must(t, err)
	table, _ := catalog.Table("evaluated")
	if len(table.Checks) != len(conditions) {
		t.Fatalf("the catalog has %d of %d constraints", len(table.Checks), len(conditions))
	}
	slices.SortFunc(table.Checks, func(a, b datamap.CatalogCheck) int { return strings.Compare(a.Name, b.Name) })
	var got []datamap.Verdict
	for _, check := range table.Checks {
		verdict, err := schema.Satisfies(t.Context(), table.Name, check, []map[string]any{erasedRow})
		must(t, err)
		got = append(got, verdict...)
	}
	return got
}

// conditions has conditions that both databases understand, and those of one of them.
type conditions struct{ both, postgres, sqlite []string }

var holding = conditions{
	both: []string{
		"amount>-1", "amount BETWEEN 0 AND 10", "amount IN (0, 1)", "amount NOT IN (1, 2)", "abs(amount) = 0", "-amount = 0",
		"amount + 1 = 1", "amount * 2 = 0", "gone IS NULL", "gone > '3'", "gone NOT IN ('1')", "length(gone) > 3",
		"gone || 'x' = 'y'", "gone LIKE 'a%'", "email IS NOT NULL", "gone ISNULL", "coalesce(gone, email) IS NOT NULL",
		"NOT active", "active IS FALSE", "active IS NOT TRUE", "active = false", "(gone = '1') IS NOT TRUE",
		"(active AND gone = '1') IS FALSE", "active IS NOT DISTINCT FROM false", "gone IS DISTINCT FROM email",
		"born >= '1900-01-01'", "length(email) <= 40", "LENGTH(Email) <= 40", `length("email") <= 40`, "email LIKE 'anon-%'",
		"email NOT LIKE '%@%'", "evaluated.email LIKE 'anon-%'", "CASE amount WHEN 0 THEN true END",
		"CASE WHEN active THEN email = 'x' ELSE email <> '' END", "CASE WHEN active THEN false END",
		"CAST(amount AS text) = '0'", "lower(email) = email", "trim(email) <> ''", "substr(email, 1, 5) = 'anon-'",
		"octet_length(none) = 0", "email /* any */ IS NOT NULL -- of them\n", "'it''s' = 'it''s'",
		"(amount IS NULL) = (gone IS NOT NULL)", "1.5e1 > .5", "email <> 'unkept'", "email || '@erased.invalid' LIKE '%@%'",
		"email > 'Anon'", "length(email) + amount > 36",
	},
	postgres: []string{
		"CHECK ((char_length((email)::text) <= 255))", "CHECK (((email)::text !~~ '%@%'::text))",
		"(email)::text ~ '^[a-z0-9-]+$'::text", "email ~* '^ANON'", "email !~ '[[:space:]]'",
		"CHECK (((code)::text ~ '^[0-9a-f]{10}$'::text)) NO INHERIT",
		"none = ANY ((ARRAY['a'::character varying, ''::character varying])::text[])",
		"none = ANY ('{a,b}'::text[]) OR none = ''", "none <> ALL (ARRAY['a'])", "amount >= (0)::numeric",
		"amount between symmetric 10 and 0", "born > '1900-01-01'::date", "born <= CURRENT_DATE", "born < now()",
		"born < '2000-01-01 00:00:00+00'::timestamp with time zone", "jsonb_typeof(data) = 'object'",
		"data = '{}'::jsonb", "num_nonnulls(gone, email) = 1", "num_nulls(gone, email) = 1", "left(email, 4) = 'anon'",
		"starts_with(email, 'anon')", "POSITION(('@'::text) IN (email)) = 0", "(email)::character(4) = 'anon'",
		`email::text COLLATE "C" <> 'x'`, "5 <> ALL (ARRAY[1, 2])", "id = id::uuid", `email ~ '^(?=anon)'`,
		"data ->> 'a' IS NULL", "data @> '{}'", "EXTRACT(year FROM born) = 1970", "(amount, none) = (0, '')",
		"born + interval '18 years' < now()", "email SIMILAR TO '(a|b)%'", "email LIKE 'anon!-%' ESCAPE '!'",
		`email ~ E'\\d'`, "trim(both 'x' from email) = email", "is_short(none)",
	},
	sqlite: []string{
		"active IN (0, 1)", "born < date('now')", "json_valid(data)", "length(`email`) <= 40",
		"email GLOB 'anon-[0-9]*'", "CASE WHEN active THEN 0 END", "instr(email, '-') = 5", "amount IS NOT 5",
		"amount = '0'", "typeof(amount) = 'integer'", "typeof(email) = 'text'", "typeof(code) = 'text'",
	},
}

var failing = conditions{
	both: []string{
		"length(email) < 37", "length(email) BETWEEN 3 AND 20", "email LIKE '%@%'", "email LIKE '%_@_%'", "none <> ''",
		"none > ''", "none != ''", "length(trim(none)) > 0", "email IN ('m', 'f')", "amount > 0", "amount <> 0",
		"NOT (amount = 0 OR amount = 1)", "gone IS NOT NULL", "email IS NULL", "gone IS NOT NULL OR active", "active",
		"active = true", "active IS TRUE", "born > '2000-01-01'", "email IS NOT DISTINCT FROM gone",
		"CASE WHEN amount = 0 THEN email LIKE '%@%' ELSE true END", "CASE WHEN amount = 1 OR amount = 0 THEN active END",
		"email = 'ANON-0123456789ABCDEF0123456789ABCDEF'", "data <> '{}'",
	},
	postgres: []string{
		"(char_length((email)::text) <= 20)", "(email)::text ~~ '%@%'::text", "(email)::text ~ '^[^@]+@[^@]+$'::text",
		"POSITION(('@'::text) IN (email)) > 1", "email ILIKE '%@%'", "email ~~* '%@%'", "none SIMILAR TO 'x'",
		"email = ANY (ARRAY['m'::text, 'f'::text])", "email = ANY ('{m,f}'::text[])", "born > now()",
		"born >= CURRENT_DATE", "jsonb_typeof(data) = 'array'", "num_nonnulls(gone, email) = 2", "email !~~ 'anon%'",
		"NOT is_short(none)", `(ARRAY['a'])[1] = email`, "data ? 'a'",
	},
	sqlite: []string{"email GLOB '*@*'", "active = 1", "typeof(amount) = 'text'", "email"},
}

// The row has no value for the column kept. The constraint is undecided even if it does not depend on the value.
var undecidable = conditions{
	both: []string{"kept > 3", `"kept" = 1`, "kept = 1 AND email = ''", "kept IS NOT NULL OR email <> ''", "kept IS NULL"},
	postgres: []string{
		"email::integer > 0", "1 / amount > 0", "writes(email)", "sleeps(email)", "nextval('numbers') > 0",
		"(evaluated).kept > 3",
	},
	sqlite: []string{"json_extract(email, '$.a') = 1"},
}

func TestTheDatabaseEvaluatesItsConstraints(t *testing.T) {
	t.Parallel()
	expect := func(db *bun.DB, columns string, own func(conditions) []string) {
		t.Helper()
		var all []string
		var want []datamap.Verdict
		for _, group := range []struct {
			conditions
			verdict datamap.Verdict
		}{{holding, datamap.VerdictHolds}, {failing, datamap.VerdictFails}, {undecidable, datamap.VerdictUndecided}} {
			texts := slices.Concat(group.both, own(group.conditions))
			all, want = append(all, texts...), append(want, slices.Repeat([]datamap.Verdict{group.verdict}, len(texts))...)
		}
		for i, got := range verdicts(t, db, columns, all) {
			if got != want[i] {
				t.Errorf("%s: %s, want %s", all[i], got, want[i])
			}
		}
	}
	db := databases.PostgreSQL(t)
	execute(t, db,
		"CREATE SEQUENCE numbers", "CREATE TABLE written (note text)",
		"CREATE FUNCTION is_short(note text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT length(note) < 5'",
		"CREATE FUNCTION writes(note text) RETURNS boolean LANGUAGE plpgsql AS"+
			" 'BEGIN INSERT INTO written VALUES (note); RETURN TRUE; END'",
		"CREATE FUNCTION sleeps(note text) RETURNS boolean LANGUAGE sql AS 'SELECT pg_sleep(30) IS NOT NULL'")
	expect(db, "email varchar(40), code text, none text, amount integer, active boolean, born timestamptz, data jsonb,"+
		" id uuid, gone text, kept integer", func(c conditions) []string { return c.postgres })
	var written int
	must(t, db.NewRaw("SELECT count(*) FROM written").Scan(t.Context(), &written))
	if written > 0 {
		t.Error("a constraint has written a row")
	}
	expect(databases.SQLite(t), "email varchar(40), code TEXT, none TEXT, amount INTEGER, active BOOLEAN, born TIMESTAMP,"+
		" data JSON, id, gone TEXT, kept INTEGER", func(c conditions) []string { return c.sqlite })
}

// firstVerdicts returns the verdicts about the rows, from the first constraint of the table.
func firstVerdicts(t *testing.T, db *bun.DB, table string, rows ...map[string]any) []datamap.Verdict {
	t.Helper()
	schema := schemaOf(t, db)
	catalog, err := schema.Catalog(t.Context())
	must(t, err)
	found, ok := catalog.Table(table)
	if !ok || len(found.Checks) == 0 {
		t.Fatalf("%s has no constraint", table)
	}
	verdicts, err := schema.Satisfies(t.Context(), found.Name, found.Checks[0], rows)
	must(t, err)
	return verdicts
}

func example(column string, value any) map[string]any { return map[string]any{column: value} }

const holds, violated, undecided = datamap.VerdictHolds, datamap.VerdictFails, datamap.VerdictUndecided

// PostgreSQL refuses a text for a number, and SQLite stores it.
func TestARowThatTheDatabaseRefusesIsUndecided(t *testing.T) {
	t.Parallel()
	for db, apart := range map[*bun.DB]datamap.Verdict{databases.PostgreSQL(t): undecided, databases.SQLite(t): holds} {
		execute(t, db, "CREATE TABLE ages (age integer CHECK (age > 17))")
		got := firstVerdicts(t, db, "ages", example("age", int64(18)), example("age", int64(1)), example("age", "old"),
			example("age", nil))
		if want := []datamap.Verdict{holds, violated, apart, holds}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAConstraintIsFoundInItsTable(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		execute(t, db,
			`CREATE TABLE "Old Users" ("E Mail" text CHECK ("E Mail" LIKE '%@%'), "group" text)`,
			"CREATE TABLE others (mail text)")
		got := firstVerdicts(t, db, "Old Users", example("E Mail", "a@b"), example("E Mail", "a"), example("group", "a"))
		if want := []datamap.Verdict{holds, violated, undecided}; !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
		schema := schemaOf(t, db)
		catalog, err := schema.Catalog(t.Context())
		must(t, err)
		table, _ := catalog.Table("Old Users")
		for _, change := range []struct {
			table, text string
		}{
			{"Old Users", "CHECK (1 = 0)"},
			{"Old Users", "1 = 0"},
			{"Old Users", ""},
			{"others", table.Checks[0].Text},
			{"nowhere", table.Checks[0].Text},
			{"", table.Checks[0].Text},
			{`"`, table.Checks[0].Text},
			{"no.where", table.Checks[0].Text},
		} {
			check := datamap.CatalogCheck{Columns: []string{"E Mail"}, Text: change.text}
			verdicts, err := schema.Satisfies(t.Context(), change.table, check, []map[string]any{example("E Mail", "a")})
			if err != nil || !slices.Equal(verdicts, []datamap.Verdict{undecided}) {
				t.Errorf("%q of %q: %q, %v", change.text, change.table, verdicts, err)
			}
		}
	})
}

func TestPostgreSQLEvaluatesAConstraintOnTheTypesOfTheColumns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		create []string
		rows   []map[string]any
		want   []datamap.Verdict
	}{
		"a domain": {
			[]string{
				"CREATE DOMAIN mail AS varchar(10) CHECK (VALUE ~ '@')", "CREATE DOMAIN work_mail AS mail",
				"CREATE TABLE t (mail work_mail NOT NULL, note text)",
			},
			[]map[string]any{
				example("mail", "someone@example.org"), example("mail", "a"), example("mail", nil), example("note", "a"),
			},
			[]datamap.Verdict{holds, violated, holds, undecided},
		},
		"a column with the name value": {
			[]string{"CREATE TABLE t (value text CHECK (value <> ''), note text)"},
			[]map[string]any{example("value", "a"), example("value", ""), example("note", "a")},
			[]datamap.Verdict{holds, violated, undecided},
		},
		"texts that are too long": {
			[]string{"CREATE TABLE t (code char(3) CHECK (length(code) > 4), name varchar(3))"},
			[]map[string]any{example("code", "abcde"), example("code", "abc")},
			[]datamap.Verdict{holds, violated},
		},
		"a collation": {
			[]string{
				`CREATE COLLATION ignoring (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
				"CREATE TABLE t (code text COLLATE ignoring CHECK (code = 'x'))",
			},
			[]map[string]any{example("code", "X"), example("code", "y")},
			[]datamap.Verdict{holds, violated},
		},
		"another schema": {
			[]string{
				"CREATE SCHEMA shop", "CREATE TYPE shop.mood AS ENUM ('sad', 'glad')",
				"CREATE TABLE shop.t (mood shop.mood CHECK (mood > 'sad'))",
			},
			[]map[string]any{example("mood", "glad"), example("mood", "sad"), example("mood", "mad")},
			[]datamap.Verdict{holds, violated, undecided},
		},
		"bytes, numbers and arrays": {
			[]string{"CREATE TABLE t (photo bytea CHECK (octet_length(photo) = 2))"},
			[]map[string]any{example("photo", []byte{1, 255}), example("photo", []byte{}), example("photo", 1.5)},
			[]datamap.Verdict{holds, violated, violated},
		},
		"numbers": {
			[]string{"CREATE TABLE t (score numeric(4,1) CHECK (score > 1.4))"},
			[]map[string]any{example("score", 1.5), example("score", int64(1)), example("score", true)},
			[]datamap.Verdict{holds, violated, undecided},
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := databases.PostgreSQL(t)
			execute(t, db, test.create...)
			table := "t"
			if strings.Contains(test.create[len(test.create)-1], "shop.t") {
				table = "shop.t"
			}
			if got := firstVerdicts(t, db, table, test.rows...); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestSQLiteEvaluatesAConstraintOnStoredValues(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		create string
		rows   []map[string]any
		want   []datamap.Verdict
	}{
		"a number in a text column": {
			"CREATE TABLE t (n TEXT CHECK (typeof(n) = 'text' AND n = '5'))",
			[]map[string]any{example("N", int64(5)), example("n", "5"), example("n", int64(6))},
			[]datamap.Verdict{holds, holds, violated},
		},
		"a text in a column of numbers": {
			"CREATE TABLE t (n INT CHECK (typeof(n) = 'integer'))",
			[]map[string]any{example("n", "5"), example("n", "anon"), example("n", true)},
			[]datamap.Verdict{holds, violated, holds},
		},
		"a column of floating-point numbers": {
			"CREATE TABLE t (n REAL CHECK (typeof(n) = 'real'))",
			[]map[string]any{example("n", int64(5)), example("n", nil), example("n", "x")},
			[]datamap.Verdict{holds, violated, violated},
		},
		"a column without a type": {
			"CREATE TABLE t (n CHECK (typeof(n) IN ('integer', 'blob')))",
			[]map[string]any{example("n", int64(5)), example("n", []byte{1}), example("n", "5")},
			[]datamap.Verdict{holds, holds, violated},
		},
		"a collation": {
			"CREATE TABLE t (n TEXT COLLATE NOCASE CHECK (n = 'x'))",
			[]map[string]any{example("n", "X")},
			[]datamap.Verdict{undecided},
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := databases.SQLite(t)
			execute(t, db, test.create)
			if got := firstVerdicts(t, db, "t", test.rows...); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
