package syntax

// strangers has the common table expression stranger, with the roles of PostgreSQL that the connection does not trust:
// each role that is no superuser, and is not the connection's own or granted to it. Up to PostgreSQL 15, each role can
// grant itself to another, so that only the grants of administrators count.
const strangers = `
	WITH RECURSIVE member (oid) AS (
		SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname {=} current_user
		UNION
		SELECT m.roleid FROM member JOIN pg_catalog.pg_auth_members AS m ON m.member {=} member.oid
		JOIN pg_catalog.pg_roles AS g ON g.oid {=} m.grantor
		WHERE m.grantor {<>} m.roleid AND (g.rolsuper OR g.rolcreaterole OR g.rolname {=} current_user)
			AND (pg_catalog.jsonb_extract_path_text(pg_catalog.to_jsonb(m), 'set_option') IS NULL
				OR pg_catalog.jsonb_extract_path_text(pg_catalog.to_jsonb(m), 'set_option') {=} 'true')
	), stranger (oid) AS (
		SELECT r.oid FROM pg_catalog.pg_roles AS r
		WHERE NOT r.rolsuper AND NOT EXISTS (SELECT FROM member WHERE member.oid {=} r.oid)
	)`

// FillWithStrangers returns a statement that uses the common table expression stranger. The text follows this
// expression. It writes the operators = and <> of PostgreSQL as {=} and {<>}, and catalogs as {oid of NAME} for the oid
// of a table of pg_catalog, so that no other role can define them.
func FillWithStrangers(text string, pairs ...string) string {
	pairs = append(pairs, "=", "OPERATOR(pg_catalog.=)", "<>", "OPERATOR(pg_catalog.<>)")
	for _, name := range []string{"pg_class", "pg_constraint", "pg_operator", "pg_proc", "pg_type"} {
		pairs = append(pairs, "oid of "+name,
			"CAST(CAST('pg_catalog."+name+"' AS pg_catalog.regclass) AS pg_catalog.oid)")
	}
	return Fill(strangers+text, pairs...)
}
