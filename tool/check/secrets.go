package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// checkSecrets reports columns that have the name of a secret and are contained in exports. If words.IsSecret
// recognises the name of an annotated column, the data map already requires that the annotation sets Export.
// checkSecrets recognises further names.
func (s *schema) checkSecrets() {
	for _, table := range s.Declared() {
		if len(s.ExportedColumns(table)) == 0 {
			continue
		}
		for _, name := range table.PrimaryKey {
			column, _ := table.Column(name)
			if match, ok := names.Find(table.Name, name, column.Type); ok && match.Secret && column.Personal == nil &&
				!column.NotPersonal && soundsCredential(match.Word) {
				s.report(secretKey, place{table: table.Name, column: name},
					"The column is named like a secret and is part of the primary key, which exports show for each row.",
					"Give the table a key that is not a secret.")
			}
		}
		for _, column := range table.Exported() {
			if column.Personal.Export != "" || slices.Contains(table.PrimaryKey, column.Name) {
				continue
			}
			match, ok := names.Find(table.Name, column.Name, column.Type)
			if ok && match.Secret && soundsCredential(match.Word) && !isPostalCode(table, match.Word) {
				s.report(secretExported, place{table: table.Name, column: column.Name},
					"The column is named like a secret ("+match.Word+"), and exports show its values.",
					"Set "+s.says("export:no", `"export": "no"`)+" if the person must not read the values, or "+
						s.says("export:yes", `"export": "yes"`)+" if the person may.")
			}
		}
	}
}

// isPostalCode reports whether the word pin means a postal code, as in India: another column holds a street.
func isPostalCode(table datamap.Table, word string) bool {
	return strings.HasPrefix(word, "pin") && slices.ContainsFunc(table.Columns, func(c datamap.Column) bool {
		return hasWord(c.Name, "street", "village", "district", "city", "town", "address")
	})
}
