package manifest

import "github.com/habeas-data/habeas/domain"

// fromVersion1 gives the words of a manifest of version 1 the meaning that they have there: delete on a row that stays
// erases the cell, a column that is named like a secret is exported like any other.
func fromVersion1(tables []domain.Table) {
	for _, table := range tables {
		goes := table.RowsGo()
		for i, column := range table.Columns {
			if column.Personal == nil {
				continue
			}
			annotation := *column.Personal
			if annotation.Strategy == domain.StrategyDelete && !goes {
				annotation.Strategy = domain.StrategyErase
			}
			if annotation.Export == "" && domain.SoundsSecret(column.Name) {
				annotation.Export = domain.ExportYes
			}
			table.Columns[i].Personal = &annotation
		}
	}
}
