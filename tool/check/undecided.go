package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
)

// "check-undecided" reports tables outside the data map, and columns of its tables, about which nobody has decided.
func (s *schema) checkUndecided() {
	for _, live := range s.catalog.Tables {
		_, mapped := s.mapped[live.Name]
		_, asked := s.decisionAbout(live)
		if !mapped && !asked && s.needsDecision(live) {
			s.report("table-undecided", place{table: live.Name},
				"The table is not in the data map, and nobody has decided that it stays out. Exports and erasures ignore it."+
					s.aboutPeople(live))
		}
	}
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		if isTable(live) {
			s.checkUndecidedColumns(table, live)
		}
	})
}

// needsDecision reports whether a table outside the data map may hold data about people. Views hold none of their own.
func (s *schema) needsDecision(live datamap.CatalogTable) bool {
	return (isTable(live) || live.Kind == datamap.KindForeign) && !s.facts.Exempt(live) && !s.facts.Harmless(live)
}

// aboutPeople returns sentences about what leads from a table to people, each after a space.
func (s *schema) aboutPeople(live datamap.CatalogTable) (text string) {
	var refers, mayRefer, personal []string
	for _, link := range s.facts.Links(live) {
		if link.ForeignKey {
			refers = append(refers, list(link.Columns)+" ("+link.References+")")
		} else {
			mayRefer = append(mayRefer, list(link.Columns))
		}
	}
	for _, column := range live.Columns {
		if _, known := s.known(live, column); known {
			personal = append(personal, column.Name)
		}
	}
	for _, part := range []struct {
		begin string
		names []string
	}{
		{" Foreign keys lead from it to people: ", refers},
		{" Columns that could hold a person's key: ", mayRefer},
		{" Columns that are named like personal data: ", personal},
	} {
		if len(part.names) > 0 {
			text += part.begin + list(part.names) + "."
		}
	}
	return text
}

// checkUndecidedColumns reports columns of a table of the data map. With struct tags, a column without a tag counts as
// decided, unless the dictionary knows it.
func (s *schema) checkUndecidedColumns(table datamap.Table, live datamap.CatalogTable) {
	var keys, others []string
	for _, column := range live.Columns {
		declared, isDeclared := live.Mapped(table, column.Name)
		s.checkPersonalKey(table, live, column, declared)
		if s.isDecided(table, live, column) || !isDeclared && s.reported(table.Name, "column-unmapped") {
			continue
		}
		entry, known := s.known(live, column)
		switch {
		case known:
			s.reportKnown(table, live, column, string(entry.Category))
		case !s.manifest:
		case s.facts.CouldHoldKey(live, column):
			keys = append(keys, column.Name)
		default:
			others = append(others, column.Name)
		}
	}
	if len(keys) > 0 {
		s.report("column-undecided", place{table: table.Name, column: list(keys), object: "keys"},
			"Nobody has decided about the columns, which have the type of a person's key. If they hold one, exports and "+
				"erasures of that person ignore the rows.",
			"Add a relation by the column, or declare that it holds no personal data ({none}).")
	}
	if len(others) > 0 {
		s.report("column-undecided", place{table: table.Name, column: list(others)},
			"Nobody has decided about the columns. Exports and erasures ignore them.", "{annotate}")
	}
}

// checkPersonalKey reports a key of rows that stay, if the dictionary knows its name. An erasure cannot overwrite it.
func (s *schema) checkPersonalKey(
	table datamap.Table, live datamap.CatalogTable, column datamap.CatalogColumn, declared datamap.Column,
) {
	entry, known := dictionary.Column(column.Name, column.Type)
	isKey := hasName(live, table.PrimaryKey, column.Name) || hasName(live, table.SubjectKey, column.Name)
	if known && isKey && !declared.NotPersonal && !inForeignKey(live, column.Name) && s.mayKeepRows(table) {
		s.report("personal-key", place{table: table.Name, column: declared.Name},
			"The column identifies rows that stay, and is named like personal data ("+string(entry.Category)+
				"). An erasure cannot overwrite it.")
	}
}

// isDecided reports whether a person or the schema has decided about a column: it is annotated or declared as not
// personal, the start of a duty, a key, in a relation, computed by the database, or in what a person saw before an
// answer.
func (s *schema) isDecided(table datamap.Table, live datamap.CatalogTable, column datamap.CatalogColumn) bool {
	declared, _ := live.Mapped(table, column.Name)
	return declared.Name != "" && s.isUsed(table, declared) || declared.NotPersonal || column.Generated ||
		inForeignKey(live, column.Name) || hasName(live, live.PrimaryKey, column.Name) ||
		s.isInRelation(table, live, []string{column.Name}) || s.sees(live, column.Name)
}

// sees reports whether a person saw a column of a table before the answer to a question about it.
func (s *schema) sees(live datamap.CatalogTable, column string) bool {
	return slices.ContainsFunc(s.Decisions(), func(d datamap.Decision) bool {
		return d.Covers(live) && (hasName(live, d.Columns, column) ||
			!d.IsOpen() && len(d.Columns) == 0 && hasName(live, d.Seen, column))
	})
}

// isInRelation reports whether the columns are in a relation of a table, or a relation of another table leads to them.
func (s *schema) isInRelation(table datamap.Table, live datamap.CatalogTable, columns []string) bool {
	return slices.ContainsFunc(table.Relations, func(r datamap.Relation) bool {
		return isSubset(live, columns, r.Columns) || r.When != nil && isSubset(live, columns, []string{r.When.Column})
	}) || slices.ContainsFunc(s.Declared(), func(other datamap.Table) bool {
		return slices.ContainsFunc(other.Relations, func(r datamap.Relation) bool {
			return r.References == table.Name && isSubset(live, columns, r.ReferencedColumns)
		})
	})
}

// reportKnown reports a column that the dictionary knows, and that has no annotation.
func (s *schema) reportKnown(
	table datamap.Table, live datamap.CatalogTable, column datamap.CatalogColumn, category string,
) {
	name := column.Name
	if declared, ok := live.Mapped(table, name); ok {
		name = declared.Name
	}
	effect := "Exports and erasures ignore it."
	if !s.mayKeepRows(table) {
		effect = "An erasure deletes it with its row, but exports ignore it."
	}
	s.report("personal-unannotated", place{table: table.Name, column: name},
		"The column is named like personal data ("+category+"), but is not annotated. "+effect)
}
