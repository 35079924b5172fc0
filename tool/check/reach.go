package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/names"
)

// checkReach reports tables outside the data map that refer to the subject or seem to hold personal data. It also
// reports references to the subject that an erasure does not follow, because the data map does not declare them as
// paths.
func (s *schema) checkReach() {
	for _, table := range s.unmappedTables() {
		switch {
		case s.copies[table.Name]:
		case s.reported(table.Name, deleteRestricted, deleteCascades, deleteSetsNull, deleteSetsDefault):
		case s.reportReaching(table):
		case s.reportReferred(table):
		case s.reportUnlinked(table):
		default:
			s.reportPersonal(table)
		}
	}
	s.eachPresent(s.checkPaths)
}

// reportReaching reports a table outside the data map in two cases:
//
//   - The table has a foreign key to a table of the data map.
//   - A longer chain of foreign keys connects the table to the data map, and the table seems to hold personal data.
//
// It returns true if a foreign key or a chain leads to the data map, even if the table does not seem to hold personal
// data.
func (s *schema) reportReaching(table datamap.CatalogTable) bool {
	chain, columns := s.foreignKeyChain(table, map[string]bool{})
	if len(chain) == 0 || len(chain) > 1 && s.personalSentence(table) == "" {
		return len(chain) > 0
	}
	s.report(tableUnmapped, place{table: table.Name, column: list(columns)},
		"The table refers to "+strings.Join(chain, ", which refers to ")+
			", but is not in the data map. Exports and erasures ignore it."+s.personalSentence(table),
		"Add the table to the data map.")
	return true
}

// reportReferred reports a table that seems to hold personal data, such as the addresses of customers, if a table of
// the data map refers to it. It ignores a table of people, because its rows are about people other than the subject.
func (s *schema) reportReferred(table datamap.CatalogTable) bool {
	if names.IsPeople(table.Name) || names.Is(table.Name, names.Reference) {
		return false
	}
	for _, parent := range s.Declared() {
		for _, foreign := range s.live[parent.Name].ForeignKeys {
			referenced, ok := s.catalog.Table(foreign.References)
			if !ok || referenced.Name != table.Name || !s.needed[parent.Name] {
				continue
			}
			if !slices.ContainsFunc(table.Columns, isOfPerson) && !namesPersonal(parent.Name, foreign.Columns) {
				continue
			}
			s.report(tableReferred, place{table: table.Name, object: foreign.Name},
				"Rows of "+parent.Name+" refer to the table by "+list(foreign.Columns)+
					", but it is not in the data map. Exports and erasures ignore it."+s.personalSentence(table),
				"Move the columns to "+parent.Name+", or add a column that refers to "+parent.Name+
					" and add the table to the data map, or clear its rows in the hook BeforeErasure.")
			return true
		}
	}
	return false
}

// namesPersonal reports whether the name of a reference, such as avatar_id, suggests that the referenced table holds
// personal data.
func namesPersonal(table string, columns []string) bool {
	if len(columns) != 1 {
		return false
	}
	stem, isReference := names.Stem(columns[0])
	_, ok := soundsPersonal(table, datamap.CatalogTable{}, datamap.CatalogColumn{Name: stem, Type: datamap.TypeText})
	return isReference && ok
}

// foreignKeyChain searches for a chain of foreign keys from a table outside the data map to a table of the data map. It
// returns the tables of the chain after the first, and the columns of the first foreign key. Between two tables outside
// the data map, it follows only foreign keys with ON DELETE CASCADE. They suggest that the referring rows are parts of
// the referenced rows, and so belong to the same person.
func (s *schema) foreignKeyChain(table datamap.CatalogTable, seen map[string]bool) (chain, columns []string) {
	seen[table.Name] = true
	for _, foreign := range table.ForeignKeys {
		if parent, mapped := s.mappedTable(foreign.References); mapped {
			return []string{parent.Name}, foreign.Columns
		}
	}
	for _, foreign := range table.ForeignKeys {
		parent, ok := s.catalog.Table(foreign.References)
		if !ok || foreign.OnDelete != datamap.ActionCascade || seen[parent.Name] {
			continue
		}
		if rest, _ := s.foreignKeyChain(parent, seen); len(rest) > 0 {
			return append([]string{parent.Name}, rest...), foreign.Columns
		}
	}
	return nil, nil
}

