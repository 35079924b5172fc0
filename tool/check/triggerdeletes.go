package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check/internal/triggers"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// checkDeletes reports a trigger that an erasure fires and that deletes rows of a table of the data map, or rows of
// another table that may belong to other people.
func (s *schema) checkDeletes(table datamap.Table, trigger trigger, at place) {
	if !s.fires(table.Name, trigger.CatalogTrigger) {
		return
	}
	for _, name := range trigger.Deletes {
		target, mapped := s.mappedTable(name)
		switch {
		case !mapped && (!s.isTiedByPath(table, name, trigger) || s.staysOut(name)):
			s.reportDeletes(trigger.CatalogTrigger, name, at)
		case mapped && !s.isTied(table, target, trigger):
			s.report(triggerDeletes, at,
				"An erasure fires the trigger "+trigger.Name+", which deletes rows of "+target.Name+
					". If these rows belong to another person, the erasure is refused.",
				"Remove the deletion from the trigger, or exempt the connection of habeas from it. If it deletes only rows of "+
					"the same person, accept the finding.")
		}
	}
}

// checkDeletesOutside reports the triggers of the tables outside the data map from which the database deletes rows
// because of a foreign key.
func (s *schema) checkDeletesOutside() {
	for _, name := range s.cascaded {
		live, _ := s.catalog.Table(name)
		for _, trigger := range live.Triggers {
			for _, deleted := range trigger.Deletes {
				if _, mapped := s.mappedTable(deleted); slices.Contains(trigger.Events, "DELETE") && mapped {
					s.report(triggerDeletes, place{table: name, object: trigger.Name},
						"An erasure deletes rows of "+name+" (ON DELETE CASCADE), and the trigger "+trigger.Name+
							" then deletes rows of "+deleted+". If these rows belong to another person, the erasure is refused.",
						"Add "+name+" to the data map, or remove the deletion from the trigger.")
				} else if slices.Contains(trigger.Events, "DELETE") {
					s.reportDeletes(trigger, deleted, place{table: name, object: trigger.Name})
				}
			}
		}
	}
}

// reportDeletes reports a trigger that an erasure fires and that deletes rows of a table outside the data map. It is a
// notice if the rows seem to be about nobody: no foreign key or reference leads to the table or from it to the data
// map, and its name does not suggest texts of people. If they hold no texts either, such as counters, there is none.
func (s *schema) reportDeletes(trigger datamap.CatalogTrigger, name string, at place) {
	live, ok := s.catalog.Table(name)
	switch {
	case !ok || !isTable(live) || !s.mayBelong(live) && !holdsTexts(live):
		return
	case !s.mayBelong(live):
		s.reportAs(notice, triggerDeletes, at,
			"An erasure fires the trigger "+trigger.Name+", which deletes rows of "+live.Name+
				". This table is not in the data map. The erasure reports only the number of these rows.",
			"If the rows must stay, remove the deletion from the trigger, or exempt the connection of habeas from it.")
		return
	}
	s.report(triggerDeletes, at,
		"An erasure fires the trigger "+trigger.Name+", which deletes rows of "+live.Name+
			". This table is not in the data map. If the rows belong to other people, the erasure deletes them, and does not "+
			"notice it.",
		"Remove the deletion from the trigger, or exempt the connection of habeas from it. If it deletes only rows of the "+
			"same person, accept the finding.")
}

// holdsTexts reports whether a table has a text or a document that is no key, and not one of a few values.
func holdsTexts(live datamap.CatalogTable) bool {
	return slices.ContainsFunc(live.Columns, func(c datamap.CatalogColumn) bool {
		isText := c.Type == datamap.TypeText || c.Type == datamap.TypeBytes || isDocument(c)
		return isText && !hasName(live, live.PrimaryKey, c.Name) && !live.IsChoice(c)
	})
}

// mayBelong reports whether rows of a table outside the data map may belong to people, or to things that people share.
func (s *schema) mayBelong(live datamap.CatalogTable) bool {
	refers := func(from, to datamap.CatalogTable) bool {
		return slices.ContainsFunc(from.ForeignKeys, func(f datamap.CatalogForeignKey) bool {
			return to.IsCalled(f.References)
		})
	}
	return names.Is(live.Name, names.Messages) || names.Is(live.Name, names.Things) || names.Is(live.Name, names.Duties) ||
		len(s.linksOf(live)) > 0 ||
		slices.ContainsFunc(s.catalog.Tables, func(other datamap.CatalogTable) bool {
			_, mapped := s.mapped[other.Name]
			return refers(other, live) || mapped && refers(live, other)
		})
}

// staysOut reports whether a person has decided that a table stays out of the data map, so that its rows must stay.
func (s *schema) staysOut(name string) bool {
	live, _ := s.catalog.Table(name)
	return s.isDecided(live.Name)
}

// isTiedByPath reports whether the rows that a trigger deletes from a table outside the data map have the key of the
// person of the row that fires it, in a column of the same name.
func (s *schema) isTiedByPath(table datamap.Table, name string, trigger trigger) bool {
	return slices.ContainsFunc(s.tiesOf(name, trigger), func(tie triggers.Tie) bool {
		return strings.EqualFold(tie.Column, tie.Row) && s.pathBy(table, tie.Row) == s.SubjectTable().Name
	})
}

// tiesOf returns the columns that tie the rows that a trigger deletes from a table to the row that fires it.
func (s *schema) tiesOf(name string, trigger trigger) []triggers.Tie {
	wanted, _ := s.catalog.Table(name)
	for called, ties := range trigger.Tied {
		if live, ok := s.catalog.Table(called); ok && live.Name == wanted.Name {
			return ties
		}
	}
	return nil
}

// pathBy returns the table to which a table of the data map has a path of one relation without a condition by the
// column. It returns "" if there is none.
func (s *schema) pathBy(t datamap.Table, column string) string {
	for _, path := range s.Paths(t.Name) {
		if len(path.Relations) == 1 && path.Relations[0].When == nil && len(path.Relations[0].Columns) == 1 &&
			sameName(s.live[t.Name], path.Relations[0].Columns[0], column) {
			return path.Relations[0].References
		}
	}
	return ""
}

// isTied reports whether the rows that a trigger deletes belong to the person of the row that fires it. They then have
// the same key of that person, or a path of them begins with a reference to this row.
func (s *schema) isTied(table, target datamap.Table, trigger trigger) bool {
	return slices.ContainsFunc(s.tiesOf(target.Name, trigger), func(tie triggers.Tie) bool {
		parent := s.pathBy(table, tie.Row)
		return parent != "" && strings.EqualFold(tie.Column, tie.Row) && parent == s.pathBy(target, tie.Column) ||
			s.hangsOn(target, table, tie)
	})
}

// hangsOn reports whether a path of a table begins with the tied column, which refers to the row of another table.
func (s *schema) hangsOn(table, on datamap.Table, tie triggers.Tie) bool {
	return slices.ContainsFunc(s.Paths(table.Name), func(p datamap.Path) bool {
		if len(p.Relations) == 0 {
			return false
		}
		first := p.Relations[0]
		return first.References == on.Name && first.When == nil && len(first.Columns) == 1 &&
			sameName(s.live[table.Name], first.Columns[0], tie.Column) &&
			sameName(s.live[on.Name], first.ReferencedColumns[0], tie.Row)
	})
}
