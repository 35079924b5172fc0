package sqltext

import (
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

type sqlite struct{ syntax.BaseSQLite }

func (sqlite) transaction() string { return "" }

func (sqlite) writtenInTransaction() string { return "TRUE" } // no other transaction can write

func (sqlite) equalsConstant(column, constant, _ string) string { return column + " = " + constant }

// changedTable uses no alias, because SQLite cannot execute UPDATE v AS t0 SET ... WHERE t0.id = $1 if v is a view.
func (sqlite) changedTable(table string) (target, name string) {
	return syntax.QuoteTable(table), syntax.Quote(table[strings.LastIndex(table, ".")+1:])
}

// ColumnsOf returns all columns, because each value of SQLite has a type of its own; see heldText.
func (sqlite) ColumnsOf(table string) (text, parameter string) {
	schema, name, qualified := strings.Cut(table, ".")
	if !qualified {
		return `SELECT c.name FROM pragma_table_xinfo($1) AS c WHERE c.hidden <> 1 ORDER BY c.cid`, table
	}
	return `SELECT c.name FROM pragma_table_xinfo($1, ` + syntax.Literal(schema) +
		`) AS c WHERE c.hidden <> 1 ORDER BY c.cid`, name
}

func (sqlite) heldText(column string) string {
	return "CASE WHEN typeof(" + column + ") IN ('text', 'blob') THEN " + asText(column) + " END"
}

func (sqlite) byteLength(text string) string { return "length(CAST(" + text + " AS blob))" }

func (sqlite) contains(text, parameter string) string {
	return "instr(" + text + ", CAST(" + parameter + " AS text)) > 0"
}

// bytewise is also necessary for a CAST, because a CAST keeps the collation of the column.
func (sqlite) bytewise(text string) string { return text + " COLLATE BINARY" }

func (s sqlite) equalsExactly(text, parameter string) string {
	return s.bytewise(text) + " = " + parameter
}

func (sqlite) textFromHex(digits string) string { return "CAST(x'" + digits + "' AS text)" }

// isNotAfter adds one day to an instant whose offset SQLite cannot parse, so that a retention duty never ends too
// early.
func (sqlite) isNotAfter(column, parameter, _ string) string {
	return syntax.Fill(`
		{column} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
		AND COALESCE(julianday({column}), julianday(substr({column}, 1, 19)) + 1) <= julianday({parameter})`,
		"column", column, "parameter", parameter)
}

func (sqlite) randomDigits() string { return "lower(hex(randomblob(16)))" }

func (s sqlite) surrogate(column domain.Column) string {
	switch column.Type { //nolint:exhaustive // commonSurrogate handles the other types
	case domain.TypeText:
		return anonymousText(s.randomDigits(), column)
	case domain.TypeUUID: // version 4 of RFC 9562
		return "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || " +
			"'-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"
	case domain.TypeBytes:
		return "x''"
	case domain.TypeArray: // bun stores an array as JSON in SQLite
		return "'[]'"
	default:
		return commonSurrogate(column.Type)
	}
}

// exportedValue returns the column with a unary plus. The plus keeps the value and removes the declared type. Without
// the plus, drivers convert values of the result column by that type. JSONB, which is a blob, becomes a JSON text.
func (sqlite) exportedValue(column domain.Column) string {
	value := "+t0." + syntax.Quote(column.Name)
	if column.Type == domain.TypeJSON || column.Type == domain.TypeArray {
		return syntax.Fill("CASE WHEN typeof({value}) = 'blob' AND json_valid({value}, 8) THEN json({value}) ELSE {value} END",
			"value", value)
	}
	return value
}

func (sqlite) fromExported(_ domain.ColumnType, value any) any { return value }
