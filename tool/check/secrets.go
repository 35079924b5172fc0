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
				s.report("secret-key", place{table: table.Name, column: name})
			}
		}
		for _, column := range table.Exported() {
			if column.Personal.Export == "" && !slices.Contains(table.PrimaryKey, column.Name) && isSecret(column) {
				s.report("secret-exported", place{table: table.Name, column: column.Name})
			}
		}
	}
}

func isSecret(column datamap.Column) bool {
	entry, known := dictionary.Column(column.Name, column.Type)
	return known && entry.Secret
}
