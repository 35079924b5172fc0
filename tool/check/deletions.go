package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// checkDeletions starts with the tables whose rows an erasure deletes, and checks each foreign key that refers to such
// a table. If a foreign key deletes the referring rows too (ON DELETE CASCADE), it continues with the referring table.
func (s *schema) checkDeletions() {
	lost := &losses{schema: s, deleted: map[string]bool{}}
	for _, step := range s.steps {
		if live, ok := s.live[step.Target]; ok && step.Strategy == domain.StrategyDelete {
			lost.add(live.Name)
		}
	}
	for i := 0; i < len(lost.tables); i++ { // checkForeignKey adds the tables of ON DELETE CASCADE
		for _, child := range s.catalog.Tables {
			for _, foreign := range child.ForeignKeys {
				if referenced, ok := s.catalog.Table(foreign.References); ok && referenced.Name == lost.tables[i] {
					lost.checkForeignKey(child, foreign, referenced)
				}
			}
		}
	}
	s.losing = lost.tables
	s.checkSetNull()
}

// losses holds the tables from which an erasure deletes rows, and the tables from which the database then deletes rows
// because of a foreign key.
type losses struct {
	*schema
	tables  []string // the names in the catalog
	deleted map[string]bool
}

func (l *losses) add(table string) {
	if !l.deleted[table] {
		l.tables, l.deleted[table] = append(l.tables, table), true
	}
}

// checkForeignKey checks a foreign key of the table child that refers to the table parent. It reports the effect on
// rows of child if an erasure deletes rows of parent.
func (l *losses) checkForeignKey(
	child datamap.CatalogTable, foreign datamap.CatalogForeignKey, parent datamap.CatalogTable,
) {
	table, mapped := l.mapped[child.Name]
	at := place{table: child.Name, column: list(foreign.Columns), object: foreign.Name}
	if parent, isHeir := l.inheritedFrom(child, foreign); !mapped && isHeir && l.beginsPath(parent, child, foreign) {
		return // the statements on the parent also change the rows of the heir
	}
	if mapped {
		at.table = table.Name
		if l.beginsPath(table, child, foreign) || l.isCleared(table, child, foreign) ||
			l.goesWithOwner(table, child, foreign) {
			return
		}
		if l.reportUndecided(table, foreign, parent, at) {
			return
		}
	}
	refers := "Its foreign key " + keyCalled(foreign) + " refers to rows of " + parent.Name +
		" that are deleted in an erasure. "
	switch foreign.OnDelete { //nolint:exhaustive // the others refuse the deletion
	case datamap.ActionCascade:
		if !mapped {
			l.reportCascade(child, foreign, at, refers)
			return
		}
		remedy := "Declare ON DELETE SET NULL, or make the relation a path that deletes the rows."
		if to, isMapped := l.mappedTable(parent.Name); isMapped && l.leadsTo(to.Name, table.Name) {
			remedy = "Declare ON DELETE SET NULL."
		}
		l.report("delete-cascades-to-kept", at,
			refers+"The database deletes the referring rows too (ON DELETE CASCADE), even rows of other people "+
				"that the data map keeps.", remedy)
		l.add(child.Name)
	case datamap.ActionSetNull:
		l.reportSetNull(child, foreign, at, refers)
	case datamap.ActionSetDefault:
		l.report("delete-sets-default", at, refers+"The database then sets the columns to their default values. "+
			"The erasure fails if "+parent.Name+" has no row with this key.")
	default:
		l.reportRestricted(child, foreign, parent, at, refers)
	}
}

// inheritedFrom returns the table of the data map from which a table inherits the columns of a foreign key.
func (s *schema) inheritedFrom(
	heir datamap.CatalogTable, foreign datamap.CatalogForeignKey,
) (parent datamap.Table, ok bool) {
	for _, name := range heir.Inherits {
		if parent, ok = s.mappedTable(name); ok && hasAll(s.live[parent.Name], foreign.Columns) {
			return parent, true
		}
	}
	return datamap.Table{}, false
}

