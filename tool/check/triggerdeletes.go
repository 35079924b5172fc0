package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkDeletes reports a trigger that an erasure fires and that deletes rows of a table of the data map.
func (s *schema) checkDeletes(table datamap.Table, trigger trigger, at place) {
	if !s.fires(table.Name, trigger.CatalogTrigger) {
		return
	}
	for _, name := range trigger.Deletes {
		target, mapped := s.mappedTable(name)
		if !mapped || s.isTied(table, target, trigger) {
			continue
		}
		s.report(triggerDeletes, at,
			"An erasure fires the trigger "+trigger.Name+", which deletes rows of "+target.Name+
				". If these rows belong to another person, the erasure is refused.",
			"Remove the deletion from the trigger, or exempt the connection of habeas from it. If it deletes only rows of the "+
				"same person, accept the finding.")
	}
}

// isTied reports whether the rows that a trigger deletes belong to the person of the row that fires it. They then have
// the same key of that person, in one of the tied columns.
func (s *schema) isTied(table, target datamap.Table, trigger trigger) bool {
	var tied []string
	for name, columns := range trigger.Tied {
		if deleted, mapped := s.mappedTable(name); mapped && deleted.Name == target.Name {
			tied = columns
		}
	}
	parentBy := func(t datamap.Table, column string) string {
		for _, path := range s.Paths(t.Name) {
			if len(path.Relations) == 1 && path.Relations[0].When == nil && len(path.Relations[0].Columns) == 1 &&
				sameName(s.live[t.Name], path.Relations[0].Columns[0], column) {
				return path.Relations[0].References
			}
		}
		return ""
	}
	return slices.ContainsFunc(tied, func(column string) bool {
		parent := parentBy(table, column)
		return parent != "" && parent == parentBy(target, column)
	})
}
