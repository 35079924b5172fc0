package sqltext

import "github.com/habeas-data/habeas/domain/datamap"

// migrations builds the SQL texts that find, create and update the tables of habeas.
type migrations interface {
	// Migrations returns the name of the folder with the migrations.
	Migrations() string

	// OwnTables returns the statement that finds the tables of habeas for the data map with the given name in a schema.
	// If schema is "", the statement finds the tables of habeas in all schemas of the search path, in the order of that
	// path. The columns of the result are:
	//
	//   - the schema and the table
	//   - the names of the columns, as a JSON array
	//   - the privileges that the role has on the table or on one of its columns, separated by commas
	//   - whether the database can only be read
	OwnTables(schema, name string) string

	// OwnObjects returns the statement that lists the columns of the tables of habeas, in the form table.column, and the
	// names of their indexes and triggers.
	OwnObjects(schema, name string) string

	// OtherSets returns the statement that lists the schemas outside the given one that have tables of habeas for the
	// data map with the given name. It returns "" if the database has no schemas.
	OtherSets(schema, name string) string

	// ErasedFunction returns the statement that finds the function Tables.IsErased in the schema. The columns of the
	// result are whether the function reads the table of the same schema, and whether the role may call it. It returns ""
	// if the database has no such function.
	ErasedFunction(schema, name string) string

	// Installations returns the statement that lists the tables called habeas_…installation in a schema, or in the
	// search path of the connection if schema is "".
	Installations(schema string) string

	// AddChecksum returns the statements that add the column checksum to the table of migrations that an earlier version
	// created. The parameter create is the statement that creates the table of this version.
	AddChecksum(prefix, create string) []string

	CanMigrate(schema string) bool

	// BeforeMigration returns the first statements of the transaction that applies migrations.
	BeforeMigration() []string

	// LockMigrations returns the statements that follow BeforeMigration if there are migrations to apply. They take a
	// lock, so that only one process applies migrations at a time.
	LockMigrations() []string

	// PrepareMigration returns the statements that follow LockMigrations, immediately before the migrations. They create
	// the schema if it does not exist, and make names without a schema refer to this schema.
	PrepareMigration(schema string) []string
}

func (postgres) Migrations() string { return "postgres" }

// OwnTables returns a statement that searches the given schema, or the search path of the connection if schema is "".
// In the search path, PostgreSQL skips schemas for which the role lacks the privilege USAGE.
func (postgres) OwnTables(schema, name string) string {
	return fill(`
		SELECT CAST(n.nspname AS text), CAST(c.relname AS text), (
				SELECT CAST(COALESCE(json_agg(a.attname), '[]') AS text) FROM pg_catalog.pg_attribute a
				WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
			concat_ws(',', CASE WHEN has_any_column_privilege(c.oid, 'SELECT') THEN 'SELECT' END,
				CASE WHEN has_any_column_privilege(c.oid, 'INSERT') THEN 'INSERT' END,
				CASE WHEN has_any_column_privilege(c.oid, 'UPDATE') THEN 'UPDATE' END,
				CASE WHEN has_table_privilege(c.oid, 'DELETE') THEN 'DELETE' END),
			current_setting('transaction_read_only') = 'on' OR pg_is_in_recovery()
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE {own}
		ORDER BY array_position(current_schemas(false), n.nspname), c.relname`, "own", ownClasses(schema, name))
}

// ownClasses returns the condition that the class c in the namespace n is a table of habeas in a schema, or in the
// search path if schema is "".
func ownClasses(schema, name string) string {
	where := "n.nspname = ANY(current_schemas(false))"
	if schema != "" {
		where = "n.nspname = " + literal(schema)
	}
	return "c.relkind IN ('r', 'p') AND " + where + " AND c.relname IN (" + ownTables(name) + ")"
}

func (postgres) OwnObjects(schema, name string) string {
	return fill(`
		WITH own AS (
			SELECT c.oid, c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE {own})
		SELECT o.relname || '.' || a.attname FROM own o JOIN pg_catalog.pg_attribute a ON a.attrelid = o.oid
		WHERE a.attnum > 0 AND NOT a.attisdropped
		UNION ALL SELECT CAST(i.relname AS text) FROM own o JOIN pg_catalog.pg_index x ON x.indrelid = o.oid
			JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
		UNION ALL SELECT CAST(t.tgname AS text) FROM own o JOIN pg_catalog.pg_trigger t ON t.tgrelid = o.oid
		WHERE NOT t.tgisinternal`, "own", ownClasses(schema, name))
}

