package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check/internal/triggers"
)

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
	case len(s.restored(live, trigger)) > 0:
		s.report(triggerReplaces, at,
			"The trigger "+trigger.Name+" gives "+list(s.restored(live, trigger))+" the old value again when an erasure "+
				"overwrites it. The erasure is refused.",
			"Exempt the connection of habeas from the trigger, or remove the column from it.")
	case trigger.Refuses == datamap.VerdictHolds:
		s.report(triggerRefuses, at,
			"The trigger "+trigger.Name+" refuses each statement that fires it. The erasure fails.",
			"Drop it, or exempt the connection of habeas from it.")
	case s.refusesSurrogate(live, trigger) != "":
		s.report(triggerRefuses, at,
			"The trigger "+trigger.Name+" refuses the surrogate that an erasure writes into "+s.refusesSurrogate(live, trigger)+
				". The erasure fails.",
			"Give the column another surrogate, or exempt the connection of habeas from the trigger.")
	case s.refusesChange(live, trigger) != "":
		s.report(triggerRefuses, at,
			"The trigger "+trigger.Name+" refuses each change of "+s.refusesChange(live, trigger)+
				", which an erasure overwrites. The erasure fails.",
			"Exempt the connection of habeas from the trigger, or do not overwrite the column.")
	case renewedStart(table, live, trigger) != "":
		s.reportAs(notice, triggerRefuses, at,
			"The trigger "+trigger.Name+" sets "+renewedStart(table, live, trigger)+", at which a retention period"+
				" starts. If it gives a retained row another start, the erasure fails.",
			"Count the period from a column that no trigger changes.")
	case !s.mayRefuse(table, live, trigger):
	case trigger.Refuses != "", trigger.Skips != "":
		s.reportAs(notice, triggerRefuses, at,
			"The trigger "+trigger.Name+" refuses or skips some of the statements that fire it. If it refuses a statement of "+
				"an erasure, the erasure fails.", "Rehearse an erasure, which fires the trigger.")
		s.parts[part{triggerRefuses, at}] = triggerRefuses
	}
}

// renewedStart returns a column that a trigger sets at an UPDATE although a retention period starts at it, or "".
func renewedStart(table datamap.Table, live datamap.CatalogTable, trigger trigger) string {
	if !slices.Contains(trigger.Events, "UPDATE") {
		return ""
	}
	for _, column := range table.Personal() {
		if since := column.Personal.Since; slices.ContainsFunc(trigger.Renews, func(name string) bool {
			return sameName(live, name, since)
		}) {
			return since
		}
	}
	return ""
}

// mayRefuse reports whether a trigger may refuse or skip a statement of an erasure. It does not if only an UPDATE fires
// it, and it refuses only changes of columns that neither the erasure nor a trigger changes.
func (s *schema) mayRefuse(table datamap.Table, live datamap.CatalogTable, refusing trigger) bool {
	if s.deletesRows(table.Name) && slices.Contains(refusing.Events, "DELETE") {
		return true
	}
	var changed []string
	for _, column := range s.writtenColumns(table.Name) {
		changed = append(changed, column.live.Name)
	}
	for _, column := range live.Columns {
		if column.Generated {
			changed = append(changed, column.Name) // a trigger before the UPDATE sees no new value
		}
	}
	for _, foreign := range live.ForeignKeys {
		if foreign.ActsOnUpdate() || foreign.OnDelete == datamap.ActionSetNull ||
			foreign.OnDelete == datamap.ActionSetDefault {
			changed = append(changed, foreign.Columns...) // the database changes them with the referenced row
		}
	}
	set, known := triggers.SetsOf(live)
	return !known || triggers.MayRefuse(live, refusing.CatalogTrigger, append(changed, set...))
}

// refusesSurrogate returns a column whose surrogate a trigger refuses at each UPDATE. It returns "" if there is none,
// or if a trigger changes the column.
func (s *schema) refusesSurrogate(live datamap.CatalogTable, refusing trigger) string {
	if !slices.Contains(refusing.Events, "UPDATE") {
		return ""
	}
	isSet := func(name string) bool {
		return slices.ContainsFunc(s.triggers[live.Name], func(t trigger) bool {
			return slices.ContainsFunc(t.Sets, func(set triggers.Assignment) bool { return sameName(live, set.Column, name) })
		})
	}
	for name, text := range refusing.RefusesTexts {
		for _, w := range s.writes {
			if w.live.Name == live.Name && !isSet(name) && slices.ContainsFunc(w.columns, func(c written) bool {
				return sameName(live, name, c.Name) && !c.null && !c.expired && c.live.Type == datamap.TypeText &&
					c.Digits() == 0 && surrogateOf(c.Column).text == text
			}) {
				return name
			}
		}
	}
	return ""
}

// refusesChange returns a column that an erasure overwrites, although a trigger does not let its values change. It
// returns "" if there is none.
func (s *schema) refusesChange(live datamap.CatalogTable, refusing trigger) string {
	for _, w := range s.writes {
		for _, c := range w.columns {
			if w.live.Name == live.Name && !c.null && hasName(live, refusing.RefusesChanges, c.Name) {
				return c.Name
			}
		}
	}
	return ""
}

// restored returns the columns that an erasure overwrites, but to which a trigger surely gives the old value again.
func (s *schema) restored(live datamap.CatalogTable, restoring trigger) (columns []string) {
	for _, w := range s.writes {
		for _, c := range w.columns {
			to := triggers.Written{Null: c.null}
			if !c.null && c.live.Type == datamap.TypeText && c.Digits() == 0 {
				to.IsKnown, to.Text = true, surrogateOf(c.Column).text
			}
			if w.live.Name == live.Name && !slices.Contains(columns, c.Name) &&
				triggers.Restores(live, restoring.CatalogTrigger, c.live.Name, to) {
				columns = append(columns, c.Name)
			}
		}
	}
	return columns
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