// reportCascade reports a foreign key of a table outside the data map whose rows the database deletes. The finding is
// an error if a row may belong to another person, because another foreign key of the table leads to the data map.
func (l *losses) reportCascade(
	child datamap.CatalogTable, foreign datamap.CatalogForeignKey, at place, refers string,
) {
	l.add(child.Name)
	l.cascaded = append(l.cascaded, child.Name)
	if to, column := l.alsoRefers(child, foreign); to != "" {
		l.reportAs(failure, "delete-cascades", at,
			refers+"The database deletes the referring rows too (ON DELETE CASCADE), even rows of other people, because "+
				column+" refers to "+to+".",
			capitalized(addTable(child))+" with both relations as paths, or declare ON DELETE SET NULL."+orStayKeyless(child))
		return
	}
	l.report("delete-cascades", at,
		refers+"The database deletes the referring rows too (ON DELETE CASCADE). Exports do not show these "+
			"rows, and an erasure reports only their number.", capitalized(addTable(child))+"."+orStayKeyless(child))
}

// alsoRefers returns a table of the data map to which the table refers by other columns than those of the foreign key,
// and these columns. If there are several, it returns the table with the shortest path to a person. A column
// without a foreign key counts if its name names a person or the table.
func (l *losses) alsoRefers(child datamap.CatalogTable, foreign datamap.CatalogForeignKey) (to, column string) {
	nearest := -1
	for _, other := range child.ForeignKeys {
		if parent, mapped := l.mappedTable(other.References); mapped && !isSubset(child, other.Columns, foreign.Columns) &&
			!isSubset(child, foreign.Columns, other.Columns) && !l.leadsWith(child, other, foreign) &&
			(nearest < 0 || l.distance(parent.Name) < nearest) {
			to, column, nearest = parent.Name, list(other.Columns), l.distance(parent.Name)
		}
	}
	if to != "" {
		return to, column
	}
	for _, link := range l.facts.Links(child) {
		if parent, mapped := l.mappedTable(link.References); mapped && link.Likely && !link.ForeignKey &&
			!isSubset(child, link.Columns, foreign.Columns) {
			return parent.Name, list(link.Columns)
		}
	}
	return "", ""
}

// isCleared reports whether an erasure sets the foreign key of a table to itself to NULL before it deletes rows.
func (l *losses) isCleared(table datamap.Table, live datamap.CatalogTable, foreign datamap.CatalogForeignKey) bool {
	return slices.ContainsFunc(l.SelfReferences(table), func(reference datamap.SelfReference) bool {
		return reference.Relation.When == nil && l.isRelation(reference.Relation, live, foreign)
	})
}

func (l *losses) reportSetNull(
	child datamap.CatalogTable, foreign datamap.CatalogForeignKey, at place, refers string,
) {
	cleared := foreign.Cleared
	if len(cleared) == 0 {
		cleared = foreign.Columns
	}
	for _, name := range cleared {
		if column, ok := child.Column(name); ok && !column.Nullable {
			l.report("delete-sets-null", place{at.table, name, at.object},
				refers+"The database then sets the column to NULL, but the column is NOT NULL. The erasure fails.",
				"Drop NOT NULL, or have the erasure delete the rows.")
		}
	}
	if foreign.Full && len(cleared) < len(foreign.Columns) {
		l.report("delete-sets-null", at, refers+"The database then sets only "+list(cleared)+
			" to NULL, but the foreign key has MATCH FULL: either all of its columns are NULL, or none is. The erasure fails.",
			"Declare the foreign key without MATCH FULL, or with ON DELETE SET NULL on all columns.")
	}
}

