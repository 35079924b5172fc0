package find

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain"
)

type postgres struct{}

// fromItem uses ONLY to exclude the rows of inheriting tables, because a search reads each inheriting table separately.
func (postgres) fromItem(table domain.CatalogTable) string {
	if table.Kind == domain.KindTable {
		return "ONLY " + syntax.QualifiedName(table)
	}
	return syntax.QualifiedName(table)
}

// typesWithoutText holds the first words of the names of database types. Columns of these types hold no text, and data
// maps have no such types.
var typesWithoutText = []string{"interval", "time", "bit", "money", "oid"}

func (postgres) canHoldText(column domain.CatalogColumn) bool {
	declared := strings.TrimSuffix(column.Declared, "[]")
	switch t, _ := sqltype.Parse(declared); t { //nolint:exhaustive // the other types hold text
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt, domain.TypeNumber, domain.TypeBoolean,
		domain.TypeTime, domain.TypeUUID:
		return false
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(declared, "(", " "), " ")
	return column.Values == nil && !slices.Contains(typesWithoutText, first)
}

func (postgres) searchPatterns(value string) []any { return []any{domain.SearchPattern(value)} }

// firstRow returns a statement that contacts the server of a foreign table.
func (postgres) firstRow(fromItem string) string { return "SELECT 1 FROM " + fromItem + " LIMIT 1" }

// foreignPartitions returns a statement that lists the quoted names of the foreign tables among the partitions.
func (postgres) foreignPartitions(table domain.CatalogTable) string {
	return syntax.Fill(`
		SELECT format('%I.%I', n.nspname, c.relname)
		FROM pg_partition_tree(CAST({name} AS regclass)) AS p JOIN pg_catalog.pg_class AS c ON c.oid = p.relid
		JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.relkind = 'f' ORDER BY 1`, "name", syntax.Literal(syntax.QualifiedName(table)))
}

// counts returns a statement that compares texts with collation C, character by character. It reads binary data in the
// format escape, which keeps the characters of ASCII.
func (postgres) counts(table searchedTable, values int) string {
	conditions := []string{"t.text{n} ~ CAST({pattern} AS text)"}
	return countsBy(table, values, "OFFSET 0", conditions, func(column domain.CatalogColumn) string {
		if t, _ := sqltype.Parse(column.Declared); t == domain.TypeBytes {
			return `encode({column}, 'escape') COLLATE "C" AS text{n}`
		}
		return `CAST({column} AS text) COLLATE "C" AS text{n}`
	})
}

type sqlite struct{}

func (sqlite) fromItem(table domain.CatalogTable) string { return syntax.QualifiedName(table) }

// canHoldText returns true, because a column of any declared type can hold a text in SQLite.
func (sqlite) canHoldText(domain.CatalogColumn) bool        { return true }
func (sqlite) firstRow(string) string                       { return "" }
func (sqlite) foreignPartitions(domain.CatalogTable) string { return "" }

// searchPatterns returns patterns for the operator GLOB: of the value itself, with quotes and backslashes as in JSON,
// with quotes that are doubled, in base64, in hexadecimal digits, and again in hexadecimal digits for the bytes of a
// cell. Patterns of encoded copies are NULL for a short value, see domain.MinEncodedLength.
func (sqlite) searchPatterns(value string) []any {
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(value)
	hexadecimal := "*" + domain.HexForm(value).Pattern() + "*"
	patterns := []any{globPattern(value), globPattern(escaped), globPattern(strings.ReplaceAll(value, `"`, `""`))}
	for i := range 2 { // the second and third are mostly the same as the first
		if patterns[i+1] == patterns[0] {
			patterns[i+1] = nil
		}
	}
	for _, form := range domain.Base64Forms(value) {
		patterns = append(patterns, "*"+form.Pattern()+"*")
	}
	patterns = append(patterns, hexadecimal, hexadecimal)
	if len(value) < domain.MinEncodedLength {
		copy(patterns[3:], make([]any, 4))
	}
	return patterns
}

// globPattern returns a pattern for the operator GLOB that matches a text with the value. GLOB has no escape character,
// but a special character in brackets matches only itself.
func globPattern(value string) string {
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

// counts returns a statement that decodes JSONB, and JSON with escapes. It reads other binary data as text.
func (s sqlite) counts(table searchedTable, values int) string {
	conditions := slices.Repeat([]string{"t.text{n} GLOB {pattern}"}, len(s.searchPatterns(""))-1)
	conditions = append(conditions, "t.bytes{n} GLOB {pattern}")
	text := syntax.Fill(sqliteText, "decoded", sqliteDecoded)
	return countsBy(table, values, "LIMIT -1", conditions, func(domain.CatalogColumn) string { return text })
}
