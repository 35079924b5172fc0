package bunstore_test

import (
	"testing"

	"github.com/habeas-data/habeas/domain/search"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// The functions of the role fail if a superuser calls them, after the database has armed them. A table whose search
// runs one of them is therefore a gap with another reason, or has no occurrences.
func TestFindRunsNoCodeOfARoleThatTheOperatorDoesNotTrust(t *testing.T) {
	t.Parallel()
	theirs, admin, role := asRole(t)
	_, store := applicationWith(t, admin, []string{
		`CREATE TABLE people (id bigint PRIMARY KEY)`, `CREATE TABLE orders (note text)`,
		`INSERT INTO orders VALUES ('zoe@example.org')`, `CREATE SCHEMA theirs AUTHORIZATION ` + role,
	})
	function := func(name, arguments, returns, result string) string {
		return `CREATE FUNCTION theirs.` + name + `(` + arguments + `) RETURNS ` + returns + ` LANGUAGE plpgsql IMMUTABLE AS
			$$ BEGIN
				IF current_setting('habeas.armed', true) = 'yes' AND current_setting('is_superuser') = 'on' THEN
					RAISE EXCEPTION 'the operator runs ` + name + `';
				END IF;
				RETURN ` + result + `;
			END $$`
	}
	execute(t, theirs,
		`CREATE TYPE theirs.pair AS (a text)`, function("cast_pair", "theirs.pair", "text", "'x'"),
		`CREATE CAST (theirs.pair AS text) WITH FUNCTION theirs.cast_pair(theirs.pair)`,
		`CREATE TYPE theirs.bytea AS (a text)`, function("cast_bytea", "theirs.bytea", "pg_catalog.bytea", "'x'"),
		`CREATE CAST (theirs.bytea AS pg_catalog.bytea) WITH FUNCTION theirs.cast_bytea(theirs.bytea) AS IMPLICIT`,
		function("one", "integer", "integer", "1"), function("policy", "", "boolean", "true"),
		`CREATE TABLE theirs.casts (a theirs.pair, b theirs.bytea)`,
		`INSERT INTO theirs.casts VALUES (ROW('zoe@example.org'), ROW('zoe@example.org'))`,
		`CREATE TABLE theirs.policies (a text)`, `INSERT INTO theirs.policies VALUES ('zoe@example.org')`,
		`ALTER TABLE theirs.policies ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`,
		`CREATE POLICY one ON theirs.policies USING (theirs.policy())`,
		`CREATE TABLE theirs.indexed (a text)`, `CREATE INDEX ON theirs.indexed (a, theirs.one(1))`,
		`CREATE TABLE theirs.part (a text)`)
	execute(t, admin, `CREATE TABLE used (a theirs.pair, b theirs.bytea)`,
		`INSERT INTO used VALUES (ROW('zoe@example.org'), ROW('zoe@example.org'))`,
		`CREATE TABLE trusting (a text)`, `CREATE INDEX ON trusting (a, theirs.one(1))`,
		`CREATE TABLE parent (a text) PARTITION BY LIST (a)`,
		`ALTER TABLE parent ATTACH PARTITION theirs.part DEFAULT`,
		`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET habeas.armed = yes', current_database()); END $$`)
	defer execute(t, admin, `DROP SCHEMA theirs CASCADE`)
	databases.Reconnect(admin)

	found := findMail(t, store)
	isListed(t, "occurrences", found.Occurrences, append(onceIn("orders", "note"), onceIn("used", "a", "b")...))
	var gaps []search.Gap
	for _, table := range []string{"parent", "theirs.casts", "theirs.indexed", "theirs.policies", "trusting"} {
		gaps = append(gaps, search.Gap{Table: table, Reason: search.GapOwner})
	}
	isListed(t, "gaps", found.Gaps, gaps)

	found, err := store.Find(search.OfAllOwners(t.Context()), []string{soughtMail}, nil)
	must(t, err)
	isListed(t, "occurrences of all owners", found.Occurrences, append(append(onceIn("orders", "note"),
		onceIn("theirs.casts", "a", "b")...), append(onceIn("theirs.policies", "a"), onceIn("used", "a", "b")...)...))
}

// Up to PostgreSQL 15, each role can grant itself to another role.
func TestFindTrustsTheRolesThatAnAdministratorHasGranted(t *testing.T) {
	t.Parallel()
	theirs, admin, role := asRole(t)
	var operator string
	must(t, admin.NewRaw("SELECT quote_ident(current_user)").Scan(t.Context(), &operator))
	execute(t, admin, `CREATE TABLE people (id bigint PRIMARY KEY)`, `GRANT SELECT ON people TO `+role,
		`CREATE SCHEMA theirs AUTHORIZATION `+role)
	execute(t, theirs, `CREATE TABLE theirs.notes (note text)`, `INSERT INTO theirs.notes VALUES ('zoe@example.org')`)
	store := existingApplication(t, admin, nil, (*person)(nil)).store
	gap := []search.Gap{{Table: "theirs.notes", Reason: search.GapOwner}}
	isListed(t, "gaps", findMail(t, store).Gaps, gap)
	_, _ = theirs.ExecContext(t.Context(), `GRANT `+role+` TO `+operator) // is refused since PostgreSQL 16
	isListed(t, "gaps", findMail(t, store).Gaps, gap)
	execute(t, admin, `REVOKE `+role+` FROM `+operator, `GRANT `+role+` TO `+operator)
	found := findMail(t, store)
	isListed(t, "gaps", found.Gaps, []search.Gap{})
	isListed(t, "occurrences", found.Occurrences, onceIn("theirs.notes", "note"))

	own := existingApplication(t, theirs, nil, (*person)(nil)).store
	isListed(t, "occurrences of the owner", findMail(t, own).Occurrences, onceIn("theirs.notes", "note"))
}
