package installation

import (
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

type sqlite struct{}

func (sqlite) recording(syntax.Tables) (announceMap, rivalMaps, ifFree string) { return "", "", "" }

func (sqlite) randomID() string { return "lower(hex(randomblob(16)))" }

// ownSequences returns "", because SQLite never gives a number that a row of the ledgers or of the trail has. The next
// intake number is in the installation, see raiseIntake.
func (sqlite) ownSequences(syntax.Tables) string { return "" }

func (sqlite) sequencePositions([]sequence, syntax.Tables) string { return "" }

func (sqlite) raiseSequence(string) string { return "" }

func (sqlite) lockSequences() string { return "" }

func (sqlite) raiseIntake(tables syntax.Tables) string {
	return tables.Fill(`UPDATE {installation} SET intake_floor = $1 WHERE intake_floor < $1`)
}

// keySequences returns a row if the column is the row id of its table. Without AUTOINCREMENT, SQLite gives the number
// after the highest row id of the table. With it, SQLite also keeps the highest row id in sqlite_sequence.
func (sqlite) keySequences(table domain.Table, column string) string {
	schema, name, qualified := strings.Cut(table.Name, ".")
	if !qualified {
		schema, name = "main", table.Name
	}
	highest := syntax.Fill(`(SELECT max({column}) FROM {table})`, "column", syntax.Quote(column), "table", syntax.QuoteTable(table.Name))
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
		"schema", syntax.Quote(schema), "text", syntax.Literal(schema), "name", syntax.Literal(name), "column", syntax.Literal(column),
		"both", syntax.Literal("SELECT max(COALESCE("+highest+", 0), COALESCE("+counted+", 0)) + 1"),
		"rows", syntax.Literal("SELECT COALESCE("+highest+", 0) + 1"))
}
