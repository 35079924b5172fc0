package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/names"
)

// checkTriggers finds triggers and rules that keep old values, or that take the place of the statements of an erasure.
func (s *schema) checkTriggers() {
	s.present(func(table domain.Table, live domain.CatalogTable) {
		if !s.needed[table.Name] {
			return
		}
		for _, trigger := range live.Triggers {
			at := place{table: table.Name, object: trigger.Name}
			if trigger.Instead && isTable(live) && s.fires(table.Name, trigger) {
				s.report(triggerReplaces, at,
					"The rule or trigger "+trigger.Name+" takes the place of statements that an erasure runs. "+
						"The rows may stay as they are; the erasure is then refused.",
					"Drop it, or exempt the connection of habeas from it.")
			}
			s.checkWrites(table, trigger, at)
		}
	})
}

// fires reports whether a statement of an erasure fires a trigger of the table.
func (s *schema) fires(table string, trigger domain.CatalogTrigger) bool {
	deletes := s.goes(table)
	updates := slices.ContainsFunc(s.writes, func(w write) bool { return w.table.Name == table })
	return deletes && slices.Contains(trigger.Events, "DELETE") || updates && slices.Contains(trigger.Events, "UPDATE")
}

// checkWrites judges the tables that a trigger writes. Each event counts: a trigger that fires when a row is inserted
// may have kept values that an erasure does not find.
func (s *schema) checkWrites(table domain.Table, trigger domain.CatalogTrigger, at place) {
	for _, name := range trigger.Writes {
		if _, mapped := s.named(name); mapped || len(table.Personal()) == 0 && !table.Owned {
			continue
		}
		target, known := s.catalog.Table(name)
		if known && target.Kind == domain.KindVirtual {
			continue // see checkCopies
		}
		switch copied := s.copied(table, target); {
		case len(copied) > 0:
			s.copies[target.Name] = true
			s.report(triggerCopies, at,
				"The trigger "+trigger.Name+" writes to "+name+", which is not in the data map and has columns of the same names: "+
					list(copied)+". Old values there outlive an erasure.",
				"Add "+name+" to the data map, or let the trigger leave these columns out.")
		case known && s.keepsRows(target):
			s.report(triggerCopies, at,
				"The trigger "+trigger.Name+" writes to "+name+", which is not in the data map and seems to keep whole rows as a "+
					"history. Old values there outlive an erasure.",
				"Add "+name+" to the data map, or let the trigger leave personal data out.")
		default:
			s.report(triggerWrites, at,
				"The trigger "+trigger.Name+" writes to "+name+", which is not in the data map. If it writes personal data, old "+
					"values there outlive an erasure.",
				"Add "+name+" to the data map if it holds personal data.")
		}
	}
	if trigger.Unread && len(table.Personal()) > 0 {
		s.report(triggerUnread, at,
			"The trigger "+trigger.Name+" builds its statements at run time, or is not in SQL: the tables to which it writes "+
				"cannot be determined. Old values there outlive an erasure.",
			"Make sure that each table to which it writes personal data is in the data map.")
	}
}

// copied returns the annotated columns of a table by whose names another table has columns, too.
func (s *schema) copied(table domain.Table, target domain.CatalogTable) []string {
	var found []string
	for _, column := range table.Personal() {
		if _, ok := target.Column(column.Name); ok {
			found = append(found, column.Name)
		}
	}
	return found
}

// keepsRows reports whether a table seems to keep whole rows of others: it is named like a history and has a column for
// any values.
func (s *schema) keepsRows(table domain.CatalogTable) bool {
	isHistory := names.Is(table.Name, names.Activities) || slices.ContainsFunc(domain.NameWords(table.Name), func(w string) bool {
		return slices.Contains([]string{"audit", "history", "archive", "versions", "log", "logs", "shadow", "journal"}, w)
	})
	return isHistory && slices.ContainsFunc(table.Columns, func(c domain.CatalogColumn) bool {
		return family(c.Type) == domain.TypeJSON || strings.Contains(c.Declared, "hstore") ||
			c.Type == domain.TypeText && slices.ContainsFunc(domain.NameWords(c.Name), func(w string) bool {
				return slices.Contains([]string{"old", "data", "row", "values", "payload", "changes", "diff", "snapshot"}, w)
			})
	})
}

// checkCopies finds materialized views and full-text indexes that hold copies of personal data.
func (s *schema) checkCopies() {
	for _, live := range s.catalog.Tables {
		if _, mapped := s.mapped[live.Name]; mapped {
			continue
		}
		switch live.Kind { //nolint:exhaustive // the others keep no copies
		case domain.KindMatView:
			s.checkMatView(live)
		case domain.KindVirtual:
			s.checkSearch(live)
		}
	}
}

func (s *schema) checkMatView(view domain.CatalogTable) {
	for _, table := range s.Declared() {
		live, ok := s.live[table.Name]
		if !ok || !slices.Contains(view.Reads, live.Name) || len(table.Personal()) == 0 && !table.Owned {
			continue
		}
		if !s.showsPersons(table, view) {
			continue
		}
		s.report(viewCopies, place{table: view.Name, object: view.Name},
			"The materialized view reads "+table.Name+". It keeps what an erasure has deleted or overwritten until it is "+
				"refreshed.", "Refresh it on a schedule, or after each erasure (the hook AfterErasure).")
	}
}

// showsPersons reports whether rows of a view seem to be about single persons: it has a column with the name of an
// annotated column, with a name that sounds personal, or that refers to the subject. A view of counts has none of them.
func (s *schema) showsPersons(table domain.Table, view domain.CatalogTable) bool {
	subject := s.SubjectTable()
	return len(s.copied(table, view)) > 0 || slices.ContainsFunc(view.Columns, func(c domain.CatalogColumn) bool {
		if _, ok := soundsPersonal(view.Name, view, c); ok {
			return true
		}
		return s.namedAfter(view, c, subject)
	})
}

func (s *schema) checkSearch(index domain.CatalogTable) {
	s.present(func(table domain.Table, live domain.CatalogTable) {
		copied := s.copied(table, index)
		if len(copied) == 0 || s.follows(live, index) {
			return
		}
		s.report(searchCopies, place{table: index.Name, column: list(copied)},
			"The full-text index has columns of the same names as "+table.Name+", and no trigger of "+table.Name+
				" keeps it up to date when rows are changed. It keeps what an erasure has deleted or overwritten.",
			"Update it by triggers for UPDATE and DELETE, or in the hook BeforeErasure.")
	})
}

// follows reports whether triggers of a table write to an index when rows are updated and deleted.
func (s *schema) follows(table, index domain.CatalogTable) bool {
	for _, event := range []string{"UPDATE", "DELETE"} {
		if !slices.ContainsFunc(table.Triggers, func(t domain.CatalogTrigger) bool {
			return slices.Contains(t.Events, event) && slices.Contains(t.Writes, index.Name)
		}) {
			return false
		}
	}
	return true
}
