package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain/datamap"
)

type sqlite struct{}

// instantFormat has a fixed width, so that texts sort in the order of their instants.
const instantFormat = "2006-01-02T15:04:05.000000Z"

func (sqlite) Instant(t time.Time) any { return t.UTC().Format(instantFormat) }

func (sqlite) instantType() string { return "text" }

// forUpdate returns "", because SQLite has only one writing transaction at a time.
func (sqlite) forUpdate() string { return "" }

func (sqlite) CombinesChanges() bool      { return false }
func (sqlite) HasStandbys() bool          { return false }
func (sqlite) Notification(Tables) string { return "" }

func (sqlite) transaction() string { return "" }

func (sqlite) lockLedger(Tables, Kind, string) string { return "" } // there is one writer at a time
func (sqlite) CheckDeferred() string                  { return "" }

// BrokenForeignKeys returns a statement that searches the definitions of the tables for DEFERRED, because SQLite has no
// pragma that lists the deferred foreign keys.
func (sqlite) BrokenForeignKeys(schema string) string {
	return fill(`
		SELECT k."table", k.parent, k.fkid, count(*)
		FROM {schema}.sqlite_master AS m JOIN pragma_foreign_key_check(m.name, {name}) AS k
		WHERE m.type = 'table' AND (SELECT foreign_keys FROM pragma_foreign_keys) <> 0
			AND (m.sql LIKE '%DEFERRED%' OR (SELECT defer_foreign_keys FROM pragma_defer_foreign_keys) <> 0)
		GROUP BY 1, 2, 3`, "schema", Quote(schema), "name", literal(schema))
}

func (sqlite) ConstraintTriggers([]datamap.Table) string { return "" }
func (sqlite) writtenInTransaction() string              { return "TRUE" } // no other transaction can write
func (sqlite) AccessProblem(string, []string) string     { return "SELECT NULL" }

func (sqlite) equalsConstant(column, constant, _ string) string { return column + " = " + constant }

// changedTable uses no alias, because SQLite cannot execute UPDATE v AS t0 SET ... WHERE t0.id = $1 if v is a view.
func (sqlite) changedTable(table string) (target, name string) {
	return quoteTable(table), Quote(table[strings.LastIndex(table, ".")+1:])
}

// fingerprint returns an expression whose value changes with each change of the schema of the main database, and of the
// temporary objects, such as triggers. If a table belongs to an attached database, the value is always
// the empty text, because each attached database has a separate schema version.
func (sqlite) fingerprint(tables []datamap.Table, _ Tables) string {
	if slices.ContainsFunc(tables, func(t datamap.Table) bool { return strings.Contains(t.Name, ".") }) {
		return "''"
	}
	return "(SELECT schema_version FROM pragma_schema_version) || ' ' ||" +
		" (SELECT COALESCE(group_concat(type || ' ' || name || ' ' || sql), '') FROM sqlite_temp_master)"
}

// Schemas returns a statement that lists the databases in the order in which SQLite resolves the name of a table.
func (sqlite) Schemas(table string) (text string) {
	if schema, _, qualified := strings.Cut(table, "."); qualified {
		return "SELECT " + literal(schema)
	}
	return "SELECT name FROM pragma_database_list ORDER BY name <> 'temp', seq"
}

func (sqlite) Inspection(schema, table string) (text, parameter string) {
	_, name, qualified := strings.Cut(table, ".")
	if !qualified {
		name = table
	}
	master := Quote(schema) + ".sqlite_master"
	return `
		SELECT m.type = 'view' OR m.sql LIKE 'CREATE VIRTUAL%', FALSE, CASE m.type WHEN 'view' THEN m.sql END,
			(SELECT json_group_object(c.name, c.type)
				FROM pragma_table_xinfo(m.name, ` + literal(schema) + `) AS c WHERE c.hidden = 0),
			(SELECT json_group_array(c.name)
				FROM pragma_table_xinfo(m.name, ` + literal(schema) + `) AS c WHERE c."notnull" AND c.hidden = 0),
			NULL,
			(SELECT json_group_array(json_array(t.name, 'sql', t.sql)) FROM (
				SELECT name, sql FROM ` + master + ` WHERE type = 'trigger' AND tbl_name = m.name COLLATE NOCASE
				UNION ALL SELECT name, sql FROM sqlite_temp_master
				WHERE type = 'trigger' AND tbl_name = m.name COLLATE NOCASE) AS t),
			EXISTS (SELECT 1 FROM ` + master + ` AS c JOIN pragma_foreign_key_list(c.name, ` + literal(schema) + `) AS f
				WHERE c.type = 'table' AND c.sql NOT LIKE 'CREATE VIRTUAL%' AND f."table" = m.name COLLATE NOCASE
				AND f.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT')),
			EXISTS (SELECT 1 FROM pragma_table_xinfo(m.name, ` + literal(schema) + `) AS c WHERE c.hidden > 1),
			` + strings.ToUpper(strconv.FormatBool(schema == "temp")) + `, NULL, NULL
		FROM ` + master + ` AS m WHERE m.type IN ('table', 'view') AND m.name = $1 COLLATE NOCASE`, name
}

