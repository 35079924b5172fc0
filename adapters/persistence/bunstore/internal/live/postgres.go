package live

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

type postgres struct{}

// fingerprint returns the expression for a hash of the table definitions, and of the tables that inherit from them, in
// one recursion. The hash includes the foreign keys that act on other rows if a row is deleted or changed. The
// expression converts the names of the tables to oids only once, so that the database reads the catalog by its indexes.
// OFFSET 0 makes it look up each table: with a join, it reads all of pg_class, which costs 50 microseconds more in a
// small database. The value ignores tables that do not exist.
func (postgres) fingerprint(tables []datamap.Table, own syntax.Tables) string {
	return `(WITH RECURSIVE below (oid) AS (
			` + oidsOf(tables) + `
			UNION
			SELECT i.inhrelid FROM below JOIN pg_catalog.pg_inherits AS i ON i.inhparent = below.oid)
		SELECT concat(
		(SELECT string_agg(c.text, ',' ORDER BY below.oid) FROM below CROSS JOIN LATERAL (
			SELECT concat_ws(' ', c.oid, c.relkind, c.relnatts, c.relhassubclass, c.relhasrules,
				CASE WHEN c.relrowsecurity THEN row_security_active(c.oid) END,
				CASE c.relkind WHEN 'v' THEN md5(pg_get_viewdef(c.oid)) END) AS text
			FROM pg_catalog.pg_class AS c WHERE c.oid = below.oid OFFSET 0) AS c),
		(SELECT string_agg(concat(t.oid, t.tgenabled), ' ' ORDER BY t.oid) FROM pg_catalog.pg_trigger AS t
			WHERE t.tgrelid = ` + anyTable + ` AND (NOT t.tgisinternal OR t.tgfoid IN (` + actionsOfKeys + `)))` +
		fingerprintOfColumns(tables) + ", CAST(ARRAY(" + own.OidsInFront() + ") AS text)))"
}

// anyTable stands for the oids of the tables in the fingerprint.
const anyTable = "ANY (ARRAY(SELECT oid FROM below))"

