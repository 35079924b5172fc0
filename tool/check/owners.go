package check

import (
	"maps"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// anchor is a row to which the rows of a table refer by their own columns, directly or through other rows. Two
// references of a row with an equal anchor lead to the same person.
type anchor struct {
	table   string            // the referenced table of the data map
	columns map[string]string // the columns of the referring row, by the referenced column with the same value
	rest    []datamap.Relation
}

// anchors returns the anchors on a path that begins in a table of the database. A relation has an anchor if its columns
// are among the referenced columns of the relation before it, because the referring row then holds their values, too.
// For example, (user_id, device_id) refers to (user_id, id) of devices. The user_id of both rows is the same.
func (s *schema) anchors(from datamap.CatalogTable, path []datamap.Relation) (all []anchor) {
	var own map[string]string // the columns of the referring row, by the column of the table where a relation begins
	for i, relation := range path {
		if relation.When != nil || len(relation.Columns) != len(relation.ReferencedColumns) {
			break // not each row refers by it
		}
		columns := map[string]string{}
		for j, name := range relation.Columns {
			held := name
			if i > 0 {
				held = own[folded(s.live[path[i-1].References], name)]
			}
			if held == "" {
				return all
			}
			columns[folded(s.live[relation.References], relation.ReferencedColumns[j])] = folded(from, held)
		}
		all = append(all, anchor{relation.References, columns, path[i+1:]})
		own = columns
	}
	return all
}

// folded returns the form of a column's name in which equal names of a table are equal texts.
func folded(live datamap.CatalogTable, name string) string {
	column, ok := live.Column(name)
	if !ok {
		return name
	}
	return column.Name
}

// leadTogether reports whether two paths of the rows of a table surely lead to the same person.
func (s *schema) leadTogether(live datamap.CatalogTable, a, b []datamap.Relation) bool {
	others := s.anchors(live, b)
	return slices.ContainsFunc(s.anchors(live, a), func(one anchor) bool {
		return slices.ContainsFunc(others, func(other anchor) bool {
			return one.table == other.table && s.isSameRow(one, other) &&
				slices.EqualFunc(one.rest, other.rest, datamap.Relation.Equals)
		})
	})
}

// isSameRow reports whether two anchors in a table surely are the same row: they have the same columns, or one of them
// has further columns, such as a tenant, beside those of a unique key.
func (s *schema) isSameRow(a, b anchor) bool {
	if len(a.columns) > len(b.columns) {
		a, b = b, a
	}
	for referenced, column := range a.columns {
		if b.columns[referenced] != column {
			return false
		}
	}
	return len(a.columns) == len(b.columns) || isUnique(s.live[a.table], slices.Collect(maps.Keys(a.columns)))
}

// pathsBy returns the paths to people that begin with a reference, and continue with those paths of the referenced
// table for which the function returns true.
func (s *schema) pathsBy(reference datamap.Relation, takes func(datamap.Path) bool) (all [][]datamap.Relation) {
	for _, path := range s.Paths(reference.References) {
		if takes(path) {
			all = append(all, append([]datamap.Relation{reference}, path.Relations...))
		}
	}
	return all
}

// asRelation returns a foreign key to a table of the data map as a relation.
func asRelation(foreign datamap.CatalogForeignKey, parent datamap.Table) datamap.Relation {
	return datamap.Relation{
		Columns: foreign.Columns, References: parent.Name, ReferencedColumns: foreign.Referenced,
	}
}

// goesWithOwner reports whether the rows that refer by a foreign key to deleted rows are deleted in the same erasure: a
// path of their own that deletes them leads to the same person.
func (s *schema) goesWithOwner(
	table datamap.Table, live datamap.CatalogTable, foreign datamap.CatalogForeignKey,
) bool {
	parent, mapped := s.mappedTable(foreign.References)
	if !mapped || foreign.OnDelete != datamap.ActionCascade && !s.isDeletedInTime(table, parent, foreign) {
		return false
	}
	losing := s.pathsBy(asRelation(foreign, parent), func(p datamap.Path) bool { return s.RowsDeleted(parent, p) })
	return len(losing) > 0 && !slices.ContainsFunc(losing, func(path []datamap.Relation) bool {
		return !slices.ContainsFunc(s.Paths(table.Name), func(own datamap.Path) bool {
			return s.RowsDeleted(table, own) && s.leadTogether(live, own.Relations, path)
		})
	})
}

// isDeletedInTime reports whether an erasure deletes the rows of a table before the rows of the parent table, or with
// them, so that a foreign key of the table neither refuses the deletion nor changes the rows.
func (s *schema) isDeletedInTime(table, parent datamap.Table, foreign datamap.CatalogForeignKey) bool {
	if table.Name == parent.Name {
		return foreign.OnDelete != datamap.ActionRestrict
	}
	deletes := func(name string) func(datamap.Step) bool {
		return func(step datamap.Step) bool {
			return step.Target == name && step.Strategy == domain.StrategyDelete
		}
	}
	first := slices.IndexFunc(s.steps, deletes(parent.Name))
	return first >= 0 && !slices.ContainsFunc(s.steps[first:], deletes(table.Name))
}

// isWithOwner reports whether a reference that begins no path surely leads to a person to whom a path of the table
// leads, or whether the data map states this.
func (s *schema) isWithOwner(table datamap.Table, live datamap.CatalogTable, reference datamap.Relation) bool {
	if slices.ContainsFunc(table.Relations, func(r datamap.Relation) bool {
		return r.SamePerson && r.References == reference.References && len(r.Columns) == len(reference.Columns) &&
			isSubset(live, r.Columns, reference.Columns)
	}) {
		return true
	}
	others := s.pathsBy(reference, func(datamap.Path) bool { return true })
	return len(others) > 0 && !slices.ContainsFunc(others, func(other []datamap.Relation) bool {
		return !slices.ContainsFunc(s.Paths(table.Name), func(own datamap.Path) bool {
			return s.leadTogether(live, own.Relations, other)
		})
	})
}

// leadsWith reports whether a reference of a table outside the data map surely leads to the people to whom a foreign
// key of the table leads.
func (s *schema) leadsWith(live datamap.CatalogTable, reference, foreign datamap.CatalogForeignKey) bool {
	every := func(datamap.Path) bool { return true }
	parent, mapped := s.mappedTable(reference.References)
	other, otherMapped := s.mappedTable(foreign.References)
	if !mapped || !otherMapped {
		return false
	}
	known := s.pathsBy(asRelation(foreign, other), every)
	return !slices.ContainsFunc(s.pathsBy(asRelation(reference, parent), every), func(path []datamap.Relation) bool {
		return !slices.ContainsFunc(known, func(k []datamap.Relation) bool { return s.leadTogether(live, k, path) })
	})
}
