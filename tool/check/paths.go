package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkPaths reports references to people that an erasure does not follow, because the data map does not declare them
// as paths. The referring rows may be about further people. An export and an erasure of these people then miss the
// rows.
func (s *schema) checkPaths() {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		if table.Name == s.SubjectTable().Name {
			return
		}
		for _, relation := range table.Relations {
			if relation.References == s.SubjectTable().Name {
				s.checkPath(table, live, relation, "")
			}
		}
		for _, foreign := range live.ForeignKeys {
			if parent, mapped := s.mappedTable(foreign.References); mapped && s.mayLeadElsewhere(table, live, foreign, parent) {
				s.checkPath(table, live, asRelation(foreign, parent), foreign.Name)
			}
		}
	})
}

// mayLeadElsewhere reports whether a foreign key may lead to another person than the paths of the table: it refers to
// the subject's table, or to a table that is nearer to a person and on none of the paths.
func (s *schema) mayLeadElsewhere(
	table datamap.Table, live datamap.CatalogTable, foreign datamap.CatalogForeignKey, parent datamap.Table,
) bool {
	if parent.Name == s.SubjectTable().Name {
		return true
	}
	distance := s.distance(table.Name)
	return parent.Name != table.Name && distance > 1 && s.distance(parent.Name) < distance &&
		!s.leadsThrough(table, parent.Name) && !s.belongsByReferrers(parent.Name) && !s.isUndecided(live, foreign)
}

// checkPath reports a reference that is no path, unless it surely leads to the person of a path, or a person saw it
// before a decision about the table.
func (s *schema) checkPath(table datamap.Table, live datamap.CatalogTable, reference datamap.Relation, object string) {
	column, _ := live.Mapped(table, reference.Columns[0])
	isSeen := !slices.ContainsFunc(reference.Columns, func(name string) bool { return !s.sees(live, name) })
	if s.isPath(table, live, reference.Columns) || s.isWithOwner(table, live, reference) || isSeen || column.NotPersonal ||
		slices.ContainsFunc(s.findings, func(f datamap.Finding) bool {
			return f.Table == table.Name && f.Code == "path-missing" && sameName(live, f.Column, list(reference.Columns))
		}) {
		return
	}
	reason := "The column refers to " + reference.References + ", but is not a path. The rows may be about several " +
		"people. Exports and erasures of that person ignore the rows"
	if s.deletesRows(table.Name) {
		reason += ", and an erasure of another person deletes them"
	}
	s.report("path-missing", place{table: table.Name, column: list(reference.Columns), object: object}, reason+".")
}

// belongsByReferrers reports whether the rows of a table belong to people only because rows of people refer to them, as
// orders refer to addresses. Another row that refers to an address does not get a person from it.
func (s *schema) belongsByReferrers(table string) bool {
	return !slices.ContainsFunc(s.Paths(table), func(p datamap.Path) bool {
		return len(p.Relations) == 0 || !s.isReversed(p.Relations[0], s.live[table], s.live[p.Relations[0].References])
	})
}

// isUndecided reports whether another finding already says that rows of other people may have the foreign key.
func (s *schema) isUndecided(live datamap.CatalogTable, foreign datamap.CatalogForeignKey) bool {
	return slices.ContainsFunc(s.findings, func(f datamap.Finding) bool {
		return f.Code == "delete-undecided" && f.Table == s.nameOf(live) && f.Column == list(foreign.Columns)
	})
}

// leadsThrough reports whether a path of the table leads through the other table.
func (s *schema) leadsThrough(table datamap.Table, other string) bool {
	return slices.ContainsFunc(s.Paths(table.Name), func(p datamap.Path) bool {
		return slices.ContainsFunc(p.Relations, func(r datamap.Relation) bool { return r.References == other })
	})
}

func (s *schema) isPath(table datamap.Table, live datamap.CatalogTable, columns []string) bool {
	return slices.ContainsFunc(s.Paths(table.Name), func(p datamap.Path) bool {
		return len(p.Relations) > 0 && len(p.Relations[0].Columns) == len(columns) &&
			isSubset(live, p.Relations[0].Columns, columns)
	})
}
