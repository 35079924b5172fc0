package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/internal/names"
)

// checkSecrets finds what exports show and seems to be a secret. The data map itself refuses annotated columns whose
// names say so until they say whether they are exported.
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
					"The column is named like a secret, and is in the primary key, by which exports name each row.",
					"Give the table a key that is not a secret.")
			}
		}
		for _, column := range table.Exported() {
			match, ok := names.Find(table.Name, column.Name, column.Type)
			if ok && match.Secret && soundsCredential(match.Word) && column.Personal.Export == "" && !slices.Contains(table.PrimaryKey, column.Name) {
				s.report(secretExported, place{table: table.Name, column: column.Name},
					"The column is named like a secret ("+match.Word+"), and exports show its values.",
					"Say export:no for what the person may not read, and export:yes for what they may.")
			}
		}
	}
}
