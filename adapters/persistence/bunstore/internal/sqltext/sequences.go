package sqltext

import (
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// sequences builds the SQL texts that read and raise sequences.
type sequences interface {
	// OwnSequences returns the statement that lists the sequences of the tables of habeas. The columns of the result are
	// the name of the sequence, its table and its column, and whether this role may read the sequence and raise it. It
	// returns "" if the database takes the next number from the rows themselves.
	OwnSequences(tables Tables) string

	// SequencePositions returns the statement that compares sequences with their columns. It returns a row for each
	// sequence, in any order: the place of the sequence in the list, the highest number that it has returned, and the
	// highest number in the column if that is higher, else NULL.
	SequencePositions(own []Sequence, tables Tables) string

	// RaiseSequence returns the statement that makes a sequence continue above $1.
	RaiseSequence(name string) string

	// LockSequences returns the statement that makes concurrent calls wait until the transaction ends.
	LockSequences() string

	// RaiseIntake returns the statement that makes the next intake number higher than $1, for a database without
	// OwnSequences. Otherwise, it returns "".
	RaiseIntake(tables Tables) string

	// KeySequences returns the statement that finds the sequences from which the database takes the next value of a
	// column. The columns of the result are the name of the sequence, and the statement that reads its next number. The
	// statement is NULL if this role must not read the sequence. KeySequences ignores columns whose type is no integer.
	KeySequences(table datamap.Table, column string) string
}

// Sequence is a sequence of a table of habeas.
type Sequence struct {
	Name          string // quoted, with the schema
	Table, Column string // quoted
}

func (postgres) OwnSequences(tables Tables) string {
	var parts []string
	for _, of := range [][2]string{
		{tables.Consents, "seq"},
		{tables.Restrictions, "seq"},
		{tables.Events, "seq"},
		{tables.Erasures, "intake"},
		{tables.Ancestors, "place"},
	} {
		parts = append(parts, "("+literal(of[0])+", "+literal(of[1])+")")
	}
	return fill(`
		SELECT s.name, s.tab, s.col, has_sequence_privilege(s.name, 'SELECT'), has_sequence_privilege(s.name, 'UPDATE')
		FROM (SELECT pg_get_serial_sequence(v.tab, v.col) AS name, v.tab, v.col FROM (VALUES {list}) AS v (tab, col)) AS s
		WHERE s.name IS NOT NULL`, "list", strings.Join(parts, ", "))
}

// SequencePositions reads the sequence itself, because pg_sequence_last_value does not return the number with which an
// unused sequence starts. The condition on the column lets the database read the rows above that number by an index.
func (postgres) SequencePositions(own []Sequence, tables Tables) string {
	parts := make([]string, len(own))
	for i, s := range own {
		committed := ""
		if s.Table == tables.Erasures {
			committed = " AND t.erasures > 0" // the condition of the index
		}
		parts[i] = fill(`
			SELECT {place}, s.reached, (SELECT max(t.{column}) FROM {table} AS t WHERE t.{column} > s.reached{committed})
			FROM (SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS reached FROM {name}) AS s`,
			"place", strconv.Itoa(i), "column", s.Column, "table", s.Table, "committed", committed, "name", s.Name)
	}
	return strings.Join(parts, " UNION ALL ")
}

func (postgres) RaiseSequence(name string) string {
	return "SELECT setval(" + literal(name) + ", CAST($1 AS bigint))"
}

func (postgres) LockSequences() string { return lockMigrations }

func (postgres) RaiseIntake(Tables) string { return "" }

// KeySequences finds the sequence that the column owns, and the sequences in its DEFAULT.
func (postgres) KeySequences(table datamap.Table, column string) string {
	return fill(`
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
		WHERE c.relkind = 'S' ORDER BY 1`, "table", literal(quoteTable(table.Name)), "column", literal(column))
}

// OwnSequences returns "", because SQLite never gives a number that a row of the ledgers or of the trail has. The next
// intake number is in the installation, see RaiseIntake.
func (sqlite) OwnSequences(Tables) string                  { return "" }
func (sqlite) SequencePositions([]Sequence, Tables) string { return "" }
func (sqlite) RaiseSequence(string) string                 { return "" }
func (sqlite) LockSequences() string                       { return "" }

func (sqlite) RaiseIntake(tables Tables) string {
	return tables.fill(`UPDATE {installation} SET intake_floor = $1 WHERE intake_floor < $1`)
}

// KeySequences returns a row if the column is the row id of its table. Without AUTOINCREMENT, SQLite gives the number
// after the highest row id of the table. With it, SQLite also keeps the highest row id in sqlite_sequence.
func (sqlite) KeySequences(table datamap.Table, column string) string {
	schema, name, qualified := strings.Cut(table.Name, ".")
	if !qualified {
		schema, name = "main", table.Name
	}
	highest := fill(`(SELECT max({column}) FROM {table})`, "column", Quote(column), "table", quoteTable(table.Name))
	counted := fill(`(SELECT max(seq) FROM {schema}.sqlite_sequence WHERE name = {name} COLLATE NOCASE)`,
		"schema", Quote(schema), "name", literal(name))
	return fill(`
		SELECT CASE WHEN m.sql LIKE '%AUTOINCREMENT%' THEN 'the row of ' || m.name || ' in sqlite_sequence'
				ELSE 'the row ids of ' || m.name || ', which has no AUTOINCREMENT' END,
			CASE WHEN m.sql LIKE '%AUTOINCREMENT%' THEN {both} ELSE {rows} END
		FROM {schema}.sqlite_master AS m JOIN pragma_table_xinfo(m.name, {text}) AS c
		WHERE m.type = 'table' AND m.name = {name} COLLATE NOCASE AND m.sql NOT LIKE '%WITHOUT%ROWID%'
			AND c.name = {column} COLLATE NOCASE AND c.pk = 1 AND c.type = 'INTEGER' COLLATE NOCASE
			AND (SELECT count(*) FROM pragma_table_xinfo(m.name, {text}) WHERE pk > 0) = 1`,
		"schema", Quote(schema), "text", literal(schema), "name", literal(name), "column", literal(column),
		"both", literal("SELECT max(COALESCE("+highest+", 0), COALESCE("+counted+", 0)) + 1"),
		"rows", literal("SELECT COALESCE("+highest+", 0) + 1"))
}
