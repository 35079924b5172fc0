package manifest

import "github.com/habeas-data/habeas/domain"

// fromVersion1 converts tables of version 1 to the meaning of the current version. delete on a row that stays erases
// the cell. A column whose name suggests a secret is exported like every other column.
func fromVersion1(tables []domain.Table) {
	for _, table := range tables {
		goes := table.RowsDeleted()
		for i, column := range table.Columns {
			if column.Personal == nil {
				continue
			}
			annotation := *column.Personal
			if annotation.Strategy == domain.StrategyDelete && !goes {
				annotation.Strategy = domain.StrategyErase
			}
			if annotation.Export == "" && domain.IsSecretName(column.Name) {
				annotation.Export = domain.ExportYes
			}
			table.Columns[i].Personal = &annotation
		}
	}
}
