package find

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

type sqlite struct{}

func (sqlite) fromItem(table domain.CatalogTable) string { return syntax.QualifiedName(table) }

// canHoldText returns true, because a column of any declared type can hold a text in SQLite.
func (sqlite) canHoldText(domain.CatalogColumn) bool { return true }

func (sqlite) firstRow(string) string { return "" }

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
