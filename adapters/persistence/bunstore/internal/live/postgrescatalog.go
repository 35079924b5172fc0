package live

import (
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
)

// catalog returns one statement. Without a scope, it reads all schemas. With a scope, it reads no indexes and no
// checks and no SQL of defaults, but also the triggers that only TRUNCATE fires.
func (postgres) catalog(_ string, of *scope) statements {
	fires, initial, unlockable := "TRUE", "NULL", "FALSE"
	if of == nil {
		fires, unlockable = "t.tgtype & 28 <> 0", unlockableView
		initial = "CASE WHEN a.attgenerated = '' AND a.atthasdef THEN (SELECT pg_get_expr(e.adbin, e.adrelid) " +
			"FROM pg_catalog.pg_attrdef AS e WHERE e.adrelid = r.oid AND e.adnum = a.attnum) END"
	}
	fill := func(statement string) string {
		return syntax.Fill(statement, "name bytes", strconv.Itoa(syntax.NameBytes), "fires", fires,
			"initial", initial, "unlockable", unlockable,
			"filters rows", strings.ReplaceAll(filtersRows, "b.oid", "r.oid"), "body", functionBody, "reused", reused,
			"name of r", NameInDataMap("r", "r.nspname"), "name of f", NameInDataMap("f", "s.nspname"),
			"rows of partitions", RowsOfPartitions("r.oid"),
			"columns", ColumnNamesOf("k.conkey", "k.conrelid"), "referenced", ColumnNamesOf("k.confkey", "k.confrelid"))
	}
	read := statements{
		With:   "WITH RECURSIVE " + relationsOf(of) + ", " + domains,
		Tables: fill(tablesOfPostgres), Columns: fill(columnsOfPostgres), ForeignKeys: fill(foreignKeysOfPostgres),
		Triggers: fill(triggersOfPostgres), ViewReads: fill(readsOfPostgres), Routines: fill(routinesOf(of)),
	}
	if of != nil && of.fingerprint != "" {
		read.Fingerprint = "SELECT '', CAST(to_json(" + of.fingerprint + ") AS text), 0"
	}
	if of == nil {
		read.Indexes, read.Checks = fill(indexesOfPostgres), fill(checksOfPostgres)
		read.Encoding = "SELECT '', CAST(to_json(current_setting('server_encoding')) AS text), 0"
		read.Publications, read.Partitions = fill(publicationsOfPostgres), fill(partitionsOfPostgres)
	}
	return read
}

// ColumnNamesOf returns the expression for the column names of a constraint, as a JSON array. The parameters are
// expressions for the column numbers and for the oid of the table, such as k.conkey and k.conrelid.
func ColumnNamesOf(numbers, table string) string {
	return syntax.Fill(`(SELECT json_agg((SELECT a.attname FROM pg_catalog.pg_attribute AS a
			WHERE a.attrelid = {table} AND a.attnum = u.number) ORDER BY u.n)
		FROM unnest({numbers}) WITH ORDINALITY AS u (number, n))`, "numbers", numbers, "table", table)
}

// NameInDataMap returns the expression for the name that a data map uses for a table. The name includes the schema only
// if the search path does not find the table. The parameters are the alias of pg_class, such as r, and the expression
// for the name of the schema, such as r.nspname.
func NameInDataMap(class, schema string) string {
	return syntax.Fill(`CASE WHEN pg_table_is_visible({class}.oid) THEN CAST({class}.relname AS text)
		ELSE concat({schema}, '.', {class}.relname) END`, "class", class, "schema", schema)
}

// RowsOfPartitions returns the expression for the condition that a row of the table with an oid satisfies if a
// partition takes it. See datamap.CatalogPartitions. It has no operators, which other roles could define.
func RowsOfPartitions(oid string) string {
	return `(SELECT pg_catalog.string_agg(pg_catalog.concat('(', COALESCE(
			pg_catalog.pg_get_partition_constraintdef(l.relid), 'TRUE'), ')'), ' OR ' ORDER BY l.relid)
		FROM pg_catalog.pg_partition_tree(` + oid + `) AS l WHERE l.isleaf AND l.parentrelid IS NOT NULL)`
}

