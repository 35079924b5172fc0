package erasure

import (
	"cmp"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Complete takes the error of datamap.NewDataMap or of a reader of data maps. It adds the problems that Planner.Plan
// would find, so that a caller sees all problems in one run. It checks only the tables for which err lists no problem
// yet. If err does not concern an invalid data map, Complete returns err unchanged.
func Complete(err error) error {
	return datamap.AddProblems(err, func(m datamap.DataMap) []domain.Problem {
		return problems(m, func(table string) bool {
			return slices.ContainsFunc(domain.Problems(err), func(p domain.Problem) bool { return p.Table == table })
		})
	})
}

// problems returns the reasons why a data map cannot have a plan, in the order in which the tables were declared. It
// skips tables for which atFault returns true. These tables already have problems, so the effect of an erasure on their
// rows is unknown.
func problems(m datamap.DataMap, atFault func(table string) bool) []domain.Problem {
	if atFault == nil {
		atFault = func(string) bool { return false }
	}
	var found []domain.Problem
	for _, table := range m.Declared() {
		if !atFault(table.Name) {
			found = append(found, checked{m, table, atFault}.check()...)
		}
	}
	return found
}

// checked is the table that is being checked, with its data map.
type checked struct {
	datamap.DataMap
	table   datamap.Table
	atFault func(table string) bool
}

// paths returns the paths of the table. If they are unknown, it returns one path without relations, so that a caller
// still checks the table once.
func (c checked) paths() []datamap.Path {
	if paths := c.Paths(c.table.Name); len(paths) > 0 {
		return paths
	}
	return []datamap.Path{{}}
}

// deletesRows reports whether an erasure deletes rows of the parent table. It considers only the rows that one of the
// given paths connects to the subject. If no path is given, it considers the rows of all paths. It returns false for a
// table that already has problems.
func (c checked) deletesRows(parent datamap.Table, paths ...datamap.Path) bool {
	if len(paths) == 0 {
		paths = checked{c.DataMap, parent, c.atFault}.paths()
	}
	return !c.atFault(parent.Name) &&
		slices.ContainsFunc(paths, func(p datamap.Path) bool { return c.RowsDeleted(parent, p) })
}

func (c checked) check() []domain.Problem {
	var found []domain.Problem
	stays, orphanedBy := false, map[string]bool{}
	for _, path := range c.paths() {
		if c.RowsDeleted(c.table, path) {
			found = append(found, c.checkDeletingPath(path)...)
			continue
		}
		stays = true
		found = append(found, c.checkSurvivor(path, orphanedBy)...)
	}
	if !stays {
		return append(found, c.checkReferences()...)
	}
	for _, relation := range c.table.Relations {
		parent, inMap := c.Table(relation.References)
		switch {
		case !inMap || relation.When != nil || parent.Name == c.table.Name,
			!c.deletesRows(parent), orphanedBy[parent.Name]:
		case c.isFirstOfPath(relation): // the steps of the path delete or clear these rows first
		case !relation.SetsNull:
			found = append(found, c.orphaned(parent, "to which it refers without ON DELETE SET NULL", c.paths()))
		default:
			found = append(found, c.checkSetNull(relation)...)
		}
	}
	for _, column := range c.table.Personal() {
		if c.overwrites(column) && c.IsKey(c.table, column.Name) {
			found = append(found, domain.Problem{
				Table: c.table.Name, Column: column.Name,
				Message: "would be " + overwritten(column) + ", but it identifies or links rows that survive",
				Found:   string(column.Personal.Strategy),
				Remedy:  "remove its annotation, retain the column, or have the whole row deleted",
			})
		}
	}
	return found
}

// checkReferences checks a table whose rows an erasure deletes. It returns a problem for each relation to another
// table from which the erasure deletes rows, if a row of one person may refer to a deleted row of another person. The
// database then deletes the row of the other person, too, or refuses the erasure.
func (c checked) checkReferences() []domain.Problem {
	var found []domain.Problem
	for _, relation := range c.table.Relations {
		parent, inMap := c.Table(relation.References)
		switch {
		case !inMap || relation.When != nil || parent.Name == c.table.Name,
			!c.deletesRows(parent), relation.SamePerson, c.isFirstOfPath(relation), c.staysWithOwner(relation, parent):
		case relation.SetsNull:
			found = append(found, c.checkSetNull(relation)...)
		default:
			found = append(found, domain.Problem{
				Table: c.table.Name, Column: strings.Join(relation.Columns, ", "),
				Message: "refers to " + parent.Name + " by the relation " + cmp.Or(relation.Name, relation.References) +
					", which is not a path, but an erasure deletes rows of " + parent.Name +
					": rows of other people may refer to them",
				Remedy: "mark the relation as a path that deletes the row or clears the reference " +
					`(subject:"path,erasure:delete" or subject:"path,erasure:null"; "path" and "erasure" in a manifest), ` +
					"declare ON DELETE SET NULL, or keep the rows of " + parent.Name +
					`. If both rows always belong to the same person, say so (subject:"same"; "same_person" in a manifest)`,
			})
		}
	}
	return found
}

// staysWithOwner reports whether a row and the row of the parent table that it refers to always belong to the same
// person, because the relation contains the reference to this person. For example, (user_id, order_id) refers to
// (user_id, id) of orders, and user_id is the path of both tables.
func (c checked) staysWithOwner(relation datamap.Relation, parent datamap.Table) bool {
	mapped := func(own, others datamap.Relation) bool {
		return own.References == others.References && slices.Equal(own.ReferencedColumns, others.ReferencedColumns) &&
			!slices.ContainsFunc(own.Columns, func(name string) bool {
				i := slices.Index(relation.Columns, name)
				return i < 0 || relation.ReferencedColumns[i] != others.Columns[slices.Index(own.Columns, name)]
			})
	}
	return slices.ContainsFunc(c.paths(), func(own datamap.Path) bool {
		return len(own.Relations) > 0 && slices.ContainsFunc(c.Paths(parent.Name), func(others datamap.Path) bool {
			return len(others.Relations) > 0 && mapped(own.Relations[0], others.Relations[0])
		})
	})
}

// isFirstOfPath reports whether the relation is the first reference of a path from the table to the subject.
func (c checked) isFirstOfPath(relation datamap.Relation) bool {
	return slices.ContainsFunc(c.paths(), func(p datamap.Path) bool {
		return len(p.Relations) > 0 && p.Relations[0].Equals(relation)
	})
}

// overwrites reports whether an erasure overwrites the column in rows that survive.
func (c checked) overwrites(column datamap.Column) bool {
	return column.Personal.Strategy != domain.StrategyRetain &&
		slices.ContainsFunc(c.paths(), func(p datamap.Path) bool { return p.Has(column) && !c.RowsDeleted(c.table, p) })
}

// checkDeletingPath checks a path to the subject with the strategy delete: an erasure deletes the rows that the path
// connects to the subject. It returns a problem for each column whose strategy would keep its row.
func (c checked) checkDeletingPath(path datamap.Path) []domain.Problem {
	var found []domain.Problem
	for _, column := range c.table.Personal() {
		problem := domain.Problem{Table: c.table.Name, Column: column.Name, Found: string(column.Personal.Strategy)}
		switch {
		case column.Personal.Strategy == domain.StrategyRetain:
			problem.Code, problem.Message = domain.ErrRetention, "is retained, but "+pathName(path)+" deletes its row"
			problem.Remedy = "keep the row: remove erasure:delete from the path"
		case path.Has(column) && column.Personal.Strategy != domain.StrategyErase &&
			column.Personal.Strategy != domain.StrategyDelete:
			problem.Message = "has a strategy that keeps its row, but " + pathName(path) + " deletes its row"
			problem.Remedy = "remove erasure:delete from the path, or remove the erasure strategy of the column"
		default:
			continue
		}
		found = append(found, problem)
	}
	return found
}

// pathName returns the name of a path in a message.
func pathName(path datamap.Path) string {
	if path.Via == "" {
		return "the path to the subject"
	}
	return "the path " + path.Via
}

// checkSurvivor checks a path whose rows survive the erasure. It returns problems if the erasure interrupts the path,
// which happens in two cases:
//
//   - The erasure deletes the rows of another table on the path.
//   - The erasure sets a reference on the path to NULL, but a column of the rows is retained.
func (c checked) checkSurvivor(path datamap.Path, orphanedBy map[string]bool) []domain.Problem {
	onward, rest := c.RemainingPaths(path), path
	for i, relation := range path.Relations {
		if rest.OnErasure() == domain.StrategyNull {
			return c.checkClearedPath(path)
		}
		rest = onward[i]
		parent, _ := c.Table(relation.References)
		if !c.deletesRows(parent, onward[i]) {
			continue
		}
		if orphanedBy[parent.Name] {
			return nil
		}
		orphanedBy[parent.Name] = true
		lostPaths := slices.DeleteFunc(slices.Clone(c.paths()), func(p datamap.Path) bool {
			return !p.Relations[0].Equals(path.Relations[0])
		})
		// One problem is sufficient, so the further relations of the path are not checked.
		return []domain.Problem{c.orphaned(parent, "on its path to the subject", lostPaths)}
	}
	return nil
}

// checkClearedPath returns one problem for each retained column, if an erasure sets the reference to the subject to
// NULL. After that, no export and no later erasure could find the retained columns.
func (c checked) checkClearedPath(path datamap.Path) []domain.Problem {
	var found []domain.Problem
	for _, column := range path.Personal(c.table) {
		if column.Personal.Strategy == domain.StrategyRetain {
			found = append(found, domain.Problem{
				Code: domain.ErrRetention, Table: c.table.Name, Column: column.Name,
				Message: "is retained, but " + pathName(path) + " is set to NULL; after that, no export and no erasure can find it",
				Remedy:  "keep the reference: remove erasure:null from the path",
			})
		}
	}
	return found
}

// checkSetNull checks a reference that the database sets to NULL. It returns one problem for each column of the
// reference that must keep its value. Such a column is retained, is part of a key, or connects the row to the subject.
func (c checked) checkSetNull(relation datamap.Relation) []domain.Problem {
	var found []domain.Problem
	for _, name := range relation.Columns {
		column, _ := c.table.Column(name)
		retained := column.Personal != nil && column.Personal.Strategy == domain.StrategyRetain
		onPath := slices.ContainsFunc(c.paths(), func(p datamap.Path) bool {
			return len(p.Relations) > 0 && p.Relations[0].Links(name)
		})
		code := domain.ErrManifest
		switch {
		case retained:
			code = domain.ErrRetention
		case !onPath && !slices.Contains(c.table.PrimaryKey, name) && !slices.Contains(c.table.SubjectKey, name):
			continue
		}
		found = append(found, domain.Problem{
			Code: code, Table: c.table.Name, Column: name,
			Message: "must keep its value, but the database sets it to NULL when the rows of " + relation.References +
				" are deleted",
			Remedy: "keep the rows of " + relation.References + ", or delete the rows of " + c.table.Name + " as well",
		})
	}
	return found
}

// orphaned returns the problem that rows of the table survive an erasure but refer to deleted rows of the parent table.
// The text of the problem describes the reference with the given words. It also names the given paths to the subject,
// which the deletion interrupts.
func (c checked) orphaned(parent datamap.Table, how string, lostPaths []datamap.Path) domain.Problem {
	keep := "keep the rows of " + parent.Name + " by anonymizing one of their columns"
	if slices.ContainsFunc(c.Paths(parent.Name), func(p datamap.Path) bool {
		return p.OnErasure() == domain.StrategyDelete
	}) {
		keep = "keep the rows of " + parent.Name + ": remove erasure:delete from their path"
	}
	problem := domain.Problem{
		Code: domain.ErrManifest, Table: c.table.Name,
		Message: "its rows survive an erasure, but the rows of " + parent.Name + ", " + how + ", are deleted",
		Found:   strings.Join(c.keptBy(), ", "),
		Remedy:  "delete the rows of " + c.table.Name + " as well, or " + keep,
	}
	for _, column := range c.table.Personal() {
		ofLost := slices.ContainsFunc(lostPaths, func(p datamap.Path) bool { return p.Has(column) })
		if ofLost && column.Personal.Strategy == domain.StrategyRetain {
			problem.Code, problem.Column = domain.ErrRetention, column.Name
			problem.Message = "is retained, but the rows of " + parent.Name + ", " + how + ", are deleted"
			problem.Found, problem.Remedy = "", keep
			break
		}
	}
	return problem
}

// keptBy returns the reasons why the rows of the table survive: the names of the columns whose strategies keep the
// rows. If there are none, it returns the names of the paths to the subject that do not delete the rows.
func (c checked) keptBy() []string {
	if kept := c.table.ColumnsKeepingRows(); len(kept) > 0 {
		return names(kept)
	}
	var vias []string
	for _, path := range c.paths() {
		if path.Via != "" && !c.RowsDeleted(c.table, path) {
			vias = append(vias, path.Via)
		}
	}
	return vias
}

func overwritten(column datamap.Column) string {
	if column.Personal.Strategy == domain.StrategyNull {
		return "set to NULL"
	}
	return "anonymized"
}

func names(columns []datamap.Column) []string {
	list := make([]string, len(columns))
	for i, column := range columns {
		list[i] = column.Name
	}
	return list
}
