package cascade

import (
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// dialect has the statements that find out which rows the database deletes or changes besides the steps, because of
// foreign keys and triggers.
type dialect interface {
	// reachText returns the statement that reads a JSON document about the tables to which the steps lead. See
	// Reach. It returns "" if live.Schema has all tables of the database.
	reachText(w *rows.Writer, steps []datamap.Step) string

	// watching returns the first columns of the statement Watch.
	watching(visited, tables []string, triggers bool) string

	// deleted returns the statement that reads how many rows this transaction has deleted from tables, a number of the
	// storage of each table, and how many rows it has inserted and updated. The number of the storage changes if a
	// statement empties the table with TRUNCATE, which the counters omit. The statement's parameter is a JSON array with
	// the ids of the tables. deleted returns "" if the database has no such counters.
	deleted() string

	// lockedWholly returns the statement that reads the ids of the tables that this transaction has locked against all
	// others, as TRUNCATE does. It is called only if deleted returns a statement.
	lockedWholly() string

	// beforeDeletion returns the statement that makes a query see its tables as they are before the statements that
	// follow, whenever its rows are fetched, and the statements that fetch the rows and end the query. They are "" if the
	// database has no such queries.
	beforeDeletion(query string) (declare, fetch, end string)
}

func dialectOf(d syntax.Dialect) dialect { return syntax.Choose[dialect](d, postgres{}, sqlite{}) }

type postgres struct{}

// reachText follows foreign keys from the tables of the steps. If a trigger or a rule may run on the way, the document
// has all tables of the database, because a trigger can delete rows of every table. For the same reason, the member
// "undoes" is about the triggers of all tables.
func (postgres) reachText(w *rows.Writer, steps []datamap.Step) string {
	mapped := make([]string, 0, len(w.DataMap.Tables()))
	for _, table := range w.DataMap.Tables() {
		mapped = append(mapped, "("+syntax.Literal(table.Name)+", "+syntax.Literal(syntax.QuoteTable(table.Name))+")")
	}
	changed := []string{"(NULL, 'update', NULL)"}
	for _, step := range steps {
		target := "(" + syntax.Literal(syntax.QuoteTable(step.Target))
		if step.Strategy == domain.StrategyDelete {
			changed = append(changed, target+", 'delete', NULL)")
		}
		for _, name := range writtenBy(step) {
			changed = append(changed, target+", 'update', "+syntax.Literal(name)+")")
		}
	}
	return syntax.Fill(reachOfPostgres, "follows", keyFollows, "mapped", strings.Join(mapped, ", "), "changed",
		strings.Join(changed, ", "),
		"below m", live.TablesBelow("m.oid"), "below r", live.TablesBelow("r.oid"),
		"columns", live.ColumnNamesOf("k.conkey", "k.conrelid"), "referenced", live.ColumnNamesOf("k.confkey", "k.confrelid"),
		"key", live.ColumnNamesOf("p.conkey", "p.conrelid"),
		"name", live.NameInDataMap("b", "n.nspname"), "own names", syntax.Literal(syntax.OwnNames()),
		"catches", `regexp_replace(p.prosrc, '\mraise\s+exception\M', '', 'gi') ~* '\mexception\M'`)
}

// reachOfPostgres is the expression for the document of Reach. A table of the data map counts as mapped also if it is a
// view, and with the tables that the view reads. The column "acts" says what may happen to rows of the table: delete,
// update (then "name" is a changed column, or NULL for any column), or move. An update that moves a row to another
// partition deletes and inserts the row. The member "root" of a table is the topmost table from which it inherits.
// PostgreSQL 14 has no column confdelsetcols, so the statement reads the column from a JSON object.
const reachOfPostgres = `
	WITH RECURSIVE mapped (name, oid, of_view) AS (
		SELECT m.name, v.oid, v.relkind = 'v' FROM (VALUES {mapped}) AS m (name, quoted)
		JOIN pg_catalog.pg_class AS v ON v.oid = CAST(to_regclass(m.quoted) AS oid)
		UNION
		SELECT m.name, f.oid, m.of_view FROM mapped AS m JOIN LATERAL ({below m}) AS f (oid) ON TRUE),
	reach (oid, acts, name) AS (
		SELECT CAST(to_regclass(r.quoted) AS oid), r.acts, r.name COLLATE "C"
		FROM (VALUES {changed}) AS r (quoted, acts, name)
		UNION
		SELECT f.oid, f.acts, f.name COLLATE "C" FROM reach AS r JOIN LATERAL (
			SELECT b.oid, r.acts, CASE WHEN (SELECT c.relkind FROM pg_catalog.pg_class AS c WHERE c.oid = r.oid) <> 'v'
				THEN r.name END FROM ({below r}) AS b (oid)
			UNION ALL
			SELECT r.oid, 'update', CAST(a.attname AS text) FROM pg_catalog.pg_attribute AS a
			WHERE r.acts = 'update' AND a.attrelid = r.oid AND a.attgenerated <> ''
			UNION ALL
			SELECT r.oid, 'update', NULL FROM pg_catalog.pg_trigger AS t
			WHERE r.acts = 'update' AND t.tgrelid = r.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D'
				AND CAST(t.tgtype AS integer) & 18 = 18
			UNION ALL
			SELECT r.oid, 'move', NULL FROM pg_catalog.pg_partitioned_table AS p
			WHERE r.acts = 'update' AND p.partrelid = r.oid AND (r.name IS NULL OR 0 = ANY (p.partattrs)
				OR EXISTS (SELECT 1 FROM pg_catalog.pg_attribute AS a
					WHERE a.attrelid = r.oid AND a.attnum = ANY (p.partattrs) AND a.attname = r.name))
			UNION ALL
			SELECT k.conrelid, e.acts, e.name FROM pg_catalog.pg_trigger AS t
			JOIN pg_catalog.pg_constraint AS k ON k.oid = t.tgconstraint AND {follows}
			JOIN LATERAL (
				SELECT 'delete', NULL WHERE r.acts <> 'update' AND k.confdeltype = 'c'
				UNION ALL
				SELECT 'update', CAST(a.attname AS text) FROM pg_catalog.pg_attribute AS a
				WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey) AND (r.acts = 'update' OR k.confdeltype <> 'c')
			) AS e (acts, name) ON TRUE
			WHERE t.tgrelid = r.oid AND t.tgisinternal AND t.tgenabled <> 'D'
		) AS f (oid, acts, name) ON TRUE),
	acted AS (SELECT DISTINCT oid, acts FROM reach),
	acting AS (
		SELECT {catches} OR l.lanname NOT IN ('plpgsql', 'sql') AS undoes
		FROM acted AS r JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = r.oid
		JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
		WHERE NOT t.tgisinternal AND t.tgenabled <> 'D'
			AND CAST(t.tgtype AS integer) & CASE r.acts WHEN 'delete' THEN 8 WHEN 'update' THEN 16 ELSE 12 END <> 0
		UNION ALL
		SELECT FALSE FROM acted AS r JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = r.oid
		WHERE w.rulename <> '_RETURN' AND w.ev_enabled <> 'D'
			AND w.ev_type = CASE r.acts WHEN 'delete' THEN '4' WHEN 'update' THEN '2' END),
	acts (any_act, any_undone) AS (SELECT count(*) > 0, bool_or(undoes) FROM acting),
	leaves AS (
		SELECT c.oid, (
			WITH RECURSIVE up (oid) AS (
				SELECT c.oid UNION SELECT i.inhparent FROM up JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = up.oid)
			SELECT up.oid FROM up WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = up.oid)
			LIMIT 1) AS root
		FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace CROSS JOIN acts
		WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND n.nspname <> 'information_schema'
			AND left(n.nspname, 3) <> 'pg_' AND c.relname !~ {own names}
			AND (acts.any_act OR c.oid IN (SELECT oid FROM acted WHERE acts = 'delete')))
	SELECT CAST(json_build_object(
		'triggers', (SELECT any_act FROM acts),
		'undoes', (SELECT COALESCE(any_undone, FALSE) FROM acts) OR (SELECT any_act FROM acts) AND EXISTS (
			SELECT 1 FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
			WHERE l.lanname NOT IN ('sql', 'c', 'internal') AND (l.lanname <> 'plpgsql' OR {catches})
				AND p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)),
		'visited', (SELECT json_agg(DISTINCT CAST(oid AS text)) FROM acted WHERE oid IS NOT NULL),
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
				'columns', {columns}, 'referenced', {referenced}, 'on_update', o.on_update, 'follows', k.confupdtype = 'c',
				'sets', CASE WHEN o.on_update THEN {columns} WHEN k.confdeltype = 'c' THEN NULL
					WHEN json_typeof(to_json(k) -> 'confdelsetcols') = 'array' THEN (
						SELECT json_agg(a.attname) FROM json_array_elements_text(to_json(k) -> 'confdelsetcols') AS e (number)
						JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = CAST(e.number AS smallint))
					ELSE {columns} END))
			FROM (SELECT DISTINCT k.oid, r.acts = 'update' AS on_update
				FROM reach AS r JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = r.oid
				JOIN pg_catalog.pg_constraint AS k ON k.oid = t.tgconstraint AND {follows}
				WHERE t.tgisinternal AND t.tgenabled <> 'D' AND k.conparentid = 0) AS o
			JOIN pg_catalog.pg_constraint AS k ON k.oid = o.oid
			JOIN pg_catalog.pg_class AS b ON b.oid = k.conrelid JOIN pg_catalog.pg_namespace AS n ON n.oid = b.relnamespace
			JOIN pg_catalog.pg_class AS pb ON pb.oid = k.confrelid
			JOIN pg_catalog.pg_namespace AS pn ON pn.oid = pb.relnamespace)) AS text)`

// keyFollows is the condition that the foreign key k acts on what happens to the row r of reach.
const keyFollows = `k.contype = 'f' AND k.confrelid = r.oid AND CASE WHEN r.acts <> 'update'
		THEN k.confdeltype IN ('c', 'n', 'd')
		ELSE k.confupdtype IN ('c', 'n', 'd') AND (r.name IS NULL OR EXISTS (SELECT 1 FROM pg_catalog.pg_attribute AS a
			WHERE a.attrelid = r.oid AND a.attnum = ANY (k.confkey) AND a.attname = r.name)) END`

// watching reads counters that are not zero when a transaction begins, and that also count the deletions that a
// savepoint has rolled back. Only the difference of two readings has a meaning.
func (postgres) watching(visited, tables []string, triggers bool) string {
	all := "NULL"
	if triggers {
		all = "(SELECT concat(count(*), ' ', max(oid)) FROM pg_catalog.pg_class WHERE relkind = 'r')"
	}
	return syntax.Fill(watchingOfPostgres, "visited", "'{"+strings.Join(visited, ",")+"}'::oid[]",
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
		CAST(pg_relation_filenode(id) AS bigint), pg_stat_get_xact_tuples_inserted(id),
		pg_stat_get_xact_tuples_updated(id))) AS text), '{}') FROM unnest({tables}) AS t (id))`

// deleted reads the same counters as watching. The number of the file stands for the storage of a table.
func (postgres) deleted() string {
	return `SELECT id, pg_stat_get_xact_tuples_deleted(CAST(id AS oid)),
		CAST(pg_relation_filenode(CAST(id AS oid)) AS bigint), pg_stat_get_xact_tuples_inserted(CAST(id AS oid)),
		pg_stat_get_xact_tuples_updated(CAST(id AS oid)) FROM (` + syntax.Postgres.ArrayElements("$1") + `) AS t (id)`
}

func (postgres) lockedWholly() string {
	return `SELECT CAST(relation AS text) FROM pg_catalog.pg_locks
		WHERE locktype = 'relation' AND pid = pg_backend_pid() AND mode = 'AccessExclusiveLock' AND granted`
}

// beforeDeletion uses a cursor. A cursor sees the rows as they were when it was declared.
func (postgres) beforeDeletion(query string) (declare, fetch, end string) {
	return "DECLARE habeas_before NO SCROLL CURSOR FOR " + query, "FETCH ALL FROM habeas_before", "CLOSE habeas_before"
}

type sqlite struct{}

// reachText returns "", because the fingerprint of the schema covers the definitions of all tables.
func (sqlite) reachText(*rows.Writer, []datamap.Step) string { return "" }

func (sqlite) watching([]string, []string, bool) string {
	return "'', (SELECT foreign_keys <> 0 FROM pragma_foreign_keys), FALSE, '{}'"
}

func (sqlite) deleted() string                                    { return "" }
func (sqlite) lockedWholly() string                               { return "" }
func (sqlite) beforeDeletion(string) (declare, fetch, end string) { return "", "", "" }
