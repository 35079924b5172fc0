package live

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

type sqlite struct{}

// fingerprint returns an expression whose value changes with each change of the schema of the main database, and of the
// temporary objects, such as triggers. If a table belongs to an attached database, the value is always
// the empty text, because each attached database has a separate schema version.
func (sqlite) fingerprint(tables []datamap.Table, _ syntax.Tables) string {
	if slices.ContainsFunc(tables, func(t datamap.Table) bool { return strings.Contains(t.Name, ".") }) {
		return "''"
	}
	return "(SELECT schema_version FROM pragma_schema_version) || ' ' ||" +
		" (SELECT COALESCE(group_concat(type || ' ' || name || ' ' || sql), '') FROM sqlite_temp_master)"
}

// schemas returns a statement that lists the databases in the order in which SQLite resolves the name of a table.
func (sqlite) schemas() string {
	return "SELECT name FROM pragma_database_list ORDER BY name <> 'temp', seq"
}

func (sqlite) quotes() map[byte]byte { return sqltext.QuotesOfSQLite }
func (sqlite) checkDeferred() string { return "" }

// brokenForeignKeys returns a statement that searches the definitions of the tables for DEFERRED, because SQLite has no
// pragma that lists the deferred foreign keys.
func (sqlite) brokenForeignKeys(schema string) string {
	return syntax.Fill(`
		SELECT k."table", k.parent, k.fkid, count(*)
		FROM {schema}.sqlite_master AS m JOIN pragma_foreign_key_check(m.name, {name}) AS k
		WHERE m.type = 'table' AND (SELECT foreign_keys FROM pragma_foreign_keys) <> 0
			AND (m.sql LIKE '%DEFERRED%' OR (SELECT defer_foreign_keys FROM pragma_defer_foreign_keys) <> 0)
		GROUP BY 1, 2, 3`, "schema", syntax.Quote(schema), "name", syntax.Literal(schema))
}

func (sqlite) constraintTriggers([]datamap.Table) string { return "" }
func (sqlite) accessProblem(string, []string) string     { return "SELECT NULL" }

// columnType returns bigint for all integer types, because every integer has 64 bits in SQLite. For an unknown type
// name, it derives the column type from the type affinity.
func (sqlite) columnType(declared string) (t datamap.ColumnType, length int) {
	t, length = sqltype.Parse(declared)
	switch {
	case t == datamap.TypeSmallInt || t == datamap.TypeInteger:
		return datamap.TypeBigInt, 0
	case t != "":
		return t, length
	case strings.Contains(strings.ToUpper(declared), "INT"):
		return datamap.TypeBigInt, 0
	}
	switch syntax.AffinityOf(declared) { //nolint:exhaustive // the other affinities hold values of any type
	case syntax.AffinityText:
		return datamap.TypeText, length
	case syntax.AffinityReal:
		return datamap.TypeNumber, 0
	default:
		return "", 0
	}
}

func (sqlite) convertsKeys() bool { return true }

// catalog returns statements that read one database: main, temp or an attached database. The key that identifies a
// table in the results is the name of the table in lower case. With a scope, they read all tables, too, because package
// cascade follows the foreign keys and triggers of all. They then read no indexes, and only the key columns of a table
// that is not in the data map, unless a view of the data map may read the table.
func (sqlite) catalog(schema string, of *scope) statements {
	const plain = "m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'"
	master := syntax.Quote(schema) + ".sqlite_master"
	fill := func(statement string, replacements ...string) string {
		return syntax.Fill(statement, append(replacements, "schema", syntax.Literal(schema),
			"schema name", syntax.Quote(schema), "master", master, "plain", plain)...)
	}
	read := statements{
		Tables: fill(tablesOfSQLite), ForeignKeys: fill(foreignKeysOfSQLite),
		Columns: fill(columnsOfSQLite, "tables", master, "which", plain), Triggers: fill(triggersOfSQLite),
		Untyped: true, SerialWrites: true,
	}
	if of == nil {
		read.Indexes = fill(indexesOfSQLite)
		read.ColumnsOf = fill(columnsOfSQLite, "tables", "(SELECT $1 AS name)", "which", "TRUE")
		read.IgnoresForeignKeys = `SELECT 'yes' FROM pragma_foreign_keys WHERE foreign_keys = 0`
		read.Statistics, read.HasStatistics = fill(statisticsOfSQLite), fill(hasStatisticsOfSQLite)
		return read
	}
	names := make([]string, len(of.tables))
	for i, table := range of.tables {
		names[i] = syntax.Literal(syntax.Lower(table.Name[strings.Index(table.Name, ".")+1:]))
	}
	read.Columns = fill(columnsOfSQLite, "tables", master, "which", fill(`
		({plain} OR {mapped}) AND (c.pk > 0 OR {mapped}
			OR EXISTS (SELECT 1 FROM {master} AS m WHERE m.type = 'view' AND {mapped}))`,
		"mapped", "lower(m.name) IN ("+strings.Join(names, ", ")+")"))
	return read
}

