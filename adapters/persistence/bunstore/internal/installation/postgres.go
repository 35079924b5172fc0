package installation

import (
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

type postgres struct{}

// recording returns the statements Announce and Rivals, and the clause that skips the row while another session records
// the data map. No session waits for another one that has not ended.
func (postgres) recording(tables syntax.Tables) (announceMap, rivalMaps, ifFree string) {
	table := syntax.Literal(tables.Installation)
	return tables.Fill(announce, "table", table), tables.Fill(rivals, "table", table), " FOR UPDATE SKIP LOCKED"
}

func (postgres) randomID() string { return "CAST(gen_random_uuid() AS text)" }

func (postgres) ownSequences(tables syntax.Tables) string {
	var parts []string
	for _, of := range [][2]string{
		{tables.Consents, "seq"},
		{tables.Restrictions, "seq"},
		{tables.Events, "seq"},
		{tables.Erasures, "intake"},
		{tables.Ancestors, "place"},
	} {
		parts = append(parts, "("+syntax.Literal(of[0])+", "+syntax.Literal(of[1])+")")
	}
	return syntax.Fill(`
		SELECT s.name, s.tab, s.col, has_sequence_privilege(s.name, 'SELECT'), has_sequence_privilege(s.name, 'UPDATE')
		FROM (SELECT pg_get_serial_sequence(v.tab, v.col) AS name, v.tab, v.col FROM (VALUES {list}) AS v (tab, col)) AS s
		WHERE s.name IS NOT NULL`, "list", strings.Join(parts, ", "))
}

// sequencePositions reads the sequence itself, because pg_sequence_last_value does not return the number with which an
// unused sequence starts. The condition on the column lets the database read the rows above that number by an index.
func (postgres) sequencePositions(own []sequence, tables syntax.Tables) string {
	parts := make([]string, len(own))
	for i, s := range own {
		committed := ""
		if s.Table == tables.Erasures {
			committed = " AND t.erasures > 0" // the condition of the index
		}
		parts[i] = syntax.Fill(`
			SELECT {place}, s.reached, (SELECT max(t.{column}) FROM {table} AS t WHERE t.{column} > s.reached{committed})
			FROM (SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS reached FROM {name}) AS s`,
			"place", strconv.Itoa(i), "column", s.Column, "table", s.Table, "committed", committed, "name", s.Name)
	}
	return strings.Join(parts, " UNION ALL ")
}

func (postgres) raiseSequence(name string) string {
	return "SELECT setval(" + syntax.Literal(name) + ", CAST($1 AS bigint))"
}

// LockMigrations takes an advisory lock. The lock ends with the transaction. The number of the lock is "habeas" in
// ASCII.
const Lock = "SELECT pg_advisory_xact_lock(114767471927667)"

func (postgres) lockSequences() string { return Lock }

func (postgres) raiseIntake(syntax.Tables) string { return "" }

// keySequences finds the sequence that the column owns, and the sequences in its DEFAULT.
func (postgres) keySequences(table domain.Table, column string) string {
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
		WHERE c.relkind = 'S' ORDER BY 1`, "table", syntax.Literal(syntax.QuoteTable(table.Name)), "column", syntax.Literal(column))
}
