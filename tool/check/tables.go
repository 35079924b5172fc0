package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkTables reports tables and columns of the data map that the database does not have.
func (s *schema) checkTables() {
	if s.idle {
		s.report("nothing-erased", place{table: s.SubjectTable().Name})
	}
	for _, table := range s.Declared() {
		live, ok := s.live[table.Name]
		switch {
		case !ok && s.needed[table.Name]:
			s.report("table-missing", place{table: table.Name})
		case !ok:
			s.report("map-outdated", place{table: table.Name},
				"The database has no such table, or the connection cannot find it. No operation uses it.")
		default:
			s.checkKind(table, live)
			s.checkMissing(table, live)
			s.checkUnmapped(table, live)
			if isTable(live) {
				s.checkPrimaryKey(table, live)
				s.checkSharing(table)
				s.checkKinds(table, live)
			}
		}
	}
}

// isOnPath reports whether another table that an erasure or an export reads has a path that begins with a reference to
// this table.
func (s *schema) isOnPath(table string) bool {
	for child := range s.needed {
		if slices.ContainsFunc(s.Paths(child), func(p datamap.Path) bool {
			return len(p.Relations) > 0 && p.Relations[0].References == table
		}) {
			return true
		}
	}
	return false
}

func (s *schema) checkMissing(table datamap.Table, live datamap.CatalogTable) {
	for _, column := range table.Columns {
		if _, ok := live.Column(column.Name); ok {
			continue
		}
		if s.needed[table.Name] && s.isUsed(table, column) {
			s.report("column-missing", place{table: table.Name, column: column.Name})
			continue
		}
		s.report("map-outdated", place{table: table.Name, column: column.Name},
			"The database has no such column. No operation uses it.")
	}
}

// isUsed reports whether a statement of an erasure or an export contains the name of the column.
func (s *schema) isUsed(table datamap.Table, column datamap.Column) bool {
	return column.Personal != nil || s.IsKey(table, column.Name) ||
		slices.ContainsFunc(table.Personal(), func(c datamap.Column) bool { return c.Personal.Since == column.Name })
}

// checkUnmapped reports columns that are not in the data map and that an erasure would delete with their rows. The
// store bunstore refuses such an erasure.
func (s *schema) checkUnmapped(table datamap.Table, live datamap.CatalogTable) {
	if !slices.ContainsFunc(s.steps, func(step datamap.Step) bool {
		return step.Target == table.Name && s.NeedsAllColumns(step)
	}) {
		return
	}
	for _, name := range live.Unmapped(table) {
		s.report("column-unmapped", place{table: table.Name, column: name})
	}
}

func (s *schema) checkPrimaryKey(table datamap.Table, live datamap.CatalogTable) {
	if hasAll(live, table.PrimaryKey) && !distinguishesRows(live, table.PrimaryKey) {
		s.report("primary-key-missing", place{table: table.Name, column: list(table.PrimaryKey)})
	}
	if len(table.SubjectKey) > 0 && !slices.Equal(table.SubjectKey, table.PrimaryKey) &&
		hasAll(live, table.SubjectKey) && !isUnique(live, table.SubjectKey) {
		s.report("subject-key-shared", place{table: table.Name, column: list(table.SubjectKey)})
	}
}

// checkSharing reports paths whose relations lead to columns that several rows may share, such as users.family_id. A
// row then belongs to each person who has the value.
func (s *schema) checkSharing(table datamap.Table) {
	for _, path := range s.Paths(table.Name) {
		if len(path.Relations) == 0 {
			continue
		}
		relation := path.Relations[0]
		parent, exists := s.live[relation.References]
		subject := s.SubjectTable() // checkPrimaryKey reports its key
		isKey := relation.References == subject.Name && slices.Equal(relation.ReferencedColumns, subject.SubjectKey)
		if !exists || !isTable(parent) || !hasAll(parent, relation.ReferencedColumns) || isKey ||
			isUnique(parent, relation.ReferencedColumns) {
			continue
		}
		s.report("relation-shared", place{table: table.Name, column: list(relation.Columns)},
			"The relation leads to "+list(relation.ReferencedColumns)+" of "+parent.Name+", which is not unique. An erasure "+
				"of one person also erases the rows of the others who have the same value.",
			"Refer to a key of "+parent.Name+". If each value belongs to one person, make the columns unique.")
	}
}

func hasAll(live datamap.CatalogTable, columns []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool {
		_, ok := live.Column(name)
		return !ok
	})
}
