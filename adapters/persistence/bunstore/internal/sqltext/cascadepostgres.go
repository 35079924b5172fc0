package sqltext

import (
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Reach follows foreign keys from the tables of the steps. If a trigger or a rule may run on the way, the document has
// all tables of the database, because a trigger can delete rows of every table. For the same reason, the member
// "undoes" is about the triggers of all tables.
func (postgres) Reach(w *Writer, steps []datamap.Step) string {
	mapped := make([]string, 0, len(w.DataMap.Tables()))
	for _, table := range w.DataMap.Tables() {
		mapped = append(mapped, "("+literal(table.Name)+", "+literal(quoteTable(table.Name))+")")
	}
	var changed []string
	for _, step := range steps {
		if step.Strategy != domain.StrategyRetain {
			changed = append(changed, "("+literal(quoteTable(step.Target))+", "+
				strings.ToUpper(strconv.FormatBool(step.Strategy == domain.StrategyDelete))+")")
		}
	}
	if len(changed) == 0 {
		changed = append(changed, "(NULL, FALSE)")
	}
	return fill(reachOfPostgres, "mapped", strings.Join(mapped, ", "), "changed", strings.Join(changed, ", "),
		"below m", fill(tablesBelow, "oid", "m.oid"), "below r", fill(tablesBelow, "oid", "r.oid"),
		"columns", columnNamesOf("k.conkey", "k.conrelid"), "referenced", columnNamesOf("k.confkey", "k.confrelid"),
		"key", columnNamesOf("p.conkey", "p.conrelid"),
		"name", nameInDataMap("b", "n.nspname"), "own names", literal(OwnNames()),
		"catches", `regexp_replace(p.prosrc, '\mraise\s+exception\M', '', 'gi') ~* '\mexception\M'`)
}

// tablesBelow selects the tables that inherit from the table {oid}, and the tables that a view reads.
const tablesBelow = `
	SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = {oid}
	UNION ALL
	SELECT d.refobjid FROM pg_catalog.pg_rewrite AS v
	JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = v.oid
		AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> v.ev_class
	WHERE v.ev_class = {oid} AND v.rulename = '_RETURN'`

// reachOfPostgres is the expression for the document of catalog.Reach. A table of the data map counts as mapped
// also if it is a view, and with the tables that the view reads. The column "deletes" is true if rows of the
// table may be deleted, and false if they may be updated. The member "root" of a table is the topmost table from which
// it inherits. PostgreSQL 14 has no column confdelsetcols, so the statement reads the column from a JSON object.
const reachOfPostgres = `
	WITH RECURSIVE mapped(name, oid, of_view) AS (
		SELECT m.name, v.oid, v.relkind = 'v' FROM (VALUES {mapped}) AS m(name, quoted)
		JOIN pg_catalog.pg_class AS v ON v.oid = CAST(to_regclass(m.quoted) AS oid)
		UNION
		SELECT m.name, f.oid, m.of_view FROM mapped AS m JOIN LATERAL ({below m}) AS f(oid) ON TRUE),
	reach(oid, deletes) AS (
		SELECT CAST(to_regclass(r.quoted) AS oid), r.deletes FROM (VALUES {changed}) AS r(quoted, deletes)
		UNION
		SELECT f.oid, f.deletes FROM reach AS r JOIN LATERAL (
			SELECT b.oid, r.deletes FROM ({below r}) AS b(oid)
			UNION ALL
			SELECT k.conrelid, k.confdeltype = 'c' FROM pg_catalog.pg_trigger AS t
			JOIN pg_catalog.pg_constraint AS k ON k.oid = t.tgconstraint
			WHERE r.deletes AND t.tgrelid = r.oid AND t.tgisinternal AND t.tgenabled <> 'D'
				AND k.contype = 'f' AND k.confrelid = r.oid AND k.confdeltype IN ('c', 'n', 'd')
		) AS f(oid, deletes) ON TRUE),
	acting AS (
		SELECT {catches} OR l.lanname NOT IN ('plpgsql', 'sql') AS undoes
		FROM reach AS r JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = r.oid
		JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
		WHERE NOT t.tgisinternal AND t.tgenabled <> 'D'
			AND CAST(t.tgtype AS integer) & CASE WHEN r.deletes THEN 8 ELSE 16 END <> 0
		UNION ALL
		SELECT FALSE FROM reach AS r JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = r.oid
		WHERE w.rulename <> '_RETURN' AND w.ev_enabled <> 'D' AND w.ev_type = CASE WHEN r.deletes THEN '4' ELSE '2' END),
	acts(any_act, any_undone) AS (SELECT count(*) > 0, bool_or(undoes) FROM acting),
	leaves AS (
		SELECT c.oid, (
			WITH RECURSIVE up(oid) AS (
				SELECT c.oid UNION SELECT i.inhparent FROM up JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = up.oid)
			SELECT up.oid FROM up WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = up.oid)
			LIMIT 1) AS root
		FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace CROSS JOIN acts
		WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND n.nspname <> 'information_schema'
			AND left(n.nspname, 3) <> 'pg_' AND c.relname !~ {own names}
			AND (acts.any_act OR c.oid IN (SELECT oid FROM reach WHERE deletes)))
	SELECT CAST(json_build_object(
		'triggers', (SELECT any_act FROM acts),
		'undoes', (SELECT COALESCE(any_undone, FALSE) FROM acts) OR (SELECT any_act FROM acts) AND EXISTS (
			SELECT 1 FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
			WHERE l.lanname NOT IN ('sql', 'c', 'internal') AND (l.lanname <> 'plpgsql' OR {catches})
				AND p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)),
		'visited', (SELECT json_agg(DISTINCT CAST(oid AS text)) FROM reach WHERE oid IS NOT NULL),
		'tables', (SELECT json_agg(json_build_object(
				'id', CAST(x.oid AS text), 'name', {name}, 'root', CAST(x.root AS text), 'split', x.root <> x.oid,
				'table', concat(quote_ident(n.nspname), '.', quote_ident(b.relname)),
				'mapped', (SELECT json_agg(m.name ORDER BY m.name) FROM mapped AS m WHERE m.oid = x.oid),
				'direct', (SELECT json_agg(m.name ORDER BY m.name) FROM mapped AS m WHERE m.oid = x.oid AND NOT m.of_view),
				'key', (SELECT {key} FROM pg_catalog.pg_constraint AS p WHERE p.conrelid = b.oid AND p.contype = 'p'),
				'readable', has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(b.oid, 'SELECT')))
			FROM leaves AS x JOIN pg_catalog.pg_class AS b ON b.oid = x.root
			JOIN pg_catalog.pg_namespace AS n ON n.oid = b.relnamespace),
		'keys', (SELECT json_agg(json_build_object(
				'id', CAST(k.conrelid AS text), 'parent_id', CAST(k.confrelid AS text), 'name', {name},
				'table', concat(quote_ident(n.nspname), '.', quote_ident(b.relname)),
				'parent', concat(quote_ident(pn.nspname), '.', quote_ident(pb.relname)),
				'readable', has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(b.oid, 'SELECT')
					AND has_schema_privilege(pn.oid, 'USAGE') AND has_table_privilege(pb.oid, 'SELECT'),
				'mapped', (SELECT json_agg(m.name ORDER BY m.name) FROM mapped AS m
					WHERE m.oid = k.conrelid AND NOT m.of_view),
				'parent_mapped', (SELECT json_agg(m.name ORDER BY m.name) FROM mapped AS m
					WHERE m.oid = k.confrelid AND NOT m.of_view),
				'columns', {columns}, 'referenced', {referenced},
				'sets', CASE WHEN k.confdeltype = 'c' THEN NULL
					WHEN json_typeof(to_json(k) -> 'confdelsetcols') = 'array' THEN (
						SELECT json_agg(a.attname) FROM json_array_elements_text(to_json(k) -> 'confdelsetcols') AS e(number)
						JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = CAST(e.number AS smallint))
					ELSE {columns} END))
			FROM (SELECT DISTINCT k.oid FROM reach AS r JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = r.oid
				JOIN pg_catalog.pg_constraint AS k ON k.oid = t.tgconstraint
				WHERE r.deletes AND t.tgisinternal AND t.tgenabled <> 'D' AND k.contype = 'f' AND k.confrelid = r.oid
					AND k.confdeltype IN ('c', 'n', 'd') AND k.conparentid = 0) AS o
			JOIN pg_catalog.pg_constraint AS k ON k.oid = o.oid
			JOIN pg_catalog.pg_class AS b ON b.oid = k.conrelid JOIN pg_catalog.pg_namespace AS n ON n.oid = b.relnamespace
			JOIN pg_catalog.pg_class AS pb ON pb.oid = k.confrelid
			JOIN pg_catalog.pg_namespace AS pn ON pn.oid = pb.relnamespace)) AS text)`

// watching reads counters that are not zero when a transaction begins, and that also count the deletions that a
// savepoint has rolled back. Only the difference of two readings has a meaning.
func (postgres) watching(visited, tables []string, triggers bool) string {
	all := "NULL"
	if triggers {
		all = "(SELECT concat(count(*), ' ', max(oid)) FROM pg_catalog.pg_class WHERE relkind = 'r')"
	}
	return fill(watchingOfPostgres, "visited", "'{"+strings.Join(visited, ",")+"}'::oid[]",
		"tables", "'{"+strings.Join(tables, ",")+"}'::oid[]", "all", all)
}

const watchingOfPostgres = `concat(
			(SELECT string_agg(concat(t.oid, t.tgenabled), ' ' ORDER BY t.oid) FROM pg_catalog.pg_trigger AS t
				WHERE t.tgrelid = ANY ({visited})),
			(SELECT string_agg(CAST(i.inhrelid AS text), ',' ORDER BY i.inhrelid) FROM pg_catalog.pg_inherits AS i
				WHERE i.inhparent = ANY ({visited})),
			(SELECT string_agg(concat(r.oid, r.ev_enabled), ' ' ORDER BY r.oid) FROM pg_catalog.pg_rewrite AS r
				WHERE r.ev_class = ANY ({visited})), {all}),
		TRUE, current_setting('track_counts') = 'on',
		(SELECT COALESCE(CAST(json_object_agg(id, json_build_array(pg_stat_get_xact_tuples_deleted(id),
			CAST(pg_relation_filenode(id) AS bigint))) AS text), '{}') FROM unnest({tables}) AS t(id))`

func (postgres) ReachedTables(string) string   { return "" }
func (postgres) ReachedKeys(string) string     { return "" }
func (postgres) ReachedTriggers(string) string { return "" }

// Deleted reads the same counters as watching. The number of the file stands for the storage of a table.
func (p postgres) Deleted() string {
	return `SELECT id, pg_stat_get_xact_tuples_deleted(CAST(id AS oid)),
		CAST(pg_relation_filenode(CAST(id AS oid)) AS bigint) FROM (` + p.arrayElements("$1") + `) AS t(id)`
}

func (postgres) LockedWholly() string {
	return `SELECT CAST(relation AS text) FROM pg_catalog.pg_locks
		WHERE locktype = 'relation' AND pid = pg_backend_pid() AND mode = 'AccessExclusiveLock' AND granted`
}

// beforeDeletion uses a cursor. A cursor sees the rows as they were when it was declared.
func (postgres) beforeDeletion(query string) (declare, fetch, end string) {
	return "DECLARE habeas_before NO SCROLL CURSOR FOR " + query, "FETCH ALL FROM habeas_before", "CLOSE habeas_before"
}

// leadsOn is the condition that a foreign key acts on other rows if rows of the tables in "below" are deleted.
const leadsOn = `EXISTS (SELECT 1 FROM pg_catalog.pg_trigger AS t
	JOIN pg_catalog.pg_constraint AS k ON k.oid = t.tgconstraint AND k.contype = 'f' AND k.confrelid = t.tgrelid
	WHERE t.tgrelid IN (SELECT oid FROM below) AND t.tgisinternal AND k.confdeltype IN ('c', 'n', 'd'))`

// actionsOfKeys lists the functions of the internal triggers that carry out the action of a foreign key (ON DELETE).
const actionsOfKeys = `'pg_catalog."RI_FKey_cascade_del"'::regproc,
				'pg_catalog."RI_FKey_setnull_del"'::regproc, 'pg_catalog."RI_FKey_setdefault_del"'::regproc`
