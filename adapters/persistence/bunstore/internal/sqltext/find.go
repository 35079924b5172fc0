package sqltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain"
)

// Place is a table in which values are sought.
type Place struct {
	Name    string // as the data map calls it
	From    string // as the statement does
	Columns []domain.CatalogColumn
}

// OwnPlaces are the tables of habeas that hold what people have written about the subject, or what external systems
// know it by.
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

// inSchema is a table by its schema, whatever the search path is.
func inSchema(table domain.CatalogTable) string {
	return Quote(table.Schema) + "." + Quote(strings.TrimPrefix(table.Name, table.Schema+"."))
}

// counts writes a statement that counts rows: first for the first column and each of the values, then for the next one.
// The subquery makes a text of each cell once; the fence keeps the database from moving it into the conditions.
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

// PlaceOf leaves the tables out that inherit from a table: they are places of their own.
func (postgres) PlaceOf(table domain.CatalogTable) string {
	if table.Kind == domain.KindTable {
		return "ONLY " + inSchema(table)
	}
	return inSchema(table)
}

// textless are the first words of the types that hold no text, besides those that a data map has.
var textless = []string{"interval", "time", "bit", "money", "oid"}

func (postgres) Searched(column domain.CatalogColumn) bool {
	declared := strings.TrimSuffix(column.Declared, "[]")
	switch t, _ := sqltype.Parse(declared); t { //nolint:exhaustive // the others hold text
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt, domain.TypeNumber, domain.TypeBoolean,
		domain.TypeTime, domain.TypeUUID, domain.TypeBytes:
		return false
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(declared, "(", " "), " ")
	return column.Values == nil && !slices.Contains(textless, first)
}

func (postgres) HasJSONB() string           { return "" }
func (postgres) Sought(value string) string { return domain.SoughtPattern(value) }

// Counts compares texts by their characters, whatever the collations are.
func (postgres) Counts(place Place, values int, _ bool) string {
	return counts(place, values, "OFFSET 0", "{text} ~ CAST({value} AS text)", func(column domain.CatalogColumn) string {
		return "CAST(" + Quote(column.Name) + ` AS text) COLLATE "C"`
	})
}

func (sqlite) PlaceOf(table domain.CatalogTable) string { return inSchema(table) }

// Searched knows that a column of any type may hold texts.
func (sqlite) Searched(domain.CatalogColumn) bool { return true }

// HasJSONB looks for the functions of SQLite 3.45.
func (sqlite) HasJSONB() string { return "SELECT name FROM pragma_function_list WHERE name = 'jsonb'" }

// Sought is a pattern for GLOB, which knows no escapes: a character in brackets stands for itself.
func (sqlite) Sought(value string) string {
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

// The text of a cell of SQLite. What JSON has escapes for is decoded in front of it, with the names and values apart:
// GLOB ends at NUL, which binary data may hold.
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

// Counts reads JSON that has escapes, and JSONB. Of other binary data it reads what stands in a column for texts.
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
