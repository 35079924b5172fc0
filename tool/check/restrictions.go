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
			l.reportAs(warning, "delete-restricted", at,
				refers+"The trigger "+trigger.Name+" of "+parent.Name+" writes to this "+
					"table at a deletion. If no trigger makes the referring rows refer elsewhere, the erasure fails.",
				"Rehearse an erasure of a person with such rows. If it succeeds, accept the finding.")
			return
		}
	}
	remedy := capitalized(addTable(child)) + ", or " + declareSetNull(child, foreign) + "." + orStayKeyless(child)
	if table, mapped := l.mapped[child.Name]; mapped {
		to, _ := l.mappedTable(parent.Name)
		remedy = l.clearRemedy(table, to, child, foreign)
	}
	l.report("delete-restricted", at, refers+"The erasure fails if a row that stays refers to one of them.", remedy)
}

// clearRemedy returns the remedy for a foreign key of a table of the data map that refuses a deletion. The data map
// accepts no path that would close a cycle of relations, and no path of a table to itself.
func (s *schema) clearRemedy(
	table, to datamap.Table, child datamap.CatalogTable, foreign datamap.CatalogForeignKey,
) string {
	setNull := declareSetNull(child, foreign)
	switch {
	case table.Name == to.Name && areNullable(child, foreign.Columns):
		return "Let the erasure clear the reference ({relation that clears}), or " + setNull + "."
	case table.Name == to.Name:
		return capitalized(setNull) + "."
	case s.leadsTo(to.Name, table.Name):
		return capitalized(setNull) + ", or change the references in the hook BeforeErasure and " +
			"accept the finding. A relation by " + list(foreign.Columns) + " would close a cycle, which no data map may have."
	}
	return "Make the relation a path that deletes the rows or clears the reference, or " + setNull + "."
}

func declareSetNull(child datamap.CatalogTable, foreign datamap.CatalogForeignKey) string {
	if !areNullable(child, foreign.Columns) {
		return "drop NOT NULL and declare ON DELETE SET NULL"
	}
	return "declare ON DELETE SET NULL"
}

// leadsTo reports whether relations of the data map lead from a table to another one, or whether both are the same.
func (s *schema) leadsTo(from, to string) bool {
	reached := []string{from}
	for i := 0; i < len(reached); i++ {
		table, _ := s.Table(reached[i])
		for _, relation := range table.Relations {
			if !slices.Contains(reached, relation.References) {
				reached = append(reached, relation.References)
			}
		}
	}
	return slices.Contains(reached, to)
}

func areNullable(live datamap.CatalogTable, columns []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool {
		column, _ := live.Column(name)
		return !column.Nullable
	})
}
