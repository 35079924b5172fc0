package installation

import (
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// dialect has the differences between PostgreSQL and SQLite in the statements on the installation and on
// sequences.
type dialect interface {
	// recording returns the statements that keep sessions from recording two data maps at the same time. The first one
	// tells other sessions that this one will record the data map $1; it is "" if only one session writes. The second one
	// returns a row if an open session has announced another data map than $1. The third text is the end of recordMap.
	recording(tables syntax.Tables) (announce, rivals, ifFree string)

	// environment returns the expression for a text with the version of SQLite; or with the encoding of the connection,
	// that of the database, the number of the version of PostgreSQL, and standard_conforming_strings. A space separates
	// them.
	environment() string

	// randomID returns the expression for the random id of an installation.
	randomID() string

	// ownSequences returns the statement that lists the sequences of the tables of habeas. The columns of the result are
	// the name of the sequence, its table and its column, and whether this role may read the sequence and raise it. It
	// returns "" if the database takes the next number from the rows themselves.
	ownSequences(tables syntax.Tables) string

	// sequencePositions returns the statement that compares sequences with their columns. It returns a row for each
	// sequence, in any order: the place of the sequence in the list, the highest number that it has returned, and the
	// highest number in the column if that is higher, else NULL.
	sequencePositions(own []sequence, tables syntax.Tables) string

	// raiseSequence returns the statement that makes a sequence continue above $1.
	raiseSequence(name string) string

	// lockSequences returns the statement that makes concurrent calls wait until the transaction ends.
	lockSequences() string

	// raiseIntake returns the statement that makes the next intake number higher than $1, if ownSequences
	// returns "". Otherwise, it returns "".
	raiseIntake(tables syntax.Tables) string

	// keySequences returns the statement that finds the sequences from which the database takes the next value of a
	// column. The columns of the result are the name of the sequence, and the statement that reads its next number. The
	// statement is NULL if this role must not read the sequence. keySequences ignores columns whose type is no integer.
	keySequences(table datamap.Table, column string) string
}

func dialectOf(d syntax.Dialect) dialect { return syntax.Choose[dialect](d, postgres{}, sqlite{}) }

type postgres struct{}

// recording returns announce and rivals, and the clause that skips the row while another session records
// the data map. No session waits for another one that has not ended.
func (postgres) recording(tables syntax.Tables) (announceMap, rivalMaps, ifFree string) {
	table := syntax.Literal(tables.Installation)
	return tables.Fill(announce, "table", table),
		tables.Fill(rivals, "table", table, "marks", syntax.Literal(tables.Erasures)), " FOR UPDATE SKIP LOCKED"
}

// environment returns, after the settings, the operators of roles that this role does not trust, and that PostgreSQL
// could prefer to its own operators of the same names.
func (postgres) environment() string {
	return "concat_ws(' ', current_setting('client_encoding'), current_setting('server_encoding')," +
		" current_setting('server_version_num'), current_setting('standard_conforming_strings'), (" +
		syntax.FillWithStrangers(foreignOperators) + "))"
}

// foreignOperators reads the operators in the search path. Those of extensions are no danger: only an owner of the
// database may create one.
const foreignOperators = `
	SELECT string_agg(DISTINCT CAST(o.oprname AS text), ',') FROM pg_catalog.pg_operator AS o
	JOIN stranger ON stranger.oid {=} o.oprowner
	JOIN pg_catalog.pg_namespace AS n ON n.oid {=} o.oprnamespace AND n.nspname {=} ANY (current_schemas(FALSE))
	JOIN pg_catalog.pg_operator AS own ON own.oprname {=} o.oprname
	JOIN pg_catalog.pg_namespace AS s ON s.oid {=} own.oprnamespace AND s.nspname {=} 'pg_catalog'
	WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d
		WHERE d.classid {=} {oid of pg_operator} AND d.objid {=} o.oid AND d.deptype {=} 'e')`

func (postgres) randomID() string { return "CAST(gen_random_uuid() AS text)" }

func (postgres) ownSequences(tables syntax.Tables) string {
	list := syntax.Join([][2]string{
		{tables.Consents, "seq"},
		{tables.Restrictions, "seq"},
		{tables.Events, "seq"},
		{tables.Erasures, "intake"},
		{tables.Requests, "seq"},
		{tables.Holds, "seq"},
		{tables.Ancestors, "place"},
	}, ", ", func(of [2]string) string { return "(" + syntax.Literal(of[0]) + ", " + syntax.Literal(of[1]) + ")" })
	return syntax.Fill(`
		SELECT s.name, s.tab, s.col, has_sequence_privilege(s.name, 'SELECT'), has_sequence_privilege(s.name, 'UPDATE')
		FROM (SELECT pg_get_serial_sequence(v.tab, v.col) AS name, v.tab, v.col FROM (VALUES {list}) AS v (tab, col)) AS s
		WHERE s.name IS NOT NULL`, "list", list)
}

// sequencePositions reads the sequence itself, because pg_sequence_last_value does not return the number with which an
// unused sequence starts. The condition on the column lets the database read the rows above that number by an index.
func (postgres) sequencePositions(own []sequence, tables syntax.Tables) string {
	parts := make([]string, len(own))
	for i, s := range own {
		committed := ""
		if s.table == tables.Erasures {
			committed = " AND t.erasures > 0" // the condition of the index
		}
		parts[i] = syntax.Fill(`
			SELECT {place}, s.reached, (SELECT max(t.{column}) FROM {table} AS t WHERE t.{column} > s.reached{committed})
			FROM (SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS reached FROM {name}) AS s`,
			"place", strconv.Itoa(i), "column", s.column, "table", s.table, "committed", committed, "name", s.name)
	}
	return strings.Join(parts, " UNION ALL ")
}

func (postgres) raiseSequence(name string) string {
	return "SELECT setval(" + syntax.Literal(name) + ", CAST($1 AS bigint))"
}

// Lock takes an advisory lock. The lock ends with the transaction. The number of the lock is "habeas" in
// ASCII.
const Lock = "SELECT pg_advisory_xact_lock(" + LockKey + ")"

// LockKey is the number of the lock.
const LockKey = "114767471927667"

func (postgres) lockSequences() string            { return Lock }
func (postgres) raiseIntake(syntax.Tables) string { return "" }

// keySequences finds the sequence that the column owns, and the sequences in its DEFAULT.
func (postgres) keySequences(table datamap.Table, column string) string {
	return syntax.Fill(`
		WITH a AS (
			SELECT attrelid, attnum FROM pg_catalog.pg_attribute
			WHERE attrelid = to_regclass({table}) AND attname = {column}
				AND atttypid IN (CAST('int2' AS regtype), CAST('int4' AS regtype), CAST('int8' AS regtype))
		), s AS (
			SELECT CAST(pg_get_serial_sequence({table}, {column}) AS regclass) AS oid FROM a
			UNION SELECT CAST(d.refobjid AS regclass)
			FROM a JOIN pg_catalog.pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
				JOIN pg_catalog.pg_depend d ON d.classid = CAST('pg_catalog.pg_attrdef' AS regclass) AND d.objid = f.oid
					AND d.refclassid = CAST('pg_catalog.pg_class' AS regclass))
		SELECT format('%I.%I', n.nspname, c.relname), CASE
			WHEN has_sequence_privilege(c.oid, 'SELECT') THEN
				format('SELECT CASE WHEN is_called THEN last_value + %s ELSE last_value END FROM %I.%I', q.seqincrement,
					n.nspname, c.relname)
			WHEN has_sequence_privilege(c.oid, 'USAGE') THEN
				format('SELECT COALESCE(pg_sequence_last_value(%s) + %s, %s)', c.oid, q.seqincrement, q.seqstart) END
		FROM s JOIN pg_catalog.pg_class c ON c.oid = s.oid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			JOIN pg_catalog.pg_sequence q ON q.seqrelid = c.oid
		WHERE c.relkind = 'S' ORDER BY 1`, "table", syntax.Literal(syntax.QuoteTable(table.Name)),
		"column", syntax.Literal(column))
}

type sqlite struct{}

func (sqlite) recording(syntax.Tables) (announceMap, rivalMaps, ifFree string) { return "", "", "" }
func (sqlite) environment() string                                             { return "sqlite_version()" }
func (sqlite) randomID() string                                                { return "lower(hex(randomblob(16)))" }

// ownSequences returns "", because SQLite never gives a number that a row of the ledgers or of the trail has. The next
// intake number is in the installation, see raiseIntake.
func (sqlite) ownSequences(syntax.Tables) string                  { return "" }
func (sqlite) sequencePositions([]sequence, syntax.Tables) string { return "" }
func (sqlite) raiseSequence(string) string                        { return "" }
func (sqlite) lockSequences() string                              { return "" }

func (sqlite) raiseIntake(tables syntax.Tables) string {
	return tables.Fill(`UPDATE {installation} SET intake_floor = $1 WHERE intake_floor < $1`)
}

// keySequences returns a row if the column is the row id of its table. Without AUTOINCREMENT, SQLite gives the number
// after the highest row id of the table. With it, SQLite also keeps the highest row id in sqlite_sequence.
func (sqlite) keySequences(table datamap.Table, column string) string {
	schema, name, qualified := strings.Cut(table.Name, ".")
	if !qualified {
		schema, name = "main", table.Name
	}
	highest := syntax.Fill(`(SELECT max({column}) FROM {table})`,
		"column", syntax.Quote(column), "table", syntax.QuoteTable(table.Name))
	counted := syntax.Fill(`(SELECT max(seq) FROM {schema}.sqlite_sequence WHERE name = {name} COLLATE NOCASE)`,
		"schema", syntax.Quote(schema), "name", syntax.Literal(name))
	return syntax.Fill(`
		SELECT CASE WHEN m.sql LIKE '%AUTOINCREMENT%' THEN 'the row of ' || m.name || ' in sqlite_sequence'
				ELSE 'the row ids of ' || m.name || ', which has no AUTOINCREMENT' END,
			CASE WHEN m.sql LIKE '%AUTOINCREMENT%' THEN {both} ELSE {rows} END
		FROM {schema}.sqlite_master AS m JOIN pragma_table_xinfo(m.name, {text}) AS c
		WHERE m.type = 'table' AND m.name = {name} COLLATE NOCASE AND m.sql NOT LIKE '%WITHOUT%ROWID%'
			AND c.name = {column} COLLATE NOCASE AND c.pk = 1 AND c.type = 'INTEGER' COLLATE NOCASE
			AND (SELECT count(*) FROM pragma_table_xinfo(m.name, {text}) WHERE pk > 0) = 1`,
		"schema", syntax.Quote(schema), "text", syntax.Literal(schema), "name", syntax.Literal(name),
		"column", syntax.Literal(column),
		"both", syntax.Literal("SELECT max(COALESCE("+highest+", 0), COALESCE("+counted+", 0)) + 1"),
		"rows", syntax.Literal("SELECT COALESCE("+highest+", 0) + 1"))
}

// sequence is a sequence of a table of habeas.
type sequence struct {
	name          string // quoted, with the schema
	table, column string // quoted
}

const (
	// announce takes a shared advisory lock, so that it never waits. rivals finds the locks of other data maps.
	announce = `SELECT pg_advisory_xact_lock_shared(` + syntax.OidClass + `, hashtext($1))`

	rivals = `
		SELECT 1 FROM pg_catalog.pg_locks AS l
		WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND CAST(l.classid AS bigint) = ` + syntax.OidClass + `
			AND CAST(l.objid AS bigint) <> CAST(hashtext($1) AS bigint) & 4294967295
			AND ` + syntax.HolderWrites
)
