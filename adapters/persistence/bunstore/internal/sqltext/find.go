package sqltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/search"
)

// SearchedTable is a table in which Counts searches for values.
type SearchedTable struct {
	Name     string   // the name of the table in a data map
	FromItem string   // the table in the FROM clause, see Dialect.FromItem
	Foreign  []string // the same for the table or its partitions, if they are on another server
	Columns  []datamap.CatalogColumn
}

// OwnSearchedTables returns the tables of habeas with the columns whose values are not from habeas: the ids of
// subjects, the texts that an application passes for a consent or a restriction, the payloads of events, and the ids
// and corrections for external systems.
func (t Tables) OwnSearchedTables() []SearchedTable {
	own := func(name, fromItem string, columns ...string) SearchedTable {
		table := SearchedTable{Name: t.Prefix + name, FromItem: fromItem}
		for _, column := range columns {
			table.Columns = append(table.Columns, datamap.CatalogColumn{Name: column})
		}
		return table
	}
	return []SearchedTable{
		own("consent_records", t.Consents, "subject_id", "purpose", "policy_version"),
		own("restriction_records", t.Restrictions, "subject_id", "purpose", "reason"),
		own("audit_events", t.Events, "subject_ref", "payload"),
		own("outbox", t.Outbox, "subject_id", "ref", "corrections"),
		own("subject_erasures", t.Erasures, "subject_id"),
	}
}

// qualifiedName returns the quoted name of a table with its schema. The name does not depend on the search path.
func qualifiedName(table datamap.CatalogTable) string {
	return Quote(table.Schema) + "." + Quote(strings.TrimPrefix(table.Name, table.Schema+"."))
}

// counts returns the statement of Dialect.Counts. The result starts with the counts of all values in the first searched
// column, followed by the counts of all values in the second searched column, and so on. The subquery converts each
// cell to text only once. The fence at its end (OFFSET 0 or LIMIT -1) prevents the planner from moving the conversion
// into the conditions.
//
// A row is counted if one of the conditions is true. Each value has one parameter for each condition. In the conditions
// and in the result of textOf, {n} is the number of the column.
func counts(
	table SearchedTable, values int, fence string, conditions []string, textOf func(column datamap.CatalogColumn) string,
) string {
	var texts, all []string
	for i, column := range table.Columns {
		number := strconv.Itoa(i)
		texts = append(texts, fill(textOf(column), "n", number, "column", Quote(column.Name)))
		for j := range values {
			either := make([]string, len(conditions))
			for k, condition := range conditions {
				either[k] = fill(condition, "n", number, "pattern", placeholder(j*len(conditions)+k+1))
			}
			all = append(all, "count(*) FILTER (WHERE "+strings.Join(either, " OR ")+")")
		}
	}
	return fill("SELECT {counts} FROM (SELECT {texts} FROM {table} {fence}) AS t", "counts", strings.Join(all, ", "),
		"texts", strings.Join(texts, ", "), "table", table.FromItem, "fence", fence)
}

// FromItem uses ONLY to exclude the rows of inheriting tables, because a search reads each inheriting table separately.
func (postgres) FromItem(table datamap.CatalogTable) string {
	if table.Kind == datamap.KindTable {
		return "ONLY " + qualifiedName(table)
	}
	return qualifiedName(table)
}

// typesWithoutText holds the first words of the names of database types. Columns of these types hold no text, and data
// maps have no such types.
var typesWithoutText = []string{"interval", "time", "bit", "money", "oid"}

func (postgres) CanHoldText(column datamap.CatalogColumn) bool {
	declared := strings.TrimSuffix(column.Declared, "[]")
	switch t, _ := sqltype.Parse(declared); t { //nolint:exhaustive // the other types hold text
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt, datamap.TypeNumber, datamap.TypeBoolean,
		datamap.TypeTime, datamap.TypeUUID:
		return false
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(declared, "(", " "), " ")
	return column.Values == nil && !slices.Contains(typesWithoutText, first)
}

func (postgres) SearchPatterns(value string) []any { return []any{search.SearchPattern(value)} }

// FirstRow returns a statement that contacts the server of a foreign table.
func (postgres) FirstRow(fromItem string) string { return "SELECT 1 FROM " + fromItem + " LIMIT 1" }

// ForeignPartitions returns a statement that lists the quoted names of the foreign tables among the partitions.
func (postgres) ForeignPartitions(table datamap.CatalogTable) string {
	return fill(`
		SELECT format('%I.%I', n.nspname, c.relname)
		FROM pg_partition_tree(CAST({name} AS regclass)) AS p JOIN pg_catalog.pg_class AS c ON c.oid = p.relid
		JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.relkind = 'f' ORDER BY 1`, "name", literal(qualifiedName(table)))
}

