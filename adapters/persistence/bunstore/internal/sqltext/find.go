package sqltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain"
)

// Place is a table in which Counts searches for values.
type Place struct {
	Name    string // the name in the data map
	From    string // the name in the statement
	Columns []domain.CatalogColumn
}

// OwnPlaces returns the tables of habeas that may hold personal data. These are texts that people have written about
// the subject, and the references of external systems to the subject.
func (t Tables) OwnPlaces() []Place {
	column := func(name string, kind domain.ColumnType) domain.CatalogColumn {
		return domain.CatalogColumn{Name: name, Type: kind}
	}
	names := tablesIn("")
	return []Place{
		{names.Restrictions, t.Restrictions, []domain.CatalogColumn{column("reason", domain.TypeText)}},
		{names.Outbox, t.Outbox, []domain.CatalogColumn{
			column("ref", domain.TypeJSON), column("corrections", domain.TypeJSON),
		}},
	}
}

// inSchema returns the name of a table, qualified with its schema, so that it does not depend on the search path.
func inSchema(table domain.CatalogTable) string {
	return Quote(table.Schema) + "." + Quote(strings.TrimPrefix(table.Name, table.Schema+"."))
}

// counts returns a statement that counts rows. Its columns are the counts of each value in the first column, then the
// counts of each value in the second column, and so on. The subquery converts each cell to text once. The fence
// prevents the planner from moving the conversion into the conditions.
func counts(place Place, values int, fence, condition string, textOf func(column domain.CatalogColumn) string) string {
	var texts, all []string
	for i, column := range place.Columns {
		name := "text" + strconv.Itoa(i)
		texts = append(texts, textOf(column)+" AS "+name)
		for j := range values {
			all = append(all, "count(*) FILTER (WHERE "+fill(condition, "text", "t."+name, "value", parameter(j+1))+")")
		}
	}
	return fill("SELECT {counts} FROM (SELECT {texts} FROM {place} {fence}) AS t", "counts", strings.Join(all, ", "),
		"texts", strings.Join(texts, ", "), "place", place.From, "fence", fence)
}

// PlaceOf uses ONLY to exclude the rows of inheriting tables, because each inheriting table is a separate place.
func (postgres) PlaceOf(table domain.CatalogTable) string {
	if table.Kind == domain.KindTable {
		return "ONLY " + inSchema(table)
	}
	return inSchema(table)
}

// textless holds the first words of types that hold no text, in addition to the types of a data map.
var textless = []string{"interval", "time", "bit", "money", "oid"}

func (postgres) Searched(column domain.CatalogColumn) bool {
	declared := strings.TrimSuffix(column.Declared, "[]")
	switch t, _ := sqltype.Parse(declared); t { //nolint:exhaustive // the other types hold text
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt, domain.TypeNumber, domain.TypeBoolean,
		domain.TypeTime, domain.TypeUUID, domain.TypeBytes:
		return false
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(declared, "(", " "), " ")
	return column.Values == nil && !slices.Contains(textless, first)
}

func (postgres) HasJSONB() string                  { return "" }
func (postgres) SearchPattern(value string) string { return domain.SearchPattern(value) }

// Counts returns a statement that compares texts character by character, with collation C.
func (postgres) Counts(place Place, values int, _ bool) string {
	return counts(place, values, "OFFSET 0", "{text} ~ CAST({value} AS text)", func(column domain.CatalogColumn) string {
		return "CAST(" + Quote(column.Name) + ` AS text) COLLATE "C"`
	})
}

func (sqlite) PlaceOf(table domain.CatalogTable) string { return inSchema(table) }

// Searched returns true, because a column of any declared type can hold text in SQLite.
func (sqlite) Searched(domain.CatalogColumn) bool { return true }

// HasJSONB returns a statement that searches for a function that exists in SQLite 3.45 and later.
func (sqlite) HasJSONB() string { return "SELECT name FROM pragma_function_list WHERE name = 'jsonb'" }

// SearchPattern returns a pattern for GLOB. GLOB has no escape character, but a special character in brackets stands
// for itself.
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

// sqliteText is the expression for the text of a cell. If JSON has escapes, its decoded names and values come before
// the cell, separated by record separators. They come first because GLOB stops at a NUL character, which binary data
// may contain.
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

// Counts returns a statement that decodes JSONB, and JSON with escapes. The statement reads other binary data as text,
// unless the declared type of the column is binary.
func (sqlite) Counts(place Place, values int, hasJSONB bool) string {
	return counts(place, values, "LIMIT -1", "{text} GLOB {value}", func(column domain.CatalogColumn) string {
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
