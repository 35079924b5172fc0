package check

import "github.com/habeas-data/habeas/domain/datamap"

// checkDeletes reports a trigger that an erasure fires and that deletes rows of a table of the data map.
func (s *schema) checkDeletes(table datamap.Table, trigger datamap.CatalogTrigger, at place) {
	if !s.fires(table.Name, trigger) {
		return
	}
	for _, name := range trigger.Deletes {
		target, mapped := s.mappedTable(name)
		if !mapped {
			continue
		}
		s.report(triggerDeletes, at,
			"An erasure fires the trigger "+trigger.Name+", which deletes rows of "+target.Name+
				". If these rows belong to another person, the erasure is refused.",
			"Remove the deletion from the trigger, or exempt the connection of habeas from it. If it deletes only rows of the "+
				"same person, accept the finding.")
	}
}
