package sqltext

import "github.com/habeas-data/habeas/domain/datamap"

// Reach returns "", because the fingerprint of the catalog covers the definitions of all tables.
func (sqlite) Reach(*Writer, []datamap.Step) string { return "" }

func (sqlite) watching([]string, []string, bool) string {
	return "'', (SELECT foreign_keys <> 0 FROM pragma_foreign_keys), FALSE, '{}'"
}

// ReachedTables reads the primary key, and not the row id: SQLite gives the row id of a deleted row to the next row.
func (sqlite) ReachedTables(schema string) string {
	return fill(`
		SELECT json_object('name', m.name, 'virtual', json(iif(m.sql LIKE 'CREATE VIRTUAL%', 'true', 'false')),
			'view', CASE WHEN m.type = 'view' THEN m.sql END,
			'key', json(CASE WHEN m.sql NOT LIKE 'CREATE VIRTUAL%' THEN
				(SELECT json_group_array(c.name) FROM pragma_table_info(m.name, {schema}) AS c WHERE c.pk > 0) ELSE '[]' END))
		FROM {master} AS m WHERE m.type IN ('table', 'view')`,
		"schema", literal(schema), "master", Quote(schema)+".sqlite_master")
}

func (sqlite) ReachedKeys(schema string) string {
	return fill(`
		SELECT json_object('child', m.name, 'number', f.id, 'parent', f."table", 'action', f.on_delete,
			'column', f."from", 'referenced', COALESCE(f."to",
				(SELECT c.name FROM pragma_table_info(f."table", {schema}) AS c WHERE c.pk = f.seq + 1)))
		FROM {master} AS m JOIN pragma_foreign_key_list(m.name, {schema}) AS f
		WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'
			AND f.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT')
		ORDER BY m.name, f.id, f.seq`, "schema", literal(schema), "master", Quote(schema)+".sqlite_master")
}

func (sqlite) ReachedTriggers(schema string) string {
	return fill(`
		SELECT json_object('table', tbl_name, 'text', sql) FROM {master} WHERE type = 'trigger'
		UNION ALL SELECT json_object('table', tbl_name, 'text', sql) FROM sqlite_temp_master WHERE type = 'trigger'`,
		"master", Quote(schema)+".sqlite_master")
}

func (sqlite) Deleted() string      { return "" }
func (sqlite) LockedWholly() string { return "" }

func (sqlite) beforeDeletion(string) (declare, fetch, end string) { return "", "", "" }