// TablesBelow returns the query that selects the oids of the tables that inherit from the table with an oid, and of the
// tables that a view reads.
func TablesBelow(oid string) string {
	return syntax.Fill(`
		SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = {oid}
		UNION ALL
		SELECT d.refobjid FROM pg_catalog.pg_rewrite AS v
		JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = v.oid
			AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> v.ev_class
		WHERE v.ev_class = {oid} AND v.rulename = '_RETURN'`, "oid", oid)
}

// relationsOf returns a common table expression of the tables and views in the scope. Without a scope, these are those
// of all schemas, except the schemas of the system. It includes partitions. For a partition, the column "root" is its
// topmost partitioned table. For all other relations, and for a partition that the data map names, it is the relation
// itself.
func relationsOf(of *scope) string {
	if of == nil {
		return syntax.Fill(relations, "apart", "TRUE", "which",
			"c.relpersistence <> 't' AND n.nspname <> 'information_schema' AND left(n.nspname, 3) <> 'pg_'")
	}
	mapped := oidsOf(of.tables) + " UNION ALL " + of.own.OidsInFront()
	return syntax.Fill(scoped, "mapped", mapped, "tables below", TablesBelow("below.oid")) +
		syntax.Fill(relations, "apart", "c.oid <> ALL (ARRAY(SELECT oid FROM mapped WHERE oid IS NOT NULL))",
			"which", "c.oid = ANY (ARRAY(SELECT oid FROM scope))")
}

// routinesOf returns the statement that reads the database functions that triggers execute, and the functions that
// these call. Without a scope, it reads all volatile database functions of the application in languages other than C,
// because each of them may be called.
func routinesOf(of *scope) string {
	if of == nil {
		return syntax.Fill(routines, "called", "", "which", `
			p.oid IN (SELECT tgfoid FROM pg_catalog.pg_trigger WHERE NOT tgisinternal) OR `+isOfApplication)
	}
	return syntax.Fill(routines, "called", called, "which", "p.oid IN (SELECT oid FROM called)")
}

