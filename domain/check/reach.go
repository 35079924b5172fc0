package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/names"
)

// checkReach finds what leads to the subject and is not in the data map: tables, and references of its own tables.
func (s *schema) checkReach() {
	for _, table := range s.outside() {
		switch {
		case s.copies[table.Name], s.reported(table.Name, deleteRestricted, deleteCascades, deleteSetsNull, deleteSetsDefault):
		case s.reportReaching(table):
		case s.reportUnlinked(table):
		default:
			s.reportPersonal(table)
		}
	}
	s.present(s.checkPaths)
}

// reportReaching reports a table that refers to one of the data map, or to one that such a table would bring with it.
func (s *schema) reportReaching(table domain.CatalogTable) bool {
	way, columns := s.wayOf(table, map[string]bool{})
	if len(way) == 0 {
		return false
	}
	s.report(tableUnmapped, place{table: table.Name, column: list(columns)},
		"The table refers to "+strings.Join(way, ", which refers to ")+
			", and is not in the data map. Exports and erasures pass it over."+s.seemPersonal(table),
		"Add the table to the data map.")
	return true
}

// wayOf returns the tables by which foreign keys of a table outside of the data map lead into it, and the columns of the
// first one. Over another such table, only foreign keys with ON DELETE CASCADE lead further: their rows are parts of the
// others.
func (s *schema) wayOf(table domain.CatalogTable, seen map[string]bool) (way, columns []string) {
	seen[table.Name] = true
	for _, foreign := range table.ForeignKeys {
		if parent, mapped := s.named(foreign.References); mapped {
			return []string{parent.Name}, foreign.Columns
		}
	}
	for _, foreign := range table.ForeignKeys {
		parent, ok := s.catalog.Table(foreign.References)
		if !ok || foreign.OnDelete != domain.ActionCascade || seen[parent.Name] {
			continue
		}
		if onward, _ := s.wayOf(parent, seen); len(onward) > 0 {
			return append([]string{parent.Name}, onward...), foreign.Columns
		}
	}
	return nil, nil
}

// seemPersonal is a sentence about the columns of a table outside of the data map that seem to hold personal data.
func (s *schema) seemPersonal(table domain.CatalogTable) string {
	var found []string
	for _, column := range table.Columns {
		if _, ok := soundsPersonal(table.Name, table, column); ok {
			found = append(found, column.Name)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return " Columns that seem to hold personal data: " + list(found) + "."
}

// reportUnlinked reports a table with a column that is named like a reference to the data map, and has no foreign key.
func (s *schema) reportUnlinked(table domain.CatalogTable) bool {
	if table.Kind == domain.KindVirtual {
		return false
	}
	for _, column := range table.Columns {
		for _, parent := range s.Declared() {
			if s.namedAfter(table, column, parent) {
				s.report(tableUnlinked, place{table: table.Name, column: column.Name},
					"The column is named like a reference to "+parent.Name+
						". It has no foreign key, and the table is not in the data map. Exports and erasures pass it over."+
						s.seemPersonal(table),
					"Add the table to the data map, with a relation. The relation needs no foreign key.")
				return true
			}
		}
	}
	return false
}

// namedAfter reports whether a column is named after a table of the data map and its key, and has the type of the key:
// user_id for users.id.
func (s *schema) namedAfter(table domain.CatalogTable, column domain.CatalogColumn, parent domain.Table) bool {
	live, ok := s.live[parent.Name]
	if !ok || len(parent.PrimaryKey) != 1 || column.Type == "" || slices.ContainsFunc(table.ForeignKeys, func(f domain.CatalogForeignKey) bool {
		return hasName(table, f.Columns, column.Name)
	}) {
		return false
	}
	key, ok := live.Column(parent.PrimaryKey[0])
	if !ok || !s.catalog.Untyped && family(key.Type) != family(column.Type) {
		return false
	}
	stem, isReference := names.Stem(column.Name)
	return isReference && names.Same(stem, names.BaseName(parent.Name)) || s.isUsualReference(column.Name, parent)
}

// isUsualReference reports whether tables of the data map refer to the subject by a column of that name, which says that
// rows belong to a person: owner_id, say.
func (s *schema) isUsualReference(column string, parent domain.Table) bool {
	return parent.Name == s.SubjectTable().Name && names.RoleOf(column) == names.Holder &&
		slices.ContainsFunc(s.Tables(), func(table domain.Table) bool {
			return slices.ContainsFunc(table.Relations, func(r domain.Relation) bool {
				return r.References == parent.Name && len(r.Columns) == 1 && r.Columns[0] == column
			})
		})
}

// reportPersonal reports a table without any reference to the data map that seems to hold data about people.
func (s *schema) reportPersonal(table domain.CatalogTable) {
	if table.Kind == domain.KindVirtual {
		return
	}
	var found []string
	for _, column := range table.Columns {
		if isIdentifying(column) {
			found = append(found, column.Name)
		}
	}
	if len(found) > 0 {
		s.report(tablePersonal, place{table: table.Name, column: list(found)},
			"The columns seem to hold data about people, and nothing of the table refers to the data map. "+
				"Exports and erasures pass it over.",
			"Add the table to the data map if its rows are about subjects, with a relation over a column that names them.")
	}
}

// checkPaths finds references to the subject's table that are no paths: they may lead to further people.
func (s *schema) checkPaths(table domain.Table, live domain.CatalogTable) {
	subject := s.SubjectTable().Name
	if table.Name == subject {
		return
	}
	for _, relation := range table.Relations {
		if relation.References == subject && !s.isPath(table, live, relation.Columns) {
			s.reportNoPath(table, live, relation.Columns, "")
		}
	}
	for _, foreign := range live.ForeignKeys {
		if parent, _ := s.named(foreign.References); parent.Name == subject && !s.isPath(table, live, foreign.Columns) {
			s.reportNoPath(table, live, foreign.Columns, foreign.Name)
		}
	}
}

func (s *schema) isPath(table domain.Table, live domain.CatalogTable, columns []string) bool {
	return slices.ContainsFunc(s.Paths(table.Name), func(p domain.Path) bool {
		return len(p.Relations) > 0 && len(p.Relations[0].Columns) == len(columns) &&
			isSubset(live, p.Relations[0].Columns, columns)
	})
}

func (s *schema) reportNoPath(table domain.Table, live domain.CatalogTable, columns []string, constraint string) {
	if s.reported(table.Name, pathMissing) && slices.ContainsFunc(s.findings, func(f domain.Finding) bool {
		return f.Table == table.Name && f.Code == pathMissing && sameName(live, f.Column, list(columns))
	}) {
		return
	}
	s.report(pathMissing, place{table: table.Name, column: list(columns), object: constraint},
		"The reference leads to a person, and is no path. Exports and erasures of that person pass the rows over.",
		`Mark the relation as a path if the rows are about that person, too (subject:"path").`)
}