// reportUndecided handles a foreign key between two tables from which an erasure deletes rows. It reports the foreign
// key if rows of another person may refer to the deleted rows, because the erasure then fails or deletes the rows of
// that person, too. It returns false if checkForeignKey must check the foreign key further.
func (l *losses) reportUndecided(
	table datamap.Table, foreign datamap.CatalogForeignKey, parent datamap.CatalogTable, at place,
) bool {
	if l.mayKeepRows(table) {
		return false
	}
	if l.isOfSamePerson(table, foreign) {
		return true
	}
	if l.isOfAnother(table, parent) {
		return false
	}
	refers := "Its foreign key " + keyCalled(foreign) + " refers to rows of " + parent.Name +
		" that are deleted in an erasure. The erasure also deletes rows of this table. "
	remedy := "If rows of one person may refer to rows of another person, declare ON DELETE SET NULL, or let the " +
		"erasure clear the reference ({null}) or keep the rows of " +
		parent.Name + ". If not, accept the finding."
	switch foreign.OnDelete { //nolint:exhaustive // checkForeignKey checks the other actions
	case datamap.ActionCascade:
		l.reportAs(failure, "delete-undecided", at,
			refers+"The database also deletes rows of other people that refer to them.", remedy)
	case datamap.ActionNone, datamap.ActionRestrict:
		l.report("delete-undecided", at, refers+"The erasure fails if a row of another person refers to one of them.", remedy)
	default:
		return false
	}
	return true
}

// isOfAnother reports whether a foreign key that begins no path probably refers to rows of another person: it refers to
// the subject's table, or the table is the subject's, or a path begins with another reference to the same parent table.
func (l *losses) isOfAnother(table datamap.Table, parent datamap.CatalogTable) bool {
	subject := l.SubjectTable().Name
	return table.Name == subject || parent.Name == l.live[subject].Name ||
		slices.ContainsFunc(l.Paths(table.Name), func(p datamap.Path) bool {
			return len(p.Relations) > 0 && l.live[p.Relations[0].References].Name == parent.Name
		})
}

// isOfSamePerson reports whether the data map states that both rows always belong to the same person.
func (l *losses) isOfSamePerson(table datamap.Table, foreign datamap.CatalogForeignKey) bool {
	return slices.ContainsFunc(table.Relations, func(r datamap.Relation) bool {
		return r.SamePerson && l.isRelation(r, l.live[table.Name], foreign)
	})
}

// beginsPath reports whether a path of the data map begins with the foreign key. An erasure then deletes the referring
// rows, or sets their references to NULL, before it deletes the referenced rows.
func (s *schema) beginsPath(table datamap.Table, live datamap.CatalogTable, foreign datamap.CatalogForeignKey) bool {
	return slices.ContainsFunc(s.Paths(table.Name), func(p datamap.Path) bool {
		return len(p.Relations) > 0 && p.Relations[0].When == nil && s.isRelation(p.Relations[0], live, foreign)
	})
}

// isRelation reports whether a relation and a foreign key have the same columns and the same referenced table.
func (s *schema) isRelation(
	relation datamap.Relation, live datamap.CatalogTable, foreign datamap.CatalogForeignKey,
) bool {
	referenced, ok := s.live[relation.References]
	target, known := s.catalog.Table(foreign.References)
	return ok && known && referenced.Name == target.Name && len(relation.Columns) == len(foreign.Columns) &&
		isSubset(live, relation.Columns, foreign.Columns)
}

// checkSetNull reports relations that are declared with ON DELETE SET NULL in the data map but have no foreign key in
// the database. It ignores a foreign key with another action, because checkForeignKey reports it.
func (s *schema) checkSetNull() {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		for _, relation := range table.Relations {
			if !relation.SetsNull || !s.deletesRows(relation.References) || slices.ContainsFunc(live.ForeignKeys,
				func(foreign datamap.CatalogForeignKey) bool { return s.isRelation(relation, live, foreign) }) {
				continue
			}
			if begins := slices.ContainsFunc(s.Paths(table.Name), func(p datamap.Path) bool {
				return len(p.Relations) > 0 && p.Relations[0].Equals(relation)
			}); !begins {
				s.report("set-null-missing", place{table: table.Name, column: list(relation.Columns)},
					"The data map states that the database sets the reference to NULL when rows of "+relation.References+
						" are deleted (ON DELETE SET NULL), but there is no such foreign key. The reference stays.")
			}
		}
	})
}
