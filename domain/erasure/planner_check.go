package erasure

import (
	"errors"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Complete takes the error of domain.NewDataMap or of a reader of data maps, and adds the problems that Planner.Plan
// would find. A caller then sees all problems in one run. Complete checks only tables for which err lists no problem
// yet. It returns any other error unchanged.
func Complete(err error) error {
	if err == nil {
		return nil
	}
	var refused *domain.Error
	m, ok := domain.InvalidDataMap(err)
	if !ok || !errors.As(err, &refused) {
		return err
	}
	return refused.With(problems(m, func(table string) bool {
		return slices.ContainsFunc(refused.Problems, func(p domain.Problem) bool { return p.Table == table })
	}))
}

// problems returns the problems for which a data map has no plan, in the order in which its tables were declared. It
// skips tables for which atFault is true, because the effect on their rows is unknown.
func problems(m domain.DataMap, atFault func(table string) bool) []domain.Problem {
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

// checked is one table under check.
type checked struct {
	domain.DataMap
	table   domain.Table
	atFault func(table string) bool
}

// paths returns the paths of the table, or one path without relations if the paths are unknown.
func (c checked) paths() []domain.Path {
	if paths := c.Paths(c.table.Name); len(paths) > 0 {
		return paths
	}
	return []domain.Path{{}}
}

// goes reports whether an erasure deletes rows of parent along the given paths, or along any path if no path is given.
func (c checked) goes(parent domain.Table, along ...domain.Path) bool {
	if len(along) == 0 {
		along = checked{c.DataMap, parent, c.atFault}.paths()
	}
	return !c.atFault(parent.Name) &&
		slices.ContainsFunc(along, func(p domain.Path) bool { return c.RowsDeleted(parent, p) })
}

func (c checked) check() []domain.Problem {
	var found []domain.Problem
	stays, orphanedBy := false, map[string]bool{}
	for _, path := range c.paths() {
		if c.RowsDeleted(c.table, path) {
			found = append(found, c.deleted(path)...)
			continue
		}
		stays = true
		found = append(found, c.way(path, orphanedBy)...)
	}
	if !stays {
		return found
	}
	for _, relation := range c.table.Relations {
		parent, inMap := c.Table(relation.References)
		switch {
		case !inMap || relation.When != nil || parent.Name == c.table.Name || !c.goes(parent) || orphanedBy[parent.Name]:
		case c.begins(relation): // the steps of the path delete or clear these rows first
		case !relation.SetsNull:
			found = append(found, c.orphaned(parent, "to which it refers without ON DELETE SET NULL", c.paths()))
		default:
			found = append(found, c.cleared(relation)...)
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

// begins reports whether a path of the table begins with the relation.
func (c checked) begins(relation domain.Relation) bool {
	return slices.ContainsFunc(c.paths(), func(p domain.Path) bool {
		return len(p.Relations) > 0 && p.Relations[0].Equals(relation)
	})
}

// overwrites reports whether an erasure overwrites the column in rows that survive.
func (c checked) overwrites(column domain.Column) bool {
	return column.Personal.Strategy != domain.StrategyRetain &&
		slices.ContainsFunc(c.paths(), func(p domain.Path) bool { return p.Has(column) && !c.RowsDeleted(c.table, p) })
}

// deleted refuses a path that deletes rows although a column has to stay.
func (c checked) deleted(path domain.Path) []domain.Problem {
	var found []domain.Problem
	for _, column := range c.table.Personal() {
		problem := domain.Problem{Table: c.table.Name, Column: column.Name, Found: string(column.Personal.Strategy)}
		switch {
		case column.Personal.Strategy == domain.StrategyRetain:
			problem.Code, problem.Message = domain.ErrRetention, "is retained, but "+called(path)+" deletes its row"
			problem.Remedy = "keep the row: remove erasure:delete from the path"
		case path.Has(column) && column.Personal.Strategy != domain.StrategyErase &&
			column.Personal.Strategy != domain.StrategyDelete:
			problem.Message = "has a strategy that keeps its row, but " + called(path) + " deletes its row"
			problem.Remedy = "remove erasure:delete from the path, or remove the erasure strategy of the column"
		default:
			continue
		}
		found = append(found, problem)
	}
	return found
}

// called names a path in a message.
func called(path domain.Path) string {
	if path.Via == "" {
		return "the path to the subject"
	}
	return "the path " + path.Via
}

// way refuses a path of rows that survive if the erasure would disconnect the rows from the subject. It would do so by
// deleting rows on the path, or by clearing the path although a column along it is retained.
func (c checked) way(path domain.Path, orphanedBy map[string]bool) []domain.Problem {
	onward := c.RemainingPaths(path)
	for i, relation := range path.Relations {
		if relation.OnErasure == domain.StrategyNull {
			return c.cut(path)
		}
		parent, _ := c.Table(relation.References)
		if !c.goes(parent, onward[i]) {
			continue
		}
		if orphanedBy[parent.Name] {
			return nil
		}
		orphanedBy[parent.Name] = true
		lost := slices.DeleteFunc(slices.Clone(c.paths()), func(p domain.Path) bool {
			return !p.Relations[0].Equals(path.Relations[0])
		})
		return []domain.Problem{c.orphaned(parent, "on its path to the subject", lost)} // the rest adds no problem
	}
	return nil
}

// cut refuses a path that an erasure sets to NULL although it leads to retained columns. No later erasure could find
// them.
func (c checked) cut(path domain.Path) []domain.Problem {
	var found []domain.Problem
	for _, column := range path.Personal(c.table) {
		if column.Personal.Strategy == domain.StrategyRetain {
			found = append(found, domain.Problem{
				Code: domain.ErrRetention, Table: c.table.Name, Column: column.Name,
				Message: "is retained, but " + called(path) + " is set to NULL; no export and no later erasure can find it then",
				Remedy:  "keep the reference: remove erasure:null from the path",
			})
		}
	}
	return found
}

// cleared refuses a relation if the database sets its columns to NULL and one of them must stay. A column must stay if
// it is retained, if it is part of the primary key, or if it connects the row to the subject.
func (c checked) cleared(relation domain.Relation) []domain.Problem {
	var found []domain.Problem
	for _, name := range relation.Columns {
		column, _ := c.table.Column(name)
		retained := column.Personal != nil && column.Personal.Strategy == domain.StrategyRetain
		onPath := slices.ContainsFunc(c.paths(), func(p domain.Path) bool {
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
			Message: "must stay, but the database sets it to NULL when the rows of " + relation.References + " are deleted",
			Remedy:  "keep the rows of " + relation.References + ", or delete the rows of " + c.table.Name + " as well",
		})
	}
	return found
}

// orphaned returns the problem of rows that survive although the rows that they refer to are deleted. lost are the
// paths that end at the deleted rows.
func (c checked) orphaned(parent domain.Table, how string, lost []domain.Path) domain.Problem {
	keep := "keep the rows of " + parent.Name + " by anonymizing one of their columns"
	if slices.ContainsFunc(c.Paths(parent.Name), func(p domain.Path) bool {
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
		ofLost := slices.ContainsFunc(lost, func(p domain.Path) bool { return p.Has(column) })
		if ofLost && column.Personal.Strategy == domain.StrategyRetain {
			problem.Code, problem.Column = domain.ErrRetention, column.Name
			problem.Message = "is retained, but the rows of " + parent.Name + ", " + how + ", are deleted"
			problem.Found, problem.Remedy = "", keep
			break
		}
	}
	return problem
}

// keptBy returns the names of the columns that keep the rows of the table. If there are no such columns, it returns the
// paths along which the rows survive.
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

func overwritten(column domain.Column) string {
	if column.Personal.Strategy == domain.StrategyNull {
		return "set to NULL"
	}
	return "anonymized"
}

func names(columns []domain.Column) []string {
	list := make([]string, len(columns))
	for i, column := range columns {
		list[i] = column.Name
	}
	return list
}
