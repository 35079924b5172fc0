package datamap

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
)

// OnErasure returns the action on the rows at the start of the path if the subject at the end of the path is erased:
// domain.StrategyDelete, domain.StrategyNull, or empty. It is Relation.OnErasure of the first relation, but only in
// these cases:
//
//   - The relation leads to the subject's own row.
//   - The erasure deletes the row that the relation leads to. DataMap.RowsDeleted decides this for the rest of the
//     path.
//   - The row at the start of the path is about this subject only, because no other path connects the row to a person.
//     The conditions of two paths may exclude each other (Relation.When).
//
// In all other cases, OnErasure is empty: the row that the relation leads to stays, and the row at the start of the
// path may be about other people. For example, a like refers to a post, and a post refers to its author and to the
// person whom the author answers. If the author's erasure deletes the post, it deletes the likes of the post. The
// erasure of the other person keeps the post, and therefore keeps the likes, which other people gave.
func (p Path) OnErasure() domain.Strategy {
	if len(p.Relations) == 0 || p.spared {
		return ""
	}
	return p.Relations[0].OnErasure
}

// spares reports whether Relation.OnErasure of the first relation has no effect on the path. See Path.OnErasure. The
// parameter all holds all paths of the table.
func (m DataMap) spares(path Path, all []Path) bool {
	if len(path.Relations) == 1 {
		return false
	}
	parent, _ := m.Table(path.Relations[0].References)
	rest, _ := m.PathVia(parent.Name, path.restVia)
	return !m.RowsDeleted(parent, rest) && slices.ContainsFunc(all, func(other Path) bool {
		return other.Via != path.Via && !other.excludes(path)
	})
}

// excludes reports whether no row can have both paths, because the conditions of the first relations in which they
// differ exclude each other.
func (p Path) excludes(other Path) bool {
	for i, relation := range p.Relations {
		if i == len(other.Relations) {
			return false
		}
		if !relation.Equals(other.Relations[i]) {
			return relation.excludes(other.Relations[i])
		}
	}
	return false
}

// RowsDeleted reports whether an erasure deletes the rows of a table that a path connects to the subject. The first
// rule that applies decides:
//
//   - If OnErasure of the path is set, the rows are deleted for domain.StrategyDelete only.
//   - If the table has one path, Table.RowsDeleted decides.
//   - If the table has several paths, it must be Owned, and Table.RowsDeleted must be true. If Table.Via is set, the
//     rows are deleted if Table.Via names the path. Otherwise the rows are deleted if the table has annotated columns,
//     and all of these columns belong to this path only.
func (m DataMap) RowsDeleted(table Table, path Path) bool {
	switch {
	case path.OnErasure() != "":
		return path.OnErasure() == domain.StrategyDelete
	case path.Via == "":
		return table.RowsDeleted()
	case !table.Owned || !table.RowsDeleted():
		return false
	case table.Via != "":
		return path.isOwner(table)
	}
	personal := table.Personal()
	return len(personal) > 0 && !slices.ContainsFunc(personal, func(c Column) bool {
		return slices.ContainsFunc(m.paths[table.Name], func(p Path) bool { return p.Has(c) != (p.Via == path.Via) })
	})
}

// isOwner reports whether Table.Via names the path. A name of the first relation does not count if Relation.OnErasure
// would have no effect on the path. See OnErasure.
func (p Path) isOwner(table Table) bool {
	return slices.ContainsFunc(namesIn(table.Via), func(name string) bool {
		return p.Via == name || !p.spared && p.isCalled(name)
	})
}

// deletingPaths returns the paths on which an erasure deletes the rows of the table.
func (m DataMap) deletingPaths(table Table) []Path {
	return slices.DeleteFunc(slices.Clone(m.paths[table.Name]), func(p Path) bool { return !m.RowsDeleted(table, p) })
}

// NeedsAllColumns reports whether a step deletes rows only because the data map knows all of their columns. The step
// would also delete the values of a column that the data map does not have.
func (m DataMap) NeedsAllColumns(step Step) bool {
	table, _ := m.Table(step.Target)
	path, _ := m.PathVia(step.Target, step.Via)
	return step.Strategy == domain.StrategyDelete && !table.Owned && path.OnErasure() != domain.StrategyDelete
}

// ClearedColumns returns the columns that an erasure sets to NULL, so that the row no longer refers to the subject.
// These are the columns of the first relation of the path, without the columns that must keep their values:
//
//   - columns in a key
//   - columns that another relation refers to
//   - columns in Columns or When of another relation, unless the conditions of the two relations exclude each other
//
// ClearedColumns returns nil if OnErasure of the path is not domain.StrategyNull.
func (m DataMap) ClearedColumns(table Table, path Path) []string {
	if path.OnErasure() != domain.StrategyNull {
		return nil
	}
	return m.clearable(table, path.Relations[0])
}

// clearable returns the columns of a relation that an erasure can set to NULL. See ClearedColumns.
func (m DataMap) clearable(table Table, relation Relation) []string {
	return slices.DeleteFunc(slices.Clone(relation.Columns), func(name string) bool {
		return m.mustStay(table, relation, name)
	})
}

// mustStay reports whether a column of a relation must keep its value although an erasure sets the relation to NULL.
// See ClearedColumns.
func (m DataMap) mustStay(table Table, relation Relation, name string) bool {
	if slices.Contains(table.PrimaryKey, name) || slices.Contains(table.SubjectKey, name) || m.isReferenced(table, name) {
		return true
	}
	return slices.ContainsFunc(table.Relations, func(other Relation) bool {
		uses := slices.Contains(other.Columns, name) || other.When != nil && other.When.Column == name
		return uses && !other.Equals(relation) && !other.excludes(relation)
	})
}

// SelfReference is a relation of a table to itself that an erasure sets to NULL. For example, a message refers to the
// message that it answers. If an erasure deletes the answered message, it clears the reference in the answer of another
// person. See Relation.OnErasure.
type SelfReference struct {
	Relation       Relation
	ClearedColumns []string // the columns that the erasure sets to NULL; see DataMap.ClearedColumns
	Paths          []Path   // the paths on which the erasure deletes rows of the table
}

// SelfReferences returns the relations of the table to itself that an erasure sets to NULL. It returns nil if an
// erasure deletes no rows of the table.
func (m DataMap) SelfReferences(table Table) []SelfReference {
	var found []SelfReference
	for _, relation := range table.Relations {
		if relation.References != table.Name || relation.OnErasure != domain.StrategyNull {
			continue
		}
		if paths := m.deletingPaths(table); len(paths) > 0 {
			found = append(found, SelfReference{relation, m.clearable(table, relation), paths})
		}
	}
	return found
}

// SelfReference returns the relation that a step with Step.Self sets to NULL.
func (m DataMap) SelfReference(step Step) (SelfReference, bool) {
	table, _ := m.Table(step.Target)
	for _, reference := range m.SelfReferences(table) {
		if step.Self && slices.Equal(reference.ClearedColumns, step.ClearedColumns) {
			return reference, true
		}
	}
	return SelfReference{}, false
}
