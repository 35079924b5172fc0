package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// reportRestricted reports a foreign key that refuses the deletion of the rows of parent. If a trigger of parent writes
// to the referring table at each deletion, it may make the rows refer elsewhere.
func (l *losses) reportRestricted(
	child datamap.CatalogTable, foreign datamap.CatalogForeignKey, parent datamap.CatalogTable, at place, refers string,
) {
	for _, trigger := range parent.Triggers {
		if slices.Contains(trigger.Events, "DELETE") &&
			(slices.Contains(trigger.Writes, child.Name) || slices.Contains(trigger.Deletes, child.Name)) {
			l.reportAs(warning, deleteRestricted, at, refers+"The trigger "+trigger.Name+" of "+parent.Name+" writes to this "+
				"table at a deletion. If no trigger makes the referring rows refer elsewhere, the erasure fails.",
				"Rehearse an erasure of a person with such rows. If it succeeds, accept the finding.")
			return
		}
	}
	setNull := "declare ON DELETE SET NULL"
	if !areNullable(child, foreign.Columns) {
		setNull = "drop NOT NULL and " + setNull
	}
	remedy := "Add the table to the data map, or " + setNull + "."
	if _, mapped := l.mapped[child.Name]; mapped {
		remedy = "Make the relation a path that deletes the rows or clears the reference, or " + setNull + "."
	}
	l.report(deleteRestricted, at, refers+"The erasure fails if a row that stays refers to one of them.", remedy)
}

func areNullable(live datamap.CatalogTable, columns []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool {
		column, _ := live.Column(name)
		return !column.Nullable
	})
}
