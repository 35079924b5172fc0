package migrate

import "github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"

type sqlite struct{}

func (sqlite) folder() string { return "sqlite" }

// ownTables returns every privilege, because SQLite has none. It does not detect a file that is opened for reading
// only, because SQLite reports it only when a statement writes.
func (sqlite) ownTables(schema, name string) string {
	return syntax.Fill(`
		SELECT {name}, m.name, (SELECT json_group_array(c.name) FROM pragma_table_xinfo(m.name, {name}) AS c),
			'SELECT,INSERT,UPDATE,DELETE', (SELECT query_only FROM pragma_query_only)
		FROM {schema}.sqlite_master AS m
		WHERE m.type = 'table' AND m.name IN ({own})
		ORDER BY m.name`, "name", syntax.Literal(schema), "schema", syntax.Quote(schema), "own", syntax.OwnTables(name))
}

func (sqlite) ownObjects(schema, name string) string {
	return syntax.Fill(`
		SELECT m.name || '.' || c.name FROM {schema}.sqlite_master AS m JOIN pragma_table_xinfo(m.name, {name}) AS c
		WHERE m.type = 'table' AND m.name IN ({own})
		UNION ALL SELECT name FROM {schema}.sqlite_master WHERE type IN ('index', 'trigger') AND tbl_name IN ({own})`,
		"name", syntax.Literal(schema), "schema", syntax.Quote(schema), "own", syntax.OwnTables(name))
}

func (sqlite) otherSets(string, string) string { return "" }

func (sqlite) installations(string) string {
	return `SELECT name FROM main.sqlite_master WHERE type = 'table' AND name LIKE 'habeas\_%installation' ESCAPE '\'
		ORDER BY name`
}

// addChecksum creates the table again, so that its text in the catalog is that of a fresh database.
func (sqlite) addChecksum(prefix, create string) []string {
	table, before := prefix+"migrations", prefix+"migrations_before"
	return []string{
		"ALTER TABLE " + table + " RENAME TO " + before, create,
		"INSERT INTO " + table + " (name, applied_at) SELECT name, applied_at FROM " + before,
		"DROP TABLE " + before,
	}
}

// canMigrate returns true only for main, because the migrations create the tables in main.
func (sqlite) canMigrate(schema string) bool { return schema == "main" }

func (sqlite) beforeMigration() []string { return nil }

func (sqlite) lockMigrations() []string { return nil }

func (sqlite) prepareMigration(string) []string { return nil }

func (sqlite) erasedFunction(string, string) string { return "" }