// personalSentence returns a sentence that lists the columns of a table that seem to hold personal data. It returns ""
// if there are none.
func (s *schema) personalSentence(table datamap.CatalogTable) string {
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

// reportUnlinked reports a table with a column that has no foreign key, but is named like a reference to a table of the
// data map.
func (s *schema) reportUnlinked(table datamap.CatalogTable) bool {
	if table.Kind == datamap.KindVirtual {
		return false
	}
	for _, column := range table.Columns {
		for _, parent := range s.Declared() {
			if s.namedAfter(table, column, parent) {
				s.report(tableUnlinked, place{table: table.Name, column: column.Name},
					"The column is named like a reference to "+parent.Name+
						". It has no foreign key, and the table is not in the data map. Exports and erasures ignore the table."+
						s.personalSentence(table),
					"Add the table to the data map, with a relation. The relation needs no foreign key.")
				return true
			}
		}
	}
	return false
}

// namedAfter reports whether a column without a foreign key seems to refer to the table parent. The column must have
// the type of the primary key of parent. It must be named after parent, such as user_id for users.id. For the subject's
// table, a name of a role of a person is sufficient, such as sender_id or created_by.
func (s *schema) namedAfter(table datamap.CatalogTable, column datamap.CatalogColumn, parent datamap.Table) bool {
	live, ok := s.live[parent.Name]
	if !ok || len(parent.PrimaryKey) != 1 || inForeignKey(table, column.Name) {
		return false
	}
	key, ok := live.Column(parent.PrimaryKey[0])
	if !ok || key.Type == "" || column.Type == "" || differ(key.Type, column.Type) {
		return false
	}
	stem, isReference := names.Stem(column.Name)
	isBy := strings.HasSuffix(strings.ToLower(column.Name), "by") // created_by
	return isReference && names.Same(stem, names.BaseName(parent.Name)) ||
		(isReference || isBy) && names.IsRole(stem) && parent.Name == s.SubjectTable().Name
}

// reportPersonal reports a table that seems to hold data about people, but does not refer to a table of the data map.
func (s *schema) reportPersonal(table datamap.CatalogTable) {
	if table.Kind == datamap.KindVirtual {
		return
	}
	var found []string
	enough := false
	for _, column := range table.Columns {
		if is, surely := isIdentifying(column); is {
			found, enough = append(found, column.Name), enough || surely
		}
	}
	if enough {
		s.report(tablePersonal, place{table: table.Name, column: list(found)},
			"The columns seem to hold data about people, but the table does not refer to a table of the data map. "+
				"Exports and erasures ignore it.",
			"If its rows are about subjects, add the table to the data map, with a relation by a column that identifies them.")
	}
}

// checkPaths reports references to the subject's table that an erasure does not follow, because the data map does not
// declare them as paths. The referring rows may be about further people. An export and an erasure of these people then
// miss the rows.
func (s *schema) checkPaths(table datamap.Table, live datamap.CatalogTable) {
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
		if parent, _ := s.mappedTable(foreign.References); parent.Name == subject && !s.isPath(table, live, foreign.Columns) {
			s.reportNoPath(table, live, foreign.Columns, foreign.Name)
		}
	}
	for _, column := range live.Columns {
		inRelation := slices.ContainsFunc(table.Relations, func(r datamap.Relation) bool {
			return slices.ContainsFunc(r.Columns, func(name string) bool { return sameName(live, name, column.Name) })
		})
		if !inRelation && !hasName(live, live.PrimaryKey, column.Name) && s.namedAfter(live, column, s.SubjectTable()) {
			s.reportNoPath(table, live, []string{column.Name}, "")
		}
	}
}

func (s *schema) isPath(table datamap.Table, live datamap.CatalogTable, columns []string) bool {
	return slices.ContainsFunc(s.Paths(table.Name), func(p datamap.Path) bool {
		return len(p.Relations) > 0 && len(p.Relations[0].Columns) == len(columns) &&
			isSubset(live, p.Relations[0].Columns, columns)
	})
}

func (s *schema) reportNoPath(table datamap.Table, live datamap.CatalogTable, columns []string, constraint string) {
	if s.reported(table.Name, pathMissing) && slices.ContainsFunc(s.findings, func(f datamap.Finding) bool {
		return f.Table == table.Name && f.Code == pathMissing && sameName(live, f.Column, list(columns))
	}) {
		return
	}
	s.report(pathMissing, place{table: table.Name, column: list(columns), object: constraint},
		"The column refers to a person, or is named like such a reference, but is not a path. Exports and erasures of "+
			"that person ignore the rows.",
		`If the rows are also about that person, mark the relation as a path (subject:"path").`)
}
