package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// checkKind reports a table of the data map whose rows an erasure cannot lock or change, and a view that may hide rows.
func (s *schema) checkKind(table datamap.Table, live datamap.CatalogTable) {
	at := place{table: table.Name, object: live.Name}
	isView, isLocked := live.Kind == datamap.KindView, s.needed[table.Name] && s.isLocked(table.Name)
	switch {
	case !live.Kind.IsLockable():
		if isLocked {
			s.report("rows-not-lockable", place{table: table.Name},
				"It is a "+live.Kind.InWords()+", whose rows an erasure cannot lock. Every erasure fails.")
		}
		return
	case isView && live.Unlockable && isLocked:
		s.report("view-unlockable", at,
			"It is a view that groups, combines or computes rows. The database cannot lock the rows "+
				"below it, so that an erasure fails or misses a concurrent change.")
	case isView && live.FoldsCase:
		if missing := s.notReplaced(table, live); len(missing) > 0 {
			s.report("view-unlockable", at, "It is a view. SQLite locks and changes no rows through it, and it has no trigger "+
				"INSTEAD OF "+strings.Join(missing, " or ")+". The erasure fails.")
		}
	}
	switch {
	case isView && table.Trusted:
		s.report("view-trusted", at)
	case !s.catalog.TrustsRowFilters && s.needed[table.Name] && !live.ShowsAll(table):
		s.report("view-mapped", at)
	}
}

// notReplaced returns the kinds of statements of an erasure on a view for which no trigger acts in place of the view.
func (s *schema) notReplaced(table datamap.Table, live datamap.CatalogTable) (events []string) {
	for _, step := range s.steps {
		event := "UPDATE"
		if step.Strategy == domain.StrategyDelete {
			event = "DELETE"
		}
		if step.Target == table.Name && step.Strategy != domain.StrategyRetain && !slices.Contains(events, event) &&
			!slices.ContainsFunc(live.Triggers, func(t datamap.CatalogTrigger) bool {
				return t.Instead && slices.Contains(t.Events, event)
			}) {
			events = append(events, event)
		}
	}
	return events
}

func (s *schema) isLocked(table string) bool {
	changes := slices.ContainsFunc(s.steps, func(step datamap.Step) bool {
		return step.Target == table && step.Strategy != domain.StrategyRetain
	})
	return changes || table != s.SubjectTable().Name && s.isOnPath(table)
}
