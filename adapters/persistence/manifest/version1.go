package manifest

import (
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/words"
)

// fromVersion1 changes tables of a manifest in version 1, so that they have the same meaning in the current version.
// The strategy "delete" becomes "erase" if the row is not deleted. A column whose name suggests a secret gets the
// option "export", because version 1 exported it.
func fromVersion1(tables []datamap.Table) {
	for _, table := range tables {
		isDeleted := table.RowsDeleted()
		for i, column := range table.Columns {
			if column.Personal == nil {
				continue
			}
			annotation := *column.Personal
			if annotation.Strategy == domain.StrategyDelete && !isDeleted {
				annotation.Strategy = domain.StrategyErase
			}
			if annotation.Export == "" && words.IsSecret(column.Name) {
				annotation.Export = datamap.ExportYes
			}
			table.Columns[i].Personal = &annotation
		}
	}
}
