package plan

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// SampleQuery selects rows for the preview of an erasure.
type SampleQuery struct {
	Step    datamap.Step // of LocalAt
	Columns []string     // the columns to read
	Limit   int          // the maximum number of rows
	// Keys are the primary keys of rows. If Keys is not nil, the query selects these rows of the step's table instead of
	// the rows that the step affects.
	Keys [][]domain.PrivateValue
}

// SampleColumns returns the columns that a preview of a step shows: the columns that the step overwrites or keeps, with
// the columns that begin a retention duty. If the step deletes the rows, these are the annotated columns, or all
// columns that are not in the primary key if none is annotated.
func SampleColumns(m datamap.DataMap, step datamap.Step) []string {
	table, _ := m.Table(step.Target)
	var names []string
	add := func(more ...string) {
		for _, name := range more {
			if !slices.Contains(names, name) && !slices.Contains(table.PrimaryKey, name) {
				names = append(names, name)
			}
		}
	}
	if step.Strategy != domain.StrategyDelete {
		add(slices.Concat(step.Columns, step.ClearedColumns, step.Expired)...)
		for _, name := range slices.Clone(names) {
			if column, _ := table.Column(name); column.Personal != nil && column.Personal.Since != "" {
				add(column.Personal.Since)
			}
		}
		return names
	}
	for _, column := range table.Personal() {
		add(column.Name)
	}
	if len(names) == 0 {
		for _, column := range table.Columns {
			add(column.Name)
		}
	}
	return names
}