const (
	// scoped has the common table expressions before those of the relations. PostgreSQL has internal triggers on a table
	// to which a foreign key refers.
	scoped = `mapped (oid) AS ({mapped}),
		below (oid) AS (
			SELECT oid FROM mapped UNION SELECT f.oid FROM below JOIN LATERAL ({tables below}) AS f (oid) ON TRUE),
		scope (oid) AS (
			SELECT oid FROM below
			UNION
			SELECT f.oid FROM below JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = below.oid AND t.tgisinternal
			JOIN pg_catalog.pg_constraint AS k ON k.oid = t.tgconstraint AND k.contype = 'f' AND k.confrelid = t.tgrelid
			CROSS JOIN LATERAL (VALUES (k.conrelid), (CAST(pg_partition_root(k.conrelid) AS oid))) AS f (oid)
			WHERE k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype IN ('c', 'n', 'd')), `

	relations = `relations AS (
		SELECT c.oid, c.relname, c.relkind, c.relpersistence, c.relrowsecurity, c.reltuples, c.relnamespace, n.nspname,
			COALESCE(CASE WHEN c.relispartition AND {apart} THEN CAST(pg_partition_root(c.oid) AS oid) END, c.oid) AS root
		FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND {which})`

	// domains is a common table expression of the types that CREATE DOMAIN defines. A domain may be based on another
	// domain. If domain a is based on domain b, and b is based on text, then a has two rows: one for a itself (below = a,
	// base = b), and one for b (below = b, base = text). The column "never" is true if one of the domains from a to the
	// domain in the column "below" is NOT NULL. The column "fills" is true if one of these domains has a default.
	domains = `domains (oid, below, base, typmod, never, fills) AS (
			SELECT t.oid, t.oid, t.typbasetype, t.typtypmod, t.typnotnull, t.typdefault IS NOT NULL
			FROM pg_catalog.pg_type AS t WHERE t.typtype = 'd'
			UNION ALL
			SELECT d.oid, t.oid, t.typbasetype, t.typtypmod, d.never OR t.typnotnull, d.fills OR t.typdefault IS NOT NULL
			FROM domains AS d JOIN pg_catalog.pg_type AS t ON t.oid = d.base AND t.typtype = 'd')`

	// unlockableView is the expression for CatalogTable.Unlockable of the relation r. It reads the parse tree of the view.
	unlockableView = `r.relkind = 'v' AND (pg_relation_is_updatable(r.oid, FALSE) & 4) = 0 AND EXISTS (
		SELECT 1 FROM pg_catalog.pg_rewrite AS w WHERE w.ev_class = r.oid AND w.rulename = '_RETURN' AND w.ev_action
			~ (':(hasAggs|hasWindowFuncs|hasTargetSRFs) true|:(groupClause|distinctClause|cteList) \('
				|| '|:(havingQual|setOperations) \{'))`

	// reused is the expression for CatalogColumn.Reused of the column a of the relation r. A sequence depends on the
	// column that owns it, and a default depends on the sequence that it reads.
	reused = `EXISTS (
				SELECT 1 FROM pg_catalog.pg_sequence AS q JOIN pg_catalog.pg_depend AS o
				ON o.classid = 'pg_class'::regclass AND o.objid = q.seqrelid AND o.refclassid = 'pg_class'::regclass
				WHERE q.seqcycle AND o.refobjid = r.oid AND o.refobjsubid = a.attnum
				UNION ALL
				SELECT 1 FROM pg_catalog.pg_attrdef AS e JOIN pg_catalog.pg_depend AS o
				ON o.classid = 'pg_attrdef'::regclass AND o.objid = e.oid AND o.refclassid = 'pg_class'::regclass
				JOIN pg_catalog.pg_sequence AS q ON q.seqrelid = o.refobjid
				WHERE q.seqcycle AND e.adrelid = r.oid AND e.adnum = a.attnum)`

	tablesOfPostgres = `
		SELECT CAST(r.oid AS text), CAST(json_build_object('name', {name of r}, 'schema', r.nspname,
			'name_bytes', {name bytes},
			'kind', CASE r.relkind WHEN 'p' THEN 'partitioned_table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized_view'
				WHEN 'f' THEN 'foreign_table' ELSE 'table' END,
			'inherits', (SELECT json_agg({name of f} ORDER BY i.inhseqno) FROM pg_catalog.pg_inherits AS i
				JOIN pg_catalog.pg_class AS f ON f.oid = i.inhparent JOIN pg_catalog.pg_namespace AS s ON s.oid = f.relnamespace
				WHERE i.inhrelid = r.oid),
			'row_security', r.relrowsecurity AND row_security_active(r.oid), 'secured', r.relrowsecurity,
			'temporary', r.relpersistence = 't',
			'missing', (SELECT json_agg(u.privilege ORDER BY u.n)
				FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) WITH ORDINALITY AS u (privilege, n)
				WHERE NOT (has_schema_privilege(r.relnamespace, 'USAGE') AND CASE u.privilege
					WHEN 'DELETE' THEN has_table_privilege(r.oid, u.privilege)
					ELSE has_any_column_privilege(r.oid, u.privilege) END)),
			'rows', CAST(CASE r.relkind WHEN 'v' THEN -1 WHEN 'p' THEN COALESCE((
					SELECT sum(l.reltuples) FROM pg_partition_tree(r.oid) AS p JOIN pg_catalog.pg_class AS l ON l.oid = p.relid
					WHERE p.isleaf AND l.reltuples >= 0), -1)
				ELSE r.reltuples END AS bigint),
			'definition', CASE WHEN r.relkind IN ('v', 'm') THEN md5(pg_get_viewdef(r.oid)) END,
			'unlockable', {unlockable},
			'filtered', r.relkind = 'm' OR r.relkind = 'v' AND ({filters rows}
				OR (pg_relation_is_updatable(r.oid, FALSE) & 4) = 0)) AS text), 0
		FROM relations AS r WHERE r.root = r.oid`

	columnsOfPostgres = `
		SELECT CAST(r.oid AS text), CAST(json_build_object('name', a.attname,
			'declared', format_type(COALESCE(d.base, a.atttypid), CASE WHEN d.base IS NULL THEN a.atttypmod ELSE d.typmod END),
			'nullable', NOT (a.attnotnull OR COALESCE(d.never, FALSE)),
			'default', a.atthasdef AND a.attgenerated = '' OR a.attidentity <> '' OR COALESCE(d.fills, FALSE),
			'initial', {initial}, 'reused', {reused},
			'generated', a.attgenerated <> '', 'identity', a.attidentity = 'a',
			'derived', r.relkind = 'v' AND NOT pg_column_is_updatable(r.oid, a.attnum, FALSE),
			'values', CASE WHEN t.typtype = 'e' THEN (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder)
				FROM pg_catalog.pg_enum AS e WHERE e.enumtypid = t.oid) END,
			'domain', CASE WHEN d.base IS NOT NULL THEN format_type(a.atttypid, NULL) END,
			'missing', NULLIF(array_remove(ARRAY[
				CASE WHEN NOT (u.usage AND has_column_privilege(r.oid, a.attnum, 'SELECT')) THEN 'SELECT' END,
				CASE WHEN NOT (u.usage AND has_column_privilege(r.oid, a.attnum, 'INSERT')) THEN 'INSERT' END,
				CASE WHEN NOT (u.usage AND has_column_privilege(r.oid, a.attnum, 'UPDATE')) THEN 'UPDATE' END], NULL), '{}')
			) AS text), a.attnum
		FROM relations AS r JOIN pg_catalog.pg_attribute AS a ON a.attrelid = r.oid
		JOIN LATERAL (SELECT has_schema_privilege(r.relnamespace, 'USAGE') AS usage) AS u ON TRUE
		LEFT JOIN (SELECT o.* FROM domains AS o JOIN pg_catalog.pg_type AS t ON t.oid = o.base AND t.typtype <> 'd') AS d
			ON d.oid = a.atttypid
		JOIN pg_catalog.pg_type AS t ON t.oid = COALESCE(d.base, a.atttypid)
		WHERE r.root = r.oid AND a.attnum > 0 AND NOT a.attisdropped`

	// The member "text" of the JSON object is the definition of the index if the index has expressions, and otherwise
	// NULL. In a definition, the expressions follow the first opening bracket.
	indexesOfPostgres = `
		SELECT CAST(r.oid AS text), CAST(json_build_object('name', x.relname,
			'columns', (SELECT json_agg((SELECT a.attname FROM pg_catalog.pg_attribute AS a
					WHERE a.attrelid = i.indrelid AND a.attnum = u.number AND u.number > 0) ORDER BY u.n)
				FROM unnest(CAST(i.indkey AS smallint[])) WITH ORDINALITY AS u (number, n) WHERE u.n <= i.indnkeyatts),
			'text', CASE WHEN i.indexprs IS NOT NULL THEN pg_get_indexdef(i.indexrelid) END,
			'partial', i.indpred IS NOT NULL, 'where', pg_get_expr(i.indpred, i.indrelid),
			'unique', i.indisunique, 'primary', i.indisprimary,
			'exclusion', i.indisexclusion, 'equality', i.indisvalid AND m.amname IN ('btree', 'hash'),
			'nulls_equal', i.indisunique AND COALESCE(to_jsonb(i) ->> 'indnullsnotdistinct', '') = 'true') AS text),
			row_number() OVER (ORDER BY x.relname)
		FROM relations AS r JOIN pg_catalog.pg_index AS i ON i.indrelid = r.oid
		JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid JOIN pg_catalog.pg_am AS m ON m.oid = x.relam
		WHERE r.root = r.oid`

	// The statement skips foreign keys with a parent (conparentid). These are copies that PostgreSQL creates for
	// partitions of the referencing table or of the referenced table.
	foreignKeysOfPostgres = `
		SELECT CAST(r.root AS text), CAST(json_build_object('name', k.conname,
			'columns', {columns}, 'references', {name of f}, 'referenced', {referenced},
			'on_delete', CASE k.confdeltype WHEN 'r' THEN 'restrict' WHEN 'c' THEN 'cascade' WHEN 'n' THEN 'set_null'
				WHEN 'd' THEN 'set_default' ELSE 'no_action' END,
			'deferrable', k.condeferrable, 'follows', k.confupdtype = 'c', 'clears_on_update', k.confupdtype = 'n',
			'resets_on_update', k.confupdtype = 'd',
			'full', k.confmatchtype = 'f',
			'cleared', (SELECT json_agg(a.attname ORDER BY a.attnum) FROM pg_catalog.pg_attribute AS a
				WHERE a.attrelid = k.conrelid AND jsonb_typeof(to_jsonb(k) -> 'confdelsetcols') = 'array'
					AND to_jsonb(k) -> 'confdelsetcols' @> to_jsonb(a.attnum))) AS text),
			row_number() OVER (ORDER BY k.conname)
		FROM relations AS r JOIN pg_catalog.pg_constraint AS k ON k.conrelid = r.oid AND k.contype = 'f'
		JOIN pg_catalog.pg_class AS f ON f.oid = COALESCE(CAST(pg_partition_root(k.confrelid) AS oid), k.confrelid)
		JOIN pg_catalog.pg_namespace AS s ON s.oid = f.relnamespace
		WHERE k.conparentid = 0`

	checksOfPostgres = `
		SELECT CAST(r.oid AS text), CAST(json_build_object('name', k.conname, 'columns', k.columns,
			'text', pg_get_constraintdef(k.oid)) AS text),
			row_number() OVER (ORDER BY k.conname, CAST(k.columns AS text))
		FROM relations AS r JOIN (
			SELECT k.oid, k.conname, k.conrelid, {columns} AS columns
			FROM pg_catalog.pg_constraint AS k WHERE k.contype = 'c' AND k.conrelid <> 0
			UNION ALL
			SELECT k.oid, k.conname, a.attrelid, json_build_array(a.attname) FROM pg_catalog.pg_constraint AS k
			JOIN domains AS d ON d.below = k.contypid
			JOIN pg_catalog.pg_attribute AS a ON a.atttypid = d.oid AND a.attnum > 0 AND NOT a.attisdropped
			WHERE k.contype = 'c') AS k ON k.conrelid = r.oid
		WHERE r.root = r.oid`

	publicationsOfPostgres = `
		SELECT CAST(r.root AS text), CAST(json_build_object('name', p.pubname, 'refuses', array_remove(ARRAY[
			CASE WHEN p.pubupdate THEN 'UPDATE' END, CASE WHEN p.pubdelete THEN 'DELETE' END], NULL)) AS text), 0
		FROM pg_catalog.pg_publication AS p CROSS JOIN LATERAL pg_get_publication_tables(CAST(p.pubname AS text)) AS g
		JOIN relations AS r ON r.relkind = 'r'
			AND (r.oid = g.relid OR g.relid IN (SELECT a.relid FROM pg_partition_ancestors(r.oid) AS a))
		JOIN pg_catalog.pg_class AS c ON c.oid = r.oid
		WHERE (p.pubupdate OR p.pubdelete) AND (c.relreplident = 'n' OR c.relreplident IN ('d', 'i') AND NOT EXISTS (
			SELECT 1 FROM pg_catalog.pg_index AS i WHERE i.indrelid = r.oid
				AND CASE c.relreplident WHEN 'd' THEN i.indisprimary ELSE i.indisreplident END))
		GROUP BY r.root, p.pubname, p.pubupdate, p.pubdelete`

	// The key columns of a table are those of its own partitions and of the partitions of these.
	partitionsOfPostgres = `
		SELECT CAST(r.oid AS text), CAST(json_build_object('text', {rows of partitions}, 'columns', (
				SELECT json_agg(DISTINCT a.attname) FROM pg_partition_tree(r.oid) AS l
				JOIN pg_catalog.pg_partitioned_table AS k ON k.partrelid = l.relid
				JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_class'::regclass AND d.objid = k.partrelid
					AND d.refclassid = 'pg_class'::regclass AND d.refobjid = k.partrelid AND d.deptype = 'i' AND d.refobjsubid = 0
				JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.partrelid AND a.attnum = d.objsubid),
			'number', (SELECT count(*) FROM pg_partition_tree(r.oid) AS l WHERE l.isleaf AND l.level > 0)) AS text), 0
		FROM relations AS r WHERE r.relkind = 'p' AND r.root = r.oid`

	// The statement skips triggers with a parent (tgparentid), because they are copies for partitions. The bits of tgtype
	// are the events: 4 is INSERT, 8 is DELETE, 16 is UPDATE, and 64 is INSTEAD OF. The second SELECT returns rewrite
	// rules in the same form as triggers.
	triggersOfPostgres = `
		SELECT t.root, t.trigger, row_number() OVER (ORDER BY t.name) FROM (
			SELECT CAST(r.root AS text) AS root, t.tgname AS name, CAST(json_build_object('name', t.tgname,
				'events', array_remove(ARRAY[CASE WHEN t.tgtype & 4 <> 0 THEN 'INSERT' END,
					CASE WHEN t.tgtype & 16 <> 0 THEN 'UPDATE' END, CASE WHEN t.tgtype & 8 <> 0 THEN 'DELETE' END], NULL),
				'instead', t.tgtype & 64 <> 0, 'routine', CAST(t.tgfoid AS text),
				'definition', pg_get_triggerdef(t.oid)) AS text) AS trigger
			FROM relations AS r JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = r.oid
			WHERE NOT t.tgisinternal AND (t.tgparentid = 0 OR r.root = r.oid) AND t.tgenabled <> 'D' AND {fires}
			UNION ALL
			SELECT CAST(r.root AS text), w.rulename, CAST(json_build_object('name', w.rulename,
				'events', ARRAY[CASE w.ev_type WHEN '2' THEN 'UPDATE' WHEN '3' THEN 'INSERT' ELSE 'DELETE' END],
				'instead', w.is_instead, 'definition', pg_get_ruledef(w.oid)) AS text)
			FROM relations AS r JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = r.oid
			WHERE w.rulename <> '_RETURN' AND w.ev_enabled <> 'D' AND w.ev_type IN ('2', '3', '4')) AS t`

	readsOfPostgres = `
		SELECT CAST(r.oid AS text), CAST(json_build_object('table', {name of f}, 'columns', json_agg(DISTINCT a.attname)
			FILTER (WHERE a.attname IS NOT NULL)) AS text), 0
		FROM relations AS r JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = r.oid AND w.rulename = '_RETURN'
		JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
			AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.oid
		JOIN pg_catalog.pg_class AS f ON f.oid = COALESCE(CAST(pg_partition_root(d.refobjid) AS oid), d.refobjid)
			AND f.relkind IN ('r', 'p', 'v', 'm', 'f')
		JOIN pg_catalog.pg_namespace AS s ON s.oid = f.relnamespace
		LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid AND a.attnum > 0
		GROUP BY r.oid, f.oid, f.relname, s.nspname`

	routines = `
		{called}
		SELECT CAST(p.oid AS text),
			CAST(json_build_object('name', p.proname, 'language', l.lanname, 'text', {body}) AS text), 0
		FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
		WHERE {which}`

	// called is a common table expression of the functions that the triggers and rules of the relations call.
	called = `
		WITH RECURSIVE called (oid, body) AS (
			SELECT p.oid, {body} FROM relations AS r JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = r.oid
			JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid WHERE NOT t.tgisinternal
			UNION ALL
			SELECT NULL, pg_get_ruledef(w.oid) FROM relations AS r JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = r.oid
			WHERE w.rulename <> '_RETURN'
			UNION
			SELECT p.oid, {body} FROM called AS c ` + calledFunctions + `)`
)
