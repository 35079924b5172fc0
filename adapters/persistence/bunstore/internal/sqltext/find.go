package sqltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain"
)

// SearchedTable is a table in which Counts searches for values.
type SearchedTable struct {
	Name     string // the name of the table in a data map
	FromItem string // the table in the FROM clause, see Dialect.FromItem
	Columns  []domain.CatalogColumn
}

// OwnSearchedTables returns the tables of habeas whose columns may contain personal data: the reasons of restrictions,
// the ids of the subject in external systems, and corrections.
func (t Tables) OwnSearchedTables() []SearchedTable {
	column := func(name string, kind domain.ColumnType) domain.CatalogColumn {
		return domain.CatalogColumn{Name: name, Type: kind}
	}
	return []SearchedTable{
		{t.Prefix + "restriction_records", t.Restrictions, []domain.CatalogColumn{column("reason", domain.TypeText)}},
		{t.Prefix + "outbox", t.Outbox, []domain.CatalogColumn{
			column("ref", domain.TypeJSON), column("corrections", domain.TypeJSON),
		}},
	}
}

// qualifiedName returns the quoted name of a table with its schema. The name does not depend on the search path.
func qualifiedName(table domain.CatalogTable) string {
	return Quote(table.Schema) + "." + Quote(strings.TrimPrefix(table.Name, table.Schema+"."))
}

// counts returns the statement of Dialect.Counts. The result starts with the counts of all values in the first searched
// column, followed by the counts of all values in the second searched column, and so on. The subquery converts each
// cell to text only once. The fence at its end (OFFSET 0 or LIMIT -1) prevents the planner from moving the conversion
// into the conditions.
func counts(
	table SearchedTable, values int, fence, condition string, textOf func(column domain.CatalogColumn) string,
) string {
	var texts, all []string
	for i, column := range table.Columns {
		name := "text" + strconv.Itoa(i)
		texts = append(texts, textOf(column)+" AS "+name)
		for j := range values {
			all = append(all, "count(*) FILTER (WHERE "+fill(condition, "text", "t."+name, "value", placeholder(j+1))+")")
		}
	}
	return fill("SELECT {counts} FROM (SELECT {texts} FROM {table} {fence}) AS t", "counts", strings.Join(all, ", "),
		"texts", strings.Join(texts, ", "), "table", table.FromItem, "fence", fence)
}

// FromItem uses ONLY to exclude the rows of inheriting tables, because a search reads each inheriting table separately.
func (postgres) FromItem(table domain.CatalogTable) string {
	if table.Kind == domain.KindTable {
		return "ONLY " + qualifiedName(table)
	}
	return qualifiedName(table)
}

// typesWithoutText holds the first words of the names of database types. Columns of these types hold no text, and data
// maps have no such types.
var typesWithoutText = []string{"interval", "time", "bit", "money", "oid"}

func (postgres) CanHoldText(column domain.CatalogColumn) bool {
	declared := strings.TrimSuffix(column.Declared, "[]")
	switch t, _ := sqltype.Parse(declared); t { //nolint:exhaustive // the other types hold text
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt, domain.TypeNumber, domain.TypeBoolean,
		domain.TypeTime, domain.TypeUUID, domain.TypeBytes:
		return false
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(declared, "(", " "), " ")
	return column.Values == nil && !slices.Contains(typesWithoutText, first)
}

func (postgres) HasJSONB() string                  { return "" }
func (postgres) SearchPattern(value string) string { return domain.SearchPattern(value) }

// Counts returns a statement that compares texts with collation C, character by character.
func (postgres) Counts(table SearchedTable, values int, _ bool) string {
	return counts(table, values, "OFFSET 0", "{text} ~ CAST({value} AS text)", func(column domain.CatalogColumn) string {
		return "CAST(" + Quote(column.Name) + ` AS text) COLLATE "C"`
	})
}

func (sqlite) FromItem(table domain.CatalogTable) string { return qualifiedName(table) }

// CanHoldText returns true, because a column of any declared type can hold a text in SQLite.
func (sqlite) CanHoldText(domain.CatalogColumn) bool { return true }

// HasJSONB returns a statement that searches for the function jsonb, which exists in SQLite 3.45 and later.
func (sqlite) HasJSONB() string { return "SELECT name FROM pragma_function_list WHERE name = 'jsonb'" }

// SearchPattern returns a pattern for the operator GLOB. GLOB has no escape character, but a special character in
// brackets matches only itself.
func (sqlite) SearchPattern(value string) string {
	var pattern strings.Builder
	for _, r := range value {
		switch folded := domain.Foldings(r); {
		case len(folded) > 1 || strings.ContainsRune("*?[", r):
			pattern.WriteString("[" + string(folded) + "]")
		default:
			pattern.WriteRune(r)
		}
	}
	return "*" + pattern.String() + "*"
}

// sqliteText is the expression for the text of a cell. If the cell contains JSON with escapes, its decoded names and
// values come first, each with a record separator after it, and the cell itself comes last. The cell comes last because
// GLOB stops at a NUL character: a NUL character in the cell could otherwise hide the decoded texts.
const (
	sqliteText = `
		CASE typeof({column}) WHEN 'text' THEN
			CASE WHEN instr({column}, '\') > 0 AND json_valid({column}) THEN {decoded} || {column} ELSE {column} END
		{blob} END`
	sqliteBlob    = `WHEN 'blob' THEN {jsonb} CAST({column} AS text)`
	sqliteJSONB   = `CASE WHEN json_valid({column}, 8) THEN {decoded} ELSE '' END ||`
	sqliteDecoded = `(SELECT group_concat(COALESCE(j.key, '') || char(30) || COALESCE(j.atom, '') || char(30), '')
		FROM json_tree({column}) AS j)`
)

// Counts returns a statement that decodes JSONB, and JSON with escapes. It reads other binary data as text if the
// declared type of the column is not binary.
func (sqlite) Counts(table SearchedTable, values int, hasJSONB bool) string {
	return counts(table, values, "LIMIT -1", "{text} GLOB {value}", func(column domain.CatalogColumn) string {
		blob, jsonb := sqliteBlob, sqliteJSONB
		if column.Type == domain.TypeBytes {
			blob = ""
		}
		if !hasJSONB {
			jsonb = ""
		}
		text := fill(fill(sqliteText, "blob", blob), "jsonb", jsonb)
		return fill(fill(text, "decoded", sqliteDecoded), "column", Quote(column.Name))
	})
}
