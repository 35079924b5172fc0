package datamap

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// checkOnErasure reports a wrong Relation.OnErasure: an unknown value, a relation that neither begins a path nor leads
// to its own table, or a reference that cannot be NULL.
func (d *draft) checkOnErasure(table Table, relation Relation) {
	if relation.OnErasure == "" {
		return
	}
	report := d.reporter(table, strings.Join(relation.Columns, ", "))
	if relation.OnErasure != domain.StrategyDelete && relation.OnErasure != domain.StrategyNull {
		report(domain.Problem{
			Message: "refers by the relation " + relation.called() + ", which has an unknown value of erasure",
			Found:   string(relation.OnErasure), Possible: []string{string(domain.StrategyDelete), string(domain.StrategyNull)},
			Remedy: "use delete to delete the row, or null to set the reference to NULL",
		})
		return
	}
	isSelf := relation.References == table.Name
	begins := slices.ContainsFunc(d.paths[table.Name], func(p Path) bool { return p.begins(relation) })
	switch {
	case isSelf && relation.OnErasure == domain.StrategyDelete:
		report(domain.Problem{
			Message: "refers by the relation " + relation.called() + " to its own table, which is not a path to a subject: " +
				"erasure:delete would delete rows of other people",
			Found: string(relation.OnErasure), Possible: []string{string(domain.StrategyNull)},
			Remedy: "use null to set the reference to NULL, or remove the option erasure",
		})
	case !begins && !isSelf:
		report(domain.Problem{
			Message: "refers by the relation " + relation.called() +
				", which has the option erasure, but is not a path to the subject",
			Found: string(relation.OnErasure), Remedy: "mark the relation as a path, or remove the option erasure",
		})
	case relation.OnErasure == domain.StrategyNull && len(d.clearable(table, relation)) == 0:
		remedy := "delete the row (erasure:delete), or remove the option erasure"
		if isSelf {
			remedy = "remove the option erasure"
		}
		report(domain.Problem{
			Message: "cannot be set to NULL: each column of the relation " + relation.called() +
				" is in a key or in another relation",
			Found: string(relation.OnErasure), Remedy: remedy,
		})
	}
}

// checkTableVia reports a wrong Table.Via, and returns whether it is right. These are the mistakes: a table that is not
// owned or that an erasure keeps, a table with one path, a path that the table does not have, and a path that clears
// its reference.
func (d *draft) checkTableVia(table Table) bool {
	paths, via, before := d.paths[table.Name], namesIn(table.Via), len(d.problems)
	report := func(found, message, remedy string) {
		d.report(domain.Problem{Table: table.Name, Message: message, Found: found, Remedy: remedy})
	}
	switch {
	case len(via) == 0:
	case !table.Owned:
		report(table.Via, "has via, but is not owned", "declare it owned, or set erasure:delete on the path")
	case len(paths) == 1:
		report(table.Via, "has via, but has only one path to the subject", "remove via, or mark another relation as a path")
	case !table.RowsDeleted():
		report(table.Via, "has via, which deletes its rows, but the rows stay because of "+
			strings.Join(table.columnsKeeping(), ", "), "remove via, or remove the erasure strategies of these columns")
	default:
		for _, name := range via {
			named := slices.DeleteFunc(slices.Clone(paths), func(p Path) bool { return !p.isCalled(name) })
			switch {
			case len(named) == 0:
				d.report(domain.Problem{
					Table: table.Name, Message: "belongs to a path that it does not have", Found: name, Possible: viasOf(paths),
				})
			case slices.ContainsFunc(named, func(p Path) bool { return p.OnErasure() == domain.StrategyNull }):
				report(name, "belongs to the path "+name+", but the reference at its start is set to NULL",
					"remove erasure:null from the relation, or name another path")
			}
		}
	}
	return len(d.problems) == before
}
