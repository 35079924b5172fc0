package migrate

import (
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/installation"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// dialect builds the SQL texts that find, create and update the tables of habeas.
type dialect interface {
	// folder returns the name of the folder with the migrations.
	folder() string

	// ownTables returns the statement that finds the tables of habeas for the data map with the given name in a schema.
	// If schema is "", the statement finds the tables of habeas in all schemas of the search path, in the order of that
	// path. The columns of the result are:
	//
	//   - the schema and the table
	//   - the names of the columns, as a JSON array
	//   - the privileges that the role has on the table or on one of its columns, separated by commas
	//   - whether the database can only be read
	ownTables(schema, name string) string

	// otherSets returns the statement that lists the schemas outside the given one that have tables of habeas for the
	// data map with the given name. It returns "" if the database has no schemas.
	otherSets(schema, name string) string

	// functions returns the statement that reads the state of each function that habeas calls (see ownFunction): its name,
	// and the other fields. It returns "" if the database has no such functions.
	functions(schema, name string) string

	// installations returns the statement that lists the tables called habeas_…installation in a schema, or in the
	// search path of the connection if schema is "".
	installations(schema string) string

	canMigrate(schema string) bool

	// beforeMigration returns the first statements of the transaction that applies migrations.
	beforeMigration() []string

	// lockMigrations returns the statements that follow beforeMigration if there are migrations to apply. They take a
	// lock, so that only one process applies migrations at a time.
	lockMigrations() []string

	// lockHolders returns the statement that lists the sessions which hold locks of habeas, each with its process id and
	// the name of its application. It returns "" if the database does not tell.
	lockHolders(schema, name string) string

	// prepareMigration returns the statements that follow lockMigrations, immediately before the migrations. They create
	// the schema if it does not exist, and make names without a schema refer to this schema.
	prepareMigration(schema string) []string
}

func dialectOf(d syntax.Dialect) dialect { return syntax.Choose[dialect](d, postgres{}, sqlite{}) }

type postgres struct{}

func (postgres) folder() string { return "postgres" }

// ownTables returns a statement that searches the given schema, or the search path of the connection if schema is "".
// In the search path, PostgreSQL skips schemas for which the role lacks the privilege USAGE.
func (postgres) ownTables(schema, name string) string {
	return syntax.Fill(`
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
		where = "n.nspname = " + syntax.Literal(schema)
	}
	return "c.relkind IN ('r', 'p') AND " + where + " AND c.relname IN (" + syntax.OwnTables(name) + ")"
}

func (postgres) otherSets(schema, name string) string {
	return syntax.Fill(`
		SELECT DISTINCT CAST(n.nspname AS text)
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND c.relname = {marks} AND n.nspname <> {schema} AND n.nspname NOT LIKE 'pg\_%'
		ORDER BY 1`, "schema", syntax.Literal(schema), "marks", syntax.Literal(datamap.ObjectPrefix(name)+"subject_erasures"))
}

func (postgres) installations(schema string) string {
	where := "pg_table_is_visible(c.oid)"
	if schema != "" {
		where = "n.nspname = " + syntax.Literal(schema)
	}
	return syntax.Fill(`
		SELECT CAST(c.relname AS text) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND c.relname LIKE 'habeas\_%installation' AND {where}
		ORDER BY 1`, "where", where)
}

func (postgres) canMigrate(string) bool { return true }

func (postgres) beforeMigration() []string {
	// At this isolation level, the transaction sees migrations that another process applies while this process waits for
	// the lock.
	return []string{
		"SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
		// Whatever waits for the migration would also wait for the sessions for which the migration waits.
		"SELECT set_config('lock_timeout', '10s', TRUE) WHERE current_setting('lock_timeout') = '0'",
	}
}

func (postgres) lockMigrations() []string { return []string{installation.Lock} }

func (postgres) lockHolders(schema, name string) string {
	return syntax.Fill(`
		SELECT DISTINCT l.pid, COALESCE(a.application_name, '')
		FROM pg_catalog.pg_locks AS l LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = l.pid
		WHERE l.granted AND l.pid <> pg_backend_pid()
			AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
			AND (l.locktype = 'advisory' AND l.objsubid = 1
				AND (CAST(l.classid AS bigint) << 32) + CAST(l.objid AS bigint) = {lock}
				OR l.relation IN (SELECT c.oid FROM pg_catalog.pg_class AS c
					JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE {own}))
		ORDER BY 1 LIMIT 5`, "lock", installation.LockKey, "own", ownClasses(schema, name))
}

func (postgres) prepareMigration(schema string) []string {
	return []string{
		"DO " + syntax.Literal(syntax.Fill(`
			BEGIN
				IF to_regnamespace({name}) IS NULL THEN CREATE SCHEMA {schema}; END IF;
			END`, "name", syntax.Literal(syntax.Quote(schema)), "schema", syntax.Quote(schema))),
		"SET LOCAL search_path TO " + syntax.Quote(schema),
	}
}

func (postgres) functions(schema, name string) string {
	prefix := datamap.ObjectPrefix(name)
	return syntax.Fill(`
		SELECT f.name, p.oid IS NOT NULL,
			COALESCE(f.name <> {is erased} OR strpos(p.prosrc, quote_ident(n.nspname) || {table}) > 0, FALSE),
			COALESCE(has_function_privilege(p.oid, 'EXECUTE'), FALSE)
		FROM (VALUES ({is erased}), ({key text})) AS f (name)
		LEFT JOIN pg_catalog.pg_namespace AS n ON n.nspname = {schema}
		LEFT JOIN pg_catalog.pg_proc AS p ON p.pronamespace = n.oid AND p.proname = f.name`,
		"table", syntax.Literal("."+prefix+"subject_erasures "), "schema", syntax.Literal(schema),
		"is erased", syntax.Literal(prefix+"is_erased"), "key text", syntax.Literal(prefix+"key_text"))
}

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

func (sqlite) otherSets(string, string) string { return "" }

func (sqlite) installations(string) string {
	return `SELECT name FROM main.sqlite_master WHERE type = 'table' AND name LIKE 'habeas\_%installation' ESCAPE '\'
		ORDER BY name`
}

// canMigrate returns true only for main, because the migrations create the tables in main.
func (sqlite) canMigrate(schema string) bool     { return schema == "main" }
func (sqlite) beforeMigration() []string         { return nil }
func (sqlite) lockMigrations() []string          { return nil }
func (sqlite) prepareMigration(string) []string  { return nil }
func (sqlite) lockHolders(string, string) string { return "" }
func (sqlite) functions(string, string) string   { return "" }
