package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
)

// checkSecrets reports columns that the dictionary knows as secrets, and that exports contain.
func (s *schema) checkSecrets() {
	for _, table := range s.Declared() {
		if len(s.ExportedColumns(table)) == 0 {
			continue
		}
		for _, name := range table.PrimaryKey {
			column, _ := table.Column(name)
			if column.Personal == nil && !column.NotPersonal && isSecret(column) {
				s.report(secretKey, place{table: table.Name, column: name},
					"The column is named like a secret and is part of the primary key, which exports show for each row.",
					"Give the table a key that is not a secret.")
			}
		}
		for _, column := range table.Exported() {
			if column.Personal.Export == "" && !slices.Contains(table.PrimaryKey, column.Name) && isSecret(column) {
				s.report(secretExported, place{table: table.Name, column: column.Name},
					"The column is named like a secret, and exports show its values.",
					"Set {export no} if the person must not read the values, or {export yes} if the person may.")
			}
		}
	}
}

func isSecret(column datamap.Column) bool {
	entry, known := dictionary.Column(column.Name, column.Type)
	return known && entry.Secret
}
