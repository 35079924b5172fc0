package bunstore_test

import (
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// Each function of the role takes a lock that outlives a transaction, also one that only reads. It claims to be
// immutable, and its owner has no privilege on the tables of the others.
func TestAConstraintRunsNoCodeOfARoleThatTheOperatorDoesNotTrust(t *testing.T) {
	t.Parallel()
	theirs, admin, role := asRole(t)
	function := func(name, arguments, returns, result, volatility string) string {
		return `CREATE FUNCTION ` + name + `(` + arguments + `) RETURNS ` + returns + ` LANGUAGE plpgsql ` + volatility + ` AS
			$$ BEGIN
				IF session_user <> '` + role + `' THEN PERFORM pg_advisory_lock(4217); END IF;
				RETURN ` + result + `;
			END $$`
	}
	execute(t, admin, `CREATE SCHEMA theirs AUTHORIZATION `+role, `CREATE SCHEMA ours`)
	execute(t, theirs, `GRANT ALL ON SCHEMA theirs TO PUBLIC`,
		function("theirs.checks", "text", "boolean", "true", "IMMUTABLE"),
		function("theirs.same", "text, text", "boolean", "true", "IMMUTABLE"),
		`CREATE OPERATOR theirs.=== (FUNCTION = theirs.same, LEFTARG = text, RIGHTARG = text)`,
		`CREATE DOMAIN theirs.mail AS text CHECK (theirs.checks(VALUE))`,
		`CREATE TYPE theirs.pair AS (a theirs.mail)`, `CREATE TYPE theirs.cast AS (a text)`,
		function("theirs.cast_text", "text", "theirs.cast", "ROW($1)", "IMMUTABLE"),
		`CREATE CAST (text AS theirs.cast) WITH FUNCTION theirs.cast_text(text)`,
		function("theirs.viewed", "", "text", "'x'", "IMMUTABLE"),
		`CREATE VIEW theirs.seen AS SELECT theirs.viewed() AS a`,
		`CREATE TABLE theirs.own (a text CHECK (theirs.checks(a)))`,
		`CREATE TABLE theirs.simple (a text CHECK (length(a) < 2))`,
		`CREATE TABLE theirs.reading (a text CHECK (table_to_xml('theirs.seen', true, true, a) IS NOT NULL))`)
	execute(t, admin, function("ours.checks", "text", "boolean", "length($1) < 2", "IMMUTABLE"),
		function("ours.reads", "text", "boolean", "length($1) < 2", "STABLE"),
		function("ours.writes", "text", "boolean", "length($1) < 2", "VOLATILE"),
		`CREATE DOMAIN ours.mail AS text CHECK (length(VALUE) < 2)`,
		`CREATE TABLE ours.function (a text CHECK (theirs.checks(a)))`,
		`CREATE TABLE ours.operator (a text CHECK (a OPERATOR(theirs.===) 'x'))`,
		`CREATE TABLE ours.array (a text CHECK (a OPERATOR(theirs.===) ANY (ARRAY['x'])))`,
		`CREATE TABLE ours.domain (a theirs.mail CHECK (length(a) < 2))`,
		`CREATE TABLE ours.domains (a theirs.mail[] CHECK (cardinality(a) < 2))`,
		`CREATE TABLE ours.composite (a theirs.pair CHECK (a IS NOT NULL))`,
		`CREATE TABLE ours.composites (b theirs.pair[], a text CHECK (length(a) < 2))`,
		`CREATE TABLE ours.casting (a theirs.cast CHECK (a IS NOT NULL))`,
		`CREATE TABLE ours.casts (a text CHECK (CAST(a AS theirs.cast) IS NOT NULL))`,
		`CREATE TABLE ours.writing (a text CHECK (ours.writes(a)))`,
		`CREATE TABLE ours.built_in (a text CHECK (length(a) < 2 AND pg_advisory_lock(4217) IS NOT NULL))`,
		`CREATE TABLE ours.built_in_operand (a text CHECK ((pg_advisory_lock_shared(4217) IS NULL) = (length(a) > 2)))`,
		`CREATE TABLE ours.plain (a ours.mail CHECK (length(a) < 2))`,
		`CREATE TABLE ours.reading (a text CHECK (length(a) < 2 AND now() > '2000-01-01'))`,
		`CREATE TABLE ours.nothing (a text CHECK (a = ANY (ARRAY['x', 'y'])))`)
	for table, want := range map[string]datamap.Verdict{
		"theirs.own": undecided, "theirs.simple": holds, "theirs.reading": undecided,
		"ours.function": undecided, "ours.operator": undecided, "ours.array": undecided, "ours.domain": undecided,
		"ours.domains": undecided, "ours.composite": undecided, "ours.composites": undecided, "ours.casting": undecided,
		"ours.casts": undecided, "ours.writing": undecided, "ours.built_in": undecided,
		"ours.built_in_operand": undecided, "ours.plain": holds, "ours.reading": holds, "ours.nothing": holds,
	} {
		value := "x"
		switch table {
		case "ours.composite", "ours.casting":
			value = "(x)"
		case "ours.domains":
			value = "{x}"
		}
		if got := firstVerdicts(t, admin, table, example("a", value))[0]; got != want {
			t.Errorf("%s: %s, want %s", table, got, want)
		}
	}
	var locks int
	must(t, admin.NewRaw(`SELECT count(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
		WHERE l.locktype = 'advisory' AND l.objid = 4217 AND d.datname = current_database()`).Scan(t.Context(), &locks))
	if locks > 0 {
		t.Errorf("a function has left %d locks", locks)
	}
	execute(t, admin, `CREATE TABLE ours.trusting (a text CHECK (ours.checks(a)))`,
		`CREATE TABLE ours.stable (a text CHECK (ours.reads(a)))`)
	for _, table := range []string{"ours.trusting", "ours.stable"} {
		if got := firstVerdicts(t, admin, table, example("a", "x"))[0]; got != holds {
			t.Errorf("%s: %s", table, got)
		}
	}
	execute(t, admin, `DROP SCHEMA theirs CASCADE`)
}

// A partial index has a condition and no constraint.
func TestTheConditionOfAnIndexRunsNoCodeOfARoleThatTheOperatorDoesNotTrust(t *testing.T) {
	t.Parallel()
	theirs, admin, role := asRole(t)
	execute(t, admin, `CREATE SCHEMA theirs AUTHORIZATION `+role)
	execute(t, theirs, `GRANT ALL ON SCHEMA theirs TO PUBLIC`,
		`CREATE FUNCTION theirs.checks(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true'`)
	execute(t, admin, `CREATE TABLE ours (a text)`, `CREATE INDEX one ON ours (a) WHERE theirs.checks(a)`,
		`CREATE INDEX two ON ours (a) WHERE length(a) < 2`)
	for text, want := range map[string]datamap.Verdict{"theirs.checks(a)": undecided, "(length(a) < 2)": holds} {
		got, err := schemaOf(t, admin).Satisfies(t.Context(), "ours", datamap.CatalogCheck{
			Columns: []string{"a"},
			Text:    text,
		},
			[]map[string]any{example("a", "x")})
		if err != nil || got[0] != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	execute(t, admin, `DROP SCHEMA theirs CASCADE`)
}
