package cascade

import (
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

type sqlite struct{}

// reachText returns "", because the fingerprint of the schema covers the definitions of all tables.
func (sqlite) reachText(*rows.Writer, []domain.Step) string { return "" }

func (sqlite) watching([]string, []string, bool) string {
	return "'', (SELECT foreign_keys <> 0 FROM pragma_foreign_keys), FALSE, '{}'"
}

// reachedTables reads the primary key, and not the row id: SQLite gives the row id of a deleted row to the next row.
func (sqlite) reachedTables(schema string) string {
	return syntax.Fill(`
		SELECT json_object('name', m.name, 'virtual', json(iif(m.sql LIKE 'CREATE VIRTUAL%', 'true', 'false')),
			'view', CASE WHEN m.type = 'view' THEN m.sql END,
			'key', json(CASE WHEN m.sql NOT LIKE 'CREATE VIRTUAL%' THEN
				(SELECT json_group_array(c.name) FROM pragma_table_info(m.name, {schema}) AS c WHERE c.pk > 0) ELSE '[]' END))
		FROM {master} AS m WHERE m.type IN ('table', 'view')`,
		"schema", syntax.Literal(schema), "master", syntax.Quote(schema)+".sqlite_master")
}

func (sqlite) reachedKeys(schema string) string {
	return syntax.Fill(`
		SELECT json_object('child', m.name, 'number', f.id, 'parent', f."table", 'action', f.on_delete,
			'column', f."from", 'referenced', COALESCE(f."to",
				(SELECT c.name FROM pragma_table_info(f."table", {schema}) AS c WHERE c.pk = f.seq + 1)))
		FROM {master} AS m JOIN pragma_foreign_key_list(m.name, {schema}) AS f
		WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'
			AND f.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT')
		ORDER BY m.name, f.id, f.seq`, "schema", syntax.Literal(schema), "master", syntax.Quote(schema)+".sqlite_master")
}

func (sqlite) reachedTriggers(schema string) string {
	return syntax.Fill(`
		SELECT json_object('table', tbl_name, 'text', sql) FROM {master} WHERE type = 'trigger'
		UNION ALL SELECT json_object('table', tbl_name, 'text', sql) FROM sqlite_temp_master WHERE type = 'trigger'`,
		"master", syntax.Quote(schema)+".sqlite_master")
}

func (sqlite) deleted() string                                    { return "" }
func (sqlite) lockedWholly() string                               { return "" }
func (sqlite) beforeDeletion(string) (declare, fetch, end string) { return "", "", "" }