func (postgres) OtherSets(schema, name string) string {
	return fill(`
		SELECT DISTINCT CAST(n.nspname AS text)
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND c.relname = {marks} AND n.nspname <> {schema} AND n.nspname NOT LIKE 'pg\_%'
		ORDER BY 1`, "schema", literal(schema), "marks", literal(datamap.ObjectPrefix(name)+"subject_erasures"))
}

func (postgres) Installations(schema string) string {
	where := "pg_table_is_visible(c.oid)"
	if schema != "" {
		where = "n.nspname = " + literal(schema)
	}
	return fill(`
		SELECT CAST(c.relname AS text) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND c.relname LIKE 'habeas\_%installation' AND {where}
		ORDER BY 1`, "where", where)
}

func (postgres) AddChecksum(prefix, _ string) []string {
	return []string{"ALTER TABLE " + prefix + "migrations ADD COLUMN checksum TEXT"}
}

func (postgres) CanMigrate(string) bool { return true }

func (postgres) BeforeMigration() []string {
	// At this isolation level, the transaction sees migrations that another process applies while this process waits for
	// the lock.
	return []string{"SET TRANSACTION ISOLATION LEVEL READ COMMITTED"}
}

// lockMigrations takes an advisory lock. The lock ends with the transaction. The number of the lock is "habeas" in
// ASCII.
const lockMigrations = "SELECT pg_advisory_xact_lock(114767471927667)"

func (postgres) LockMigrations() []string { return []string{lockMigrations} }

func (postgres) PrepareMigration(schema string) []string {
	return []string{
		fill(`
			DO $habeas$ BEGIN
				IF to_regnamespace({name}) IS NULL THEN CREATE SCHEMA {schema}; END IF;
			END $habeas$`, "name", literal(Quote(schema)), "schema", Quote(schema)),
		"SET LOCAL search_path TO " + Quote(schema),
	}
}

func (sqlite) Migrations() string { return "sqlite" }

// OwnTables returns every privilege, because SQLite has none. It does not detect a file that is opened for reading
// only, because SQLite reports it only when a statement writes.
func (sqlite) OwnTables(schema, name string) string {
	return fill(`
		SELECT {name}, m.name, (SELECT json_group_array(c.name) FROM pragma_table_xinfo(m.name, {name}) AS c),
			'SELECT,INSERT,UPDATE,DELETE', (SELECT query_only FROM pragma_query_only)
		FROM {schema}.sqlite_master AS m
		WHERE m.type = 'table' AND m.name IN ({own})
		ORDER BY m.name`, "name", literal(schema), "schema", Quote(schema), "own", ownTables(name))
}

func (sqlite) OwnObjects(schema, name string) string {
	return fill(`
		SELECT m.name || '.' || c.name FROM {schema}.sqlite_master AS m JOIN pragma_table_xinfo(m.name, {name}) AS c
		WHERE m.type = 'table' AND m.name IN ({own})
		UNION ALL SELECT name FROM {schema}.sqlite_master WHERE type IN ('index', 'trigger') AND tbl_name IN ({own})`,
		"name", literal(schema), "schema", Quote(schema), "own", ownTables(name))
}

func (sqlite) OtherSets(string, string) string { return "" }

func (sqlite) Installations(string) string {
	return `SELECT name FROM main.sqlite_master WHERE type = 'table' AND name LIKE 'habeas\_%installation' ESCAPE '\'
		ORDER BY name`
}

// AddChecksum creates the table again, so that its text in the catalog is that of a fresh database.
func (sqlite) AddChecksum(prefix, create string) []string {
	table, before := prefix+"migrations", prefix+"migrations_before"
	return []string{
		"ALTER TABLE " + table + " RENAME TO " + before, create,
		"INSERT INTO " + table + " (name, applied_at) SELECT name, applied_at FROM " + before,
		"DROP TABLE " + before,
	}
}

// CanMigrate returns true only for main, because the migrations create the tables in main.
func (sqlite) CanMigrate(schema string) bool { return schema == "main" }

func (sqlite) BeforeMigration() []string { return nil }

func (sqlite) LockMigrations() []string { return nil } // the transaction already holds the write lock

func (sqlite) PrepareMigration(string) []string { return nil } // the tables are in main

func (postgres) ErasedFunction(schema, name string) string {
	prefix := datamap.ObjectPrefix(name)
	return fill(`
		SELECT strpos(p.prosrc, quote_ident(n.nspname) || {table}) > 0, has_function_privilege(p.oid, 'EXECUTE')
		FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
		WHERE n.nspname = {schema} AND p.proname = {function}`,
		"table", literal("."+prefix+"subject_erasures "), "schema", literal(schema), "function", literal(prefix+"is_erased"))
}

func (sqlite) ErasedFunction(string, string) string { return "" }