// The statements read the table definitions with pragmas. A pragma can fail for a view or a virtual table, and the
// statement then fails for all tables. Most statements therefore skip views and virtual tables with the condition
// {plain}.
const (
	tablesOfSQLite = `
		SELECT lower(m.name), json_object('name', m.name, 'schema', {schema},
			'kind', CASE WHEN m.type = 'view' THEN 'view' WHEN {plain} THEN 'table' ELSE 'virtual_table' END,
			'rows', -1, 'folds_case', json('true'), 'text', m.sql,
			'temporary', json(iif({schema} = 'temp', 'true', 'false'))), 0
		FROM {master} AS m
		WHERE m.type IN ('table', 'view') AND lower(substr(m.name, 1, 7)) <> 'sqlite_'`

	columnsOfSQLite = `
		SELECT lower(m.name), json_object('name', c.name, 'declared', c.type, 'key', c.pk,
			'nullable', json(iif(c."notnull" OR c.pk > 0, 'false', 'true')),
			'default', json(iif(c.dflt_value IS NULL, 'false', 'true')), 'initial', c.dflt_value,
			'generated', json(iif(c.hidden > 1, 'true', 'false'))), c.cid
		FROM {tables} AS m JOIN pragma_table_xinfo(m.name, {schema}) AS c
		WHERE {which} AND c.hidden <> 1`

	// The statement wraps each subquery in json(), because some versions of SQLite lose the JSON subtype of a subquery's
	// result. An expression in an index has the cid -2 and no column name (NULL).
	indexesOfSQLite = `
		SELECT lower(m.name), json_object('name', i.name,
			'columns', json((SELECT json_group_array(x.name) FROM (
				SELECT name FROM pragma_index_xinfo(i.name, {schema}) WHERE "key" ORDER BY seqno) AS x)),
			'text', CASE WHEN EXISTS (SELECT 1 FROM pragma_index_xinfo(i.name, {schema}) WHERE cid = -2)
				THEN (SELECT s.sql FROM {master} AS s WHERE s.type = 'index' AND s.name = i.name) END,
			'partial', json(iif(i.partial, 'true', 'false')), 'where', CASE WHEN i.partial
				THEN (SELECT s.sql FROM {master} AS s WHERE s.type = 'index' AND s.name = i.name) END,
			'unique', json(iif(i."unique", 'true', 'false')),
			'primary', json(iif(i.origin = 'pk', 'true', 'false')), 'equality', json('true')),
			row_number() OVER (ORDER BY i.name)
		FROM {master} AS m JOIN pragma_index_list(m.name, {schema}) AS i
		WHERE {plain}`

	// The order of -id is the order of the foreign keys in CREATE TABLE, because SQLite numbers them in reverse. Column
	// "to" is NULL if a foreign key refers to the primary key without naming its columns.
	foreignKeysOfSQLite = `
		SELECT lower(m.name), json_object('references', f."table", 'on_delete', lower(replace(f.on_delete, ' ', '_')),
			'follows', json(iif(upper(f.on_update) = 'CASCADE', 'true', 'false')),
			'clears_on_update', json(iif(upper(f.on_update) = 'SET NULL', 'true', 'false')),
			'resets_on_update', json(iif(upper(f.on_update) = 'SET DEFAULT', 'true', 'false')),
			'columns', json((SELECT json_group_array(x."from") FROM (
				SELECT "from" FROM pragma_foreign_key_list(m.name, {schema}) WHERE id = f.id ORDER BY seq) AS x)),
			'referenced', json((SELECT json_group_array(x."to") FROM (
				SELECT "to" FROM pragma_foreign_key_list(m.name, {schema}) WHERE id = f.id ORDER BY seq) AS x))), -f.id
		FROM {master} AS m JOIN pragma_foreign_key_list(m.name, {schema}) AS f
		WHERE {plain} AND f.seq = 0`

	triggersOfSQLite = `
		SELECT lower(t.tbl_name), json_object('name', t.name, 'definition', t.sql), row_number() OVER (ORDER BY t.name)
		FROM (SELECT type, name, tbl_name, sql FROM {master} UNION SELECT type, name, tbl_name, sql FROM sqlite_temp_master)
			AS t
		WHERE t.type = 'trigger'`

	hasStatisticsOfSQLite = `SELECT name FROM {master} WHERE name = 'sqlite_stat1'`

	// The column "stat" of sqlite_stat1 is a list of numbers. CAST reads only the first of them, which is the number of
	// rows.
	statisticsOfSQLite = `
		SELECT lower(tbl), CAST(max(CAST(stat AS integer)) AS text) FROM {schema name}.sqlite_stat1 GROUP BY lower(tbl)`
)