// fingerprintOfColumns returns the part of the fingerprint for columns: whether they are NOT NULL, and their types. It
// covers the columns that an erasure sets to NULL, the annotated columns of the subject's table (see
// Schema.IsNeverNull), primary keys, and starts of duties (see rows.Writer.DutyStart).
func fingerprintOfColumns(tables []datamap.Table) string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, syntax.Literal(name)) {
			names = append(names, syntax.Literal(name))
		}
	}
	for _, table := range tables {
		for _, name := range table.PrimaryKey {
			add(name)
		}
		for _, column := range table.Columns {
			if column.IsNulled() || column.Personal != nil && len(table.SubjectKey) > 0 {
				add(column.Name)
			}
			if column.Personal != nil {
				add(column.Personal.Since)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return `,
		(SELECT string_agg(concat(a.attrelid, ' ', a.attnum, a.attnotnull, a.atttypid), ',' ORDER BY a.attrelid, a.attnum)
			FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = ` + anyTable + `
			AND a.attname IN (` + strings.Join(names, ", ") + `))`
}

// oidsOf returns the query that selects the oids of tables.
func oidsOf(tables []datamap.Table) string {
	return "SELECT unnest(ARRAY[" + syntax.Join(tables, ", ", func(table datamap.Table) string {
		return "to_regclass(" + syntax.Literal(syntax.QuoteTable(table.Name)) + ")"
	}) + "])::oid"
}

// actionsOfKeys lists the functions of the internal triggers that carry out the actions of foreign keys.
const actionsOfKeys = `'pg_catalog."RI_FKey_cascade_del"'::regproc,
			'pg_catalog."RI_FKey_setnull_del"'::regproc, 'pg_catalog."RI_FKey_setdefault_del"'::regproc,
			'pg_catalog."RI_FKey_cascade_upd"'::regproc, 'pg_catalog."RI_FKey_setnull_upd"'::regproc,
			'pg_catalog."RI_FKey_setdefault_upd"'::regproc`

// filtersRows is the condition that the view b may leave rows out, or that a rule or a trigger replaces its statements.
const filtersRows = `(pg_get_viewdef(b.oid) ~* '\m(where|only)\M'
	OR EXISTS (SELECT 1 FROM pg_catalog.pg_rewrite AS w WHERE w.ev_class = b.oid AND w.rulename <> '_RETURN')
	OR EXISTS (SELECT 1 FROM pg_catalog.pg_trigger AS i WHERE i.tgrelid = b.oid AND i.tgtype & 64 <> 0))`

// calledFunctions joins the code in called AS c with the database functions p that it mentions.
const calledFunctions = `JOIN pg_catalog.pg_proc AS p ON strpos(lower(c.body), lower(p.proname)) > 0
			AND c.body ~* ('\m' || regexp_replace(p.proname, '\W', '\\\&', 'g') || '\M')
		JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
		WHERE ` + isOfApplication

// isOfApplication is the condition that p is a volatile function of the application in a language other than C.
const isOfApplication = `p.prokind IN ('f', 'p') AND p.provolatile = 'v' AND l.lanname NOT IN ('c', 'internal')
			AND p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`

// functionBody is the expression for the source text of a function. If the catalog stores the body as a parse
// tree, PostgreSQL reconstructs the text. The function is a row of pg_proc AS p.
const functionBody = "CASE WHEN p.prosrc = '' THEN pg_get_functiondef(p.oid) ELSE p.prosrc END"

func (postgres) schemas() string       { return "" }
func (postgres) quotes() map[byte]byte { return sqltext.QuotesOfPostgres }

// convertsKeys returns false, because PostgreSQL refuses to compare types without a common operator.
func (postgres) convertsKeys() bool              { return false }
func (postgres) checkDeferred() string           { return "SET CONSTRAINTS ALL IMMEDIATE" }
func (postgres) brokenForeignKeys(string) string { return "" }

// constraintTriggers also searches the schema of the trigger's constraint for other constraints with the same name,
// because SET CONSTRAINTS applies to all constraints with that name.
func (postgres) constraintTriggers(tables []datamap.Table) string {
	return `
		WITH RECURSIVE below (oid) AS (
			` + oidsOf(tables) + `
			UNION
			SELECT found.oid FROM below JOIN LATERAL (` + TablesBelow("below.oid") + `) AS found (oid) ON TRUE),
		late AS (
			SELECT t.oid, t.tgrelid, t.tgname, t.tgfoid, t.tginitdeferred, c.conname, c.connamespace, c.condeferred,
				EXISTS (SELECT 1 FROM below WHERE below.oid = t.tgrelid) AS mapped
			FROM pg_catalog.pg_trigger AS t JOIN pg_catalog.pg_constraint AS c ON c.oid = t.tgconstraint
			WHERE t.tgdeferrable AND c.contype = 't' AND t.tgenabled <> 'D'),
		called AS (
			SELECT late.oid, p.proname AS name, l.lanname AS language, ` + functionBody + ` AS body FROM late
			JOIN pg_catalog.pg_proc AS p ON p.oid = late.tgfoid JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
			WHERE NOT late.mapped
			UNION SELECT c.oid, p.proname, l.lanname, ` + functionBody + ` FROM called AS c ` + calledFunctions + `)
		SELECT CAST(CAST(t.tgrelid AS regclass) AS text), CAST(t.tgname AS text),
			CAST(n.nspname AS text), CAST(t.conname AS text),
			t.tginitdeferred, NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint AS o
				WHERE o.conname = t.conname AND o.connamespace = t.connamespace
				AND (o.contype <> 't' OR NOT o.condeferrable OR o.condeferred <> t.condeferred)), t.mapped,
			(SELECT CAST(json_agg(json_build_object('name', name, 'language', language, 'text', body)) AS text)
				FROM called WHERE called.oid = t.oid)
		FROM late AS t JOIN pg_catalog.pg_namespace AS n ON n.oid = t.connamespace
		ORDER BY 1, 2`
}

// unlockableKind is the expression for the kind of the table b if PostgreSQL cannot lock the rows of that kind. Its
// value is NULL for other tables.
const unlockableKind = "CASE b.relkind WHEN 'f' THEN 'a foreign table' WHEN 'm' THEN 'a materialized view' END"

func (postgres) accessProblem(table string, privileges []string) string {
	schema, name, qualified := strings.Cut(table, ".")
	where := "s.nspname = " + syntax.Literal(schema) + " AND b.relname = " + syntax.Literal(name)
	if !qualified {
		where = "b.relname = " + syntax.Literal(table) + " AND pg_table_is_visible(b.oid)"
	}
	missing := ""
	for _, privilege := range privileges {
		check := "has_any_column_privilege"
		if privilege == "DELETE" {
			check = "has_table_privilege"
		}
		missing += syntax.Fill(`
			WHEN NOT {check}(b.oid, '{privilege}') THEN 'this role lacks the privilege {privilege}' `,
			"check", check, "privilege", privilege)
	}
	return syntax.Fill(`
		SELECT CASE
			WHEN {kind} IS NOT NULL THEN concat('is ', {kind}, ', whose rows can neither be locked nor changed')
			WHEN NOT has_schema_privilege(s.oid, 'USAGE') THEN 'this role lacks the privilege USAGE on its schema'
			{missing}
			END
		FROM pg_catalog.pg_class AS b JOIN pg_catalog.pg_namespace AS s ON s.oid = b.relnamespace
		WHERE {table}`, "kind", unlockableKind, "missing", missing, "table", where)
}

func (postgres) columnType(declared string) (t datamap.ColumnType, length int) {
	return sqltype.Parse(declared)
}
