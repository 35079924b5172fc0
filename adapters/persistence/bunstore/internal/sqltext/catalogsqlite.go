package sqltext

// Catalog returns statements that read one database: main or an attached database. The key that identifies a table in
// the results is the name of the table in lower case.
func (sqlite) Catalog(schema string) Catalog {
	of := func(statement string) string {
		return fill(statement, "schema", literal(schema), "schema name", Quote(schema),
			"master", Quote(schema)+".sqlite_master", "plain",
			`m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'`)
	}
	return Catalog{
		Tables: of(tablesOfSQLite), Indexes: of(indexesOfSQLite), ForeignKeys: of(foreignKeysOfSQLite),
		Columns:   of(fill(columnsOfSQLite, "tables", "{master}", "which", "{plain}")),
		ColumnsOf: of(fill(columnsOfSQLite, "tables", "(SELECT $1 AS name)", "which", "TRUE")),
		Triggers:  of(triggersOfSQLite), Statistics: of(statisticsOfSQLite), HasStatistics: of(hasStatisticsOfSQLite),
		Untyped: true, SerialWrites: true,
	}
}

// The statements read the table definitions with pragmas. A pragma can fail for a view or a virtual table, and the
// statement then fails for all tables. Most statements therefore skip views and virtual tables with the condition
// {plain}.
const (
	tablesOfSQLite = `
		SELECT lower(m.name), json_object('name', m.name, 'schema', {schema},
			'kind', CASE WHEN m.type = 'view' THEN 'view' WHEN {plain} THEN 'table' ELSE 'virtual_table' END,
			'rows', -1, 'folds_case', json('true'), 'text', m.sql)
		FROM {master} AS m
		WHERE m.type IN ('table', 'view') AND lower(substr(m.name, 1, 7)) <> 'sqlite_'`

	columnsOfSQLite = `
		SELECT lower(m.name), json_object('name', c.name, 'declared', c.type, 'key', c.pk,
			'nullable', json(iif(c."notnull" OR c.pk > 0, 'false', 'true')),
			'default', json(iif(c.dflt_value IS NULL, 'false', 'true')),
			'generated', json(iif(c.hidden > 1, 'true', 'false')))
		FROM {tables} AS m JOIN pragma_table_xinfo(m.name, {schema}) AS c
		WHERE {which} AND c.hidden <> 1
		ORDER BY m.name, c.cid`

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
			'primary', json(iif(i.origin = 'pk', 'true', 'false')), 'equality', json('true'))
		FROM {master} AS m JOIN pragma_index_list(m.name, {schema}) AS i
		WHERE {plain}
		ORDER BY m.name, i.name`

	// The descending order of id is the order of the foreign keys in CREATE TABLE, because SQLite numbers them in reverse.
	// Column "to" is NULL if a foreign key refers to the primary key without naming its columns.
	foreignKeysOfSQLite = `
		SELECT lower(m.name), json_object('references', f."table", 'on_delete', lower(replace(f.on_delete, ' ', '_')),
			'follows', json(iif(upper(f.on_update) = 'CASCADE', 'true', 'false')),
			'columns', json((SELECT json_group_array(x."from") FROM (
				SELECT "from" FROM pragma_foreign_key_list(m.name, {schema}) WHERE id = f.id ORDER BY seq) AS x)),
			'referenced', json((SELECT json_group_array(x."to") FROM (
				SELECT "to" FROM pragma_foreign_key_list(m.name, {schema}) WHERE id = f.id ORDER BY seq) AS x)))
		FROM {master} AS m JOIN pragma_foreign_key_list(m.name, {schema}) AS f
		WHERE {plain} AND f.seq = 0
		ORDER BY m.name, f.id DESC`

	triggersOfSQLite = `
		SELECT lower(t.tbl_name), json_object('name', t.name, 'text', t.sql)
		FROM (SELECT type, name, tbl_name, sql FROM {master} UNION SELECT type, name, tbl_name, sql FROM sqlite_temp_master)
			AS t
		WHERE t.type = 'trigger'
		ORDER BY t.name`

	hasStatisticsOfSQLite = `SELECT name FROM {master} WHERE name = 'sqlite_stat1'`

	// The column "stat" of sqlite_stat1 is a list of numbers. CAST reads only the first of them, which is the number of
	// rows.
	statisticsOfSQLite = `
		SELECT lower(tbl), CAST(max(CAST(stat AS integer)) AS text) FROM {schema name}.sqlite_stat1 GROUP BY lower(tbl)`
)
