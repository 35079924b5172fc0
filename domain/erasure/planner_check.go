package erasure

import (
	"errors"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Complete adds to the error of a data map, as domain.NewDataMap and the readers return it, the mistakes for which
// Planner.Plan would refuse the tables that are otherwise right, so that all of them are seen at once. It returns any
// other error as it is.
func Complete(err error) error {
	if err == nil {
		return nil
	}
	var refused *domain.Error
	m, ok := domain.Draft(err)
	if !ok || !errors.As(err, &refused) {
		return err
	}
	return refused.With(problems(m, func(table string) bool {
		return slices.ContainsFunc(refused.Problems, func(p domain.Problem) bool { return p.Table == table })
	}))
}

// problems are the mistakes for which a data map has no plan, in the order in which its tables were declared. Tables
// that are at fault otherwise are left out, as what becomes of their rows is not known.
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

// checked is a table that is looked at for reasons why an erasure cannot do with its rows what the data map says.
type checked struct {
	domain.DataMap
	table   domain.Table
	atFault func(table string) bool
}

// paths are those of the table, and one without relations if they are not known.
func (c checked) paths() []domain.Path {
	if paths := c.Paths(c.table.Name); len(paths) > 0 {
		return paths
	}
	return []domain.Path{{}}
}

// goes reports whether rows of the other table are deleted that a path leads from, or any path.
func (c checked) goes(parent domain.Table, along ...domain.Path) bool {
	if len(along) == 0 {
		along = checked{c.DataMap, parent, c.atFault}.paths()
	}
	return !c.atFault(parent.Name) &&
		slices.ContainsFunc(along, func(p domain.Path) bool { return c.RowsGo(parent, p) })
}

func (c checked) check() []domain.Problem {
	var found []domain.Problem
	stays, orphanedBy := false, map[string]bool{}
	for _, path := range c.paths() {
		if c.RowsGo(c.table, path) {
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
		case c.begins(relation): // what is accepted of a path deletes or clears the rows first
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
				Remedy:  "leave its annotation out, retain it, or let the whole row be deleted",
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

// overwrites reports whether a column is overwritten in rows that stay.
func (c checked) overwrites(column domain.Column) bool {
	return column.Personal.Strategy != domain.StrategyRetain &&
		slices.ContainsFunc(c.paths(), func(p domain.Path) bool { return p.Has(column) && !c.RowsGo(c.table, p) })
}

// deleted refuses a path that deletes rows of which something has to stay.
func (c checked) deleted(path domain.Path) []domain.Problem {
	var found []domain.Problem
	for _, column := range c.table.Personal() {
		problem := domain.Problem{Table: c.table.Name, Column: column.Name, Found: string(column.Personal.Strategy)}
		switch {
		case column.Personal.Strategy == domain.StrategyRetain:
			problem.Code, problem.Message = domain.ErrRetention, "is retained, but "+called(path)+" deletes its row"
			problem.Remedy = "leave the row (no erasure:delete on the path)"
		case path.Has(column) && column.Personal.Strategy != domain.StrategyErase &&
			column.Personal.Strategy != domain.StrategyDelete:
			problem.Message = "would stay, but " + called(path) + " deletes its row"
			problem.Remedy = "leave the row (no erasure:delete on the path), or say nothing of the erasure of the column"
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

// way refuses a path from rows that stay: they would lose their way to the subject because rows on it are deleted, or
// because it is cut although something of them is retained.
func (c checked) way(path domain.Path, orphanedBy map[string]bool) []domain.Problem {
	onward := c.Onward(path)
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
		return []domain.Problem{c.orphaned(parent, "on its path to the subject", lost)} // what is above makes no difference
	}
	return nil
}

// cut refuses a path that an erasure cuts while it leads to retained columns: no later erasure could find them.
func (c checked) cut(path domain.Path) []domain.Problem {
	var found []domain.Problem
	for _, column := range path.Personal(c.table) {
		if column.Personal.Strategy == domain.StrategyRetain {
			found = append(found, domain.Problem{
				Code: domain.ErrRetention, Table: c.table.Name, Column: column.Name,
				Message: "is retained, but " + called(path) + " is set to NULL: no export and no later erasure could find it",
				Remedy:  "leave the reference (no erasure:null on the path)",
			})
		}
	}
	return found
}

// cleared refuses a relation whose columns the database clears with the other row, where one of them must stay:
// because it is retained, or because without it the row could not be told from others or would not be the subject's.
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
			Message: "must stay, but is set to null when the rows of " + relation.References + " are deleted",
			Remedy:  "keep the rows of " + relation.References + ", or let these rows be deleted as well",
		})
	}
	return found
}

// orphaned is the refusal of rows that stay while those that they refer to go. They lose the paths.
func (c checked) orphaned(parent domain.Table, how string, lost []domain.Path) domain.Problem {
	keep := "keep the rows of " + parent.Name + " by anonymizing one of their columns"
	if slices.ContainsFunc(c.Paths(parent.Name), func(p domain.Path) bool {
		return p.OnErasure() == domain.StrategyDelete
	}) {
		keep = "keep the rows of " + parent.Name + " (no erasure:delete on their path)"
	}
	problem := domain.Problem{
		Code: domain.ErrManifest, Table: c.table.Name,
		Message: "its rows survive an erasure, but the rows of " + parent.Name + ", " + how + ", are deleted",
		Found:   strings.Join(c.keptBy(), ", "),
		Remedy:  "let these rows be deleted as well, or " + keep,
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

// keptBy names the columns for which the rows of the table stay, or else the paths along which they do.
func (c checked) keptBy() []string {
	if kept := c.table.KeptBy(); len(kept) > 0 {
		return names(kept)
	}
	var vias []string
	for _, path := range c.paths() {
		if path.Via != "" && !c.RowsGo(c.table, path) {
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
