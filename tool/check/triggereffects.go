package check

import "github.com/habeas-data/habeas/domain/datamap"

// checkEffects reports a trigger that refuses or replaces statements of an erasure.
func (s *schema) checkEffects(table datamap.Table, live datamap.CatalogTable, trigger trigger, at place) {
	if !s.fires(table.Name, trigger.CatalogTrigger) {
		return
	}
	switch {
	case trigger.Instead && isTable(live), trigger.Skips == datamap.VerdictHolds:
		s.report(triggerReplaces, at,
			"The rule or trigger "+trigger.Name+" replaces or skips statements that an erasure runs. "+
				"The rows may stay unchanged, and the erasure is then refused.",
			"Drop it, or exempt the connection of habeas from it.")
	case trigger.Refuses == datamap.VerdictHolds:
		s.report(triggerRefuses, at,
			"The trigger "+trigger.Name+" refuses each statement that fires it. The erasure fails.",
			"Drop it, or exempt the connection of habeas from it.")
	case trigger.Refuses != "", trigger.Skips != "":
		s.reportAs(notice, triggerRefuses, at,
			"The trigger "+trigger.Name+" refuses or skips some of the statements that fire it. If it refuses a statement of "+
				"an erasure, the erasure fails.", "Rehearse an erasure, which fires the trigger.")
		s.parts[part{triggerRefuses, at}] = triggerRefuses
	}
}

// foldRefusals replaces the findings about triggers that refuse or skip only some statements by one notice.
func (s *schema) foldRefusals() {
	if maybe := s.takeParts(triggerRefuses); len(maybe) > 0 {
		triggers := placesOf(maybe, func(f datamap.Finding) string { return f.Object + " of " + f.Table })
		s.reportAs(notice, triggerRefuses, place{table: s.SubjectTable().Name, object: triggers},
			"Some triggers refuse or skip some of the statements that fire them. If one of them refuses a statement of an "+
				"erasure, the erasure fails.",
			"Rehearse an erasure, which fires these triggers.")
	}
}
