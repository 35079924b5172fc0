package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkTables reports tables and columns of the data map that the database does not have.
func (s *schema) checkTables() {
	if s.idle {
		s.report(nothingErased, place{table: s.SubjectTable().Name},
			"No column of the data map is annotated as personal data, and there is no external system. Every erasure reports "+
				"success and erases nothing.",
			"Annotate the columns that hold personal data.")
	}
	for _, table := range s.Declared() {
		live, ok := s.live[table.Name]
		switch {
		case !ok && s.needed[table.Name]:
			s.report(tableMissing, place{table: table.Name},
				"The database has no such table, or the connection cannot find it. Every erasure and export fails.",
				"Create the table, correct its name, or remove it from the data map.")
		case !ok:
			s.report(mapOutdated, place{table: table.Name},
				"The database has no such table, or the connection cannot find it. No operation uses it.",
				"Remove it from the data map.")
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
			s.report(columnMissing, place{table: table.Name, column: column.Name},
				"The database has no such column, but an erasure or an export uses it and fails.",
				"Create the column, correct its name, or remove it from the data map.")
			continue
		}
		s.report(mapOutdated, place{table: table.Name, column: column.Name},
			"The database has no such column. No operation uses it.", "Remove it from the data map.")
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
		s.report(columnUnmapped, place{table: table.Name, column: name},
			"The column is not in the data map, and an erasure would delete it with its row. Every erasure is refused.",
			"Add the column to the data map, or declare that the whole row is the subject's ({owned}).")
	}
}

func (s *schema) checkPrimaryKey(table datamap.Table, live datamap.CatalogTable) {
	if hasAll(live, table.PrimaryKey) && !distinguishesRows(live, table.PrimaryKey) {
		s.report(primaryKeyMissing, place{table: table.Name, column: list(table.PrimaryKey)},
			"The database has no primary key on these columns, and no unique constraint on columns that are NOT NULL. "+
				"Exports and verifications may confuse two rows.",
			"Make the columns unique and NOT NULL, or use the primary key of the database in the data map.")
	}
	if len(table.SubjectKey) > 0 && !slices.Equal(table.SubjectKey, table.PrimaryKey) &&
		hasAll(live, table.SubjectKey) && !isUnique(live, table.SubjectKey) {
		s.report(subjectKeyShared, place{table: table.Name, column: list(table.SubjectKey)},
			"The database does not ensure that the subject's key is unique. "+
				"If two people share a key, an erasure of one of them erases both.",
			"Make the columns unique.")
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
		s.report(relationShared, place{table: table.Name, column: list(relation.Columns)},
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