// ColumnsOf returns all columns, because each value of SQLite has a type of its own; see heldText.
func (sqlite) ColumnsOf(table string) (text, parameter string) {
	schema, name, qualified := strings.Cut(table, ".")
	if !qualified {
		return `SELECT c.name FROM pragma_table_xinfo($1) AS c WHERE c.hidden <> 1 ORDER BY c.cid`, table
	}
	return `SELECT c.name FROM pragma_table_xinfo($1, ` + literal(schema) +
		`) AS c WHERE c.hidden <> 1 ORDER BY c.cid`, name
}

func (sqlite) heldText(column string) string {
	return "CASE WHEN typeof(" + column + ") IN ('text', 'blob') THEN " + asText(column) + " END"
}

func (sqlite) byteLength(text string) string { return "length(CAST(" + text + " AS blob))" }

func (sqlite) contains(text, parameter string) string {
	return "instr(" + text + ", CAST(" + parameter + " AS text)) > 0"
}

func (sqlite) TemporaryTables(Tables) string {
	return "SELECT lower(name) FROM sqlite_temp_master WHERE type IN ('table', 'view')"
}

func (sqlite) StoredName(name string) string { return name }

// bytewise is also necessary for a CAST, because a CAST keeps the collation of the column.
func (sqlite) bytewise(text string) string { return text + " COLLATE BINARY" }

func (s sqlite) equalsExactly(text, parameter string) string {
	return s.bytewise(text) + " = " + parameter
}

func (sqlite) Quotes() map[byte]byte { return map[byte]byte{'"': '"', '`': '`', '[': ']'} }

func (sqlite) textFromHex(digits string) string { return "CAST(x'" + digits + "' AS text)" }

func (sqlite) SameName(a, b string) bool { return strings.EqualFold(a, b) }

// isNotAfter adds one day to an instant whose offset SQLite cannot parse, so that a retention duty never ends too
// early.
func (sqlite) isNotAfter(column, parameter, _ string) string {
	return fill(`
		{column} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
		AND COALESCE(julianday({column}), julianday(substr({column}, 1, 19)) + 1) <= julianday({parameter})`,
		"column", column, "parameter", parameter)
}

func (sqlite) randomDigits() string { return "lower(hex(randomblob(16)))" }

func (s sqlite) surrogate(column datamap.Column) string {
	switch column.Type { //nolint:exhaustive // commonSurrogate handles the other types
	case datamap.TypeText:
		return anonymousText(s.randomDigits(), column)
	case datamap.TypeUUID: // version 4 of RFC 9562
		return "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || " +
			"'-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"
	case datamap.TypeBytes:
		return "x''"
	case datamap.TypeArray: // bun stores an array as JSON in SQLite
		return "'[]'"
	default:
		return commonSurrogate(column.Type)
	}
}

// exportedValue returns the column with a unary plus. The plus keeps the value and removes the declared type. Without
// the plus, drivers convert values of the result column by that type. JSONB, which is a blob, becomes a JSON text.
func (sqlite) exportedValue(column datamap.Column) string {
	value := "+t0." + Quote(column.Name)
	if column.Type == datamap.TypeJSON || column.Type == datamap.TypeArray {
		return fill("CASE WHEN typeof({value}) = 'blob' AND json_valid({value}, 8) THEN json({value}) ELSE {value} END",
			"value", value)
	}
	return value
}

func (sqlite) fromExported(_ datamap.ColumnType, value any) any { return value }