// Counts returns a statement that compares texts with collation C, character by character. It reads binary data in the
// format escape, which keeps the characters of ASCII.
func (postgres) Counts(table SearchedTable, values int) string {
	conditions := []string{"t.text{n} ~ CAST({pattern} AS text)"}
	return counts(table, values, "OFFSET 0", conditions, func(column datamap.CatalogColumn) string {
		if t, _ := sqltype.Parse(column.Declared); t == datamap.TypeBytes {
			return `encode({column}, 'escape') COLLATE "C" AS text{n}`
		}
		return `CAST({column} AS text) COLLATE "C" AS text{n}`
	})
}

func (sqlite) FromItem(table datamap.CatalogTable) string { return qualifiedName(table) }

// CanHoldText returns true, because a column of any declared type can hold a text in SQLite.
func (sqlite) CanHoldText(datamap.CatalogColumn) bool { return true }

func (sqlite) FirstRow(string) string                        { return "" }
func (sqlite) ForeignPartitions(datamap.CatalogTable) string { return "" }

// SearchPatterns returns patterns for the operator GLOB: of the value itself, with quotes and backslashes as in JSON,
// with quotes that are doubled, in base64, in hexadecimal digits, and again in hexadecimal digits for the bytes of a
// cell. Patterns of encoded copies are NULL for a short value, see search.MinEncodedLength.
func (sqlite) SearchPatterns(value string) []any {
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(value)
	hexadecimal := "*" + search.HexForm(value).Pattern() + "*"
	patterns := []any{globPattern(value), globPattern(escaped), globPattern(strings.ReplaceAll(value, `"`, `""`))}
	for i := range 2 { // the second and third are mostly the same as the first
		if patterns[i+1] == patterns[0] {
			patterns[i+1] = nil
		}
	}
	for _, form := range search.Base64Forms(value) {
		patterns = append(patterns, "*"+form.Pattern()+"*")
	}
	patterns = append(patterns, hexadecimal, hexadecimal)
	if len(value) < search.MinEncodedLength {
		copy(patterns[3:], make([]any, 4))
	}
	return patterns
}

// globPattern returns a pattern for the operator GLOB that matches a text with the value. GLOB has no escape character,
// but a special character in brackets matches only itself.
func globPattern(value string) string {
	var pattern strings.Builder
	for _, r := range value {
		switch folded := search.Foldings(r); {
		case len(folded) > 1 || strings.ContainsRune("*?[", r):
			pattern.WriteString("[" + string(folded) + "]")
		default:
			pattern.WriteRune(r)
		}
	}
	return "*" + pattern.String() + "*"
}

// sqliteText is the expression for the text of a cell, and for the hexadecimal digits of its bytes. If the cell
// contains JSON with escapes, its decoded names and values come first, each with a record separator after it, and the
// cell itself comes last. The cell comes last because GLOB stops at a NUL character: a NUL character in the cell could
// otherwise hide the decoded texts. The digits are read only if the cell is binary or contains a NUL character.
const (
	sqliteText = `
		CASE typeof({column}) WHEN 'text' THEN
			CASE WHEN instr({column}, '\') > 0 AND json_valid({column}) THEN {decoded} || {column} ELSE {column} END
		WHEN 'blob' THEN
			CASE WHEN json_valid({column}, 8) THEN {decoded} ELSE '' END || CAST({column} AS text) END AS text{n},
		CASE WHEN typeof({column}) = 'blob' OR typeof({column}) = 'text' AND instr({column}, char(0)) > 0
			THEN hex(CAST({column} AS blob)) END AS bytes{n}`
	sqliteDecoded = `(SELECT group_concat(COALESCE(j.key, '') || char(30) || COALESCE(j.atom, '') || char(30), '')
		FROM json_tree({column}) AS j)`
)

// Counts returns a statement that decodes JSONB, and JSON with escapes. It reads other binary data as text.
func (s sqlite) Counts(table SearchedTable, values int) string {
	conditions := slices.Repeat([]string{"t.text{n} GLOB {pattern}"}, len(s.SearchPatterns(""))-1)
	conditions = append(conditions, "t.bytes{n} GLOB {pattern}")
	text := fill(sqliteText, "decoded", sqliteDecoded)
	return counts(table, values, "LIMIT -1", conditions, func(datamap.CatalogColumn) string { return text })
}
