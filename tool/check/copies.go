package check

import (
	"regexp"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// checkTriggers reports triggers and rules that copy old values to other tables, or that replace the statements of an
// erasure.
func (s *schema) checkTriggers() {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		if !s.needed[table.Name] {
			return
		}
		for _, trigger := range s.triggers[live.Name] {
			at := place{table: table.Name, object: trigger.Name}
			s.checkEffects(table, live, trigger, at)
			s.checkWrites(table, trigger, at)
			s.checkDeletes(table, trigger, at)
		}
	})
	s.checkDeletesOutside()
	for _, written := range s.written {
		written.report(s)
	}
}

// fires reports whether an erasure fires the trigger of the table.
func (s *schema) fires(table string, trigger datamap.CatalogTrigger) bool {
	deletes := s.deletesRows(table)
	updates := slices.ContainsFunc(s.writes, func(w write) bool { return w.table.Name == table })
	return deletes && slices.Contains(trigger.Events, "DELETE") || updates && slices.Contains(trigger.Events, "UPDATE")
}

// checkWrites checks the tables that a trigger writes to. It ignores the event of the trigger, because even a trigger
// on INSERT may have copied values to a table that an erasure does not know.
func (s *schema) checkWrites(table datamap.Table, trigger trigger, at place) {
	for _, name := range trigger.Writes {
		if len(table.Personal()) == 0 && !table.Owned {
			continue
		}
		if mapped, ok := s.mappedTable(name); ok {
			s.checkKept(table, trigger, mapped)
			continue
		}
		target, known := s.catalog.Table(name)
		if known && target.Kind == datamap.KindVirtual {
			continue // checkCopies checks full-text indexes
		}
		if slices.ContainsFunc(trigger.Constant, func(called string) bool {
			live, ok := s.catalog.Table(called)
			return ok && live.Name == target.Name
		}) {
			continue
		}
		inserted, kept := s.inserted(table, trigger, target), s.kept(table, trigger, target)
		switch copied := s.copied(table, target); {
		case len(copied) > 0:
			s.copies[target.Name] = true
			s.addWrite(triggerCopies, at, name,
				"which is not in the data map but has columns of the same names: "+list(copied)+
					". Old values there survive an erasure.",
				"Add "+name+" to the data map, or remove these columns from the trigger.")
		case len(inserted) > 0:
			s.copies[target.Name] = true
			s.addWrite(triggerCopies, at, name,
				"which is not in the data map, and copies "+list(inserted)+" into its new rows. The copies survive an erasure.",
				"Add "+name+" to the data map, or remove these columns from the trigger.")
		case len(kept) > 0:
			s.copies[target.Name] = true
			s.addWrite(triggerCopies, at, name,
				"which is not in the data map, and writes old values of "+list(kept)+" into its rows. They survive an erasure.",
				"Add "+name+" to the data map, or remove these columns from the trigger.")
		case known && s.isHistory(target):
			s.copies[target.Name] = true
			s.addWrite(triggerCopies, at, name,
				"which is not in the data map but seems to keep complete rows as a history. Old values there survive an erasure.",
				"Add "+name+" to the data map, or remove personal data from the trigger.")
		case known && (s.isSettled(target.Name) || !s.mayHold(table, target)):
		default:
			s.addWrite(triggerWrites, at, name,
				"which is not in the data map. If personal data is written, old values there survive an erasure.",
				"Add "+name+" to the data map. If no personal data is written, accept the finding.")
		}
	}
	if trigger.Unread && (len(table.Personal()) > 0 || table.Owned) {
		s.report(triggerUnread, at,
			"The trigger "+trigger.Name+" builds its statements at run time or is not in SQL, so that the tables that it "+
				"writes to cannot be determined. Old values in these tables may survive an erasure.",
			"Add each table to which it writes personal data to the data map, and accept the finding.")
	}
}

// copied returns the names of the annotated columns for which target has a column of the same name.
func (s *schema) copied(table datamap.Table, target datamap.CatalogTable) []string {
	var found []string
	for _, column := range table.Personal() {
		if _, ok := target.Column(column.Name); ok {
			found = append(found, column.Name)
		}
	}
	return found
}

func hasWord(name string, among ...string) bool {
	return slices.ContainsFunc(names.Words(name), func(w string) bool { return slices.Contains(among, w) })
}

// checkCopies reports materialized views and full-text indexes that hold copies of personal data.
func (s *schema) checkCopies() {
	for _, live := range s.catalog.Tables {
		if _, mapped := s.mapped[live.Name]; mapped {
			continue
		}
		switch live.Kind { //nolint:exhaustive // the others keep no copies
		case datamap.KindMatView:
			s.checkMatView(live)
		case datamap.KindVirtual:
			s.checkSearch(live)
		}
	}
}

func (s *schema) checkMatView(view datamap.CatalogTable) {
	for _, table := range s.Declared() {
		live, ok := s.live[table.Name]
		if !ok || !slices.Contains(view.Reads, live.Name) || len(table.Personal()) == 0 && !table.Owned {
			continue
		}
		if !s.isPerPerson(table, view) {
			continue
		}
		s.report(viewCopies, place{table: view.Name, object: view.Name},
			"The materialized view reads "+table.Name+". It keeps deleted and overwritten data until it is refreshed.",
			"Refresh it on a schedule, or after each erasure in the hook AfterErasure, and accept the finding.")
	}
}

// isPerPerson reports whether each row of a view seems to be about one person. The view then has a column with the name
// of an annotated column, a column whose name suggests personal data, a reference to the subject, or a renamed column
// with personal data. For example, a view that counts orders per day has no such column.
func (s *schema) isPerPerson(table datamap.Table, view datamap.CatalogTable) bool {
	subject := s.SubjectTable()
	if len(s.copied(table, view)) > 0 || s.gathers(table, view) {
		return true
	}
	return slices.ContainsFunc(view.Columns, func(c datamap.CatalogColumn) bool {
		if _, ok := soundsPersonal(view.Name, view, c); ok {
			return true
		}
		return s.namedAfter(view, c, subject) || !s.counts(view) && s.isRenamed(table, view, c)
	})
}

// counts reports whether a view has one row for each group of rows, and no annotated column is one of the keys of the
// groups. Such a view holds numbers of rows, and the keys of the groups.
func (s *schema) counts(view datamap.CatalogTable) bool {
	keys, groups := groupsOf(view.Definition)
	return groups && !slices.ContainsFunc(keys, func(key string) bool {
		return slices.ContainsFunc(s.Declared(), func(table datamap.Table) bool {
			column, _ := s.live[table.Name].Mapped(table, keyColumn(key))
			return column.Personal != nil
		})
	})
}

// keyColumn returns the column of a key such as users.email::text.
func keyColumn(key string) string {
	key, _, _ = strings.Cut(key, "::")
	return strings.Trim(key[strings.LastIndexByte(key, '.')+1:], `"`)
}

// groupsOf returns the keys of the GROUP BY of the outermost query of a view. The second result is false if it has
// none, or if the view is a union of queries.
func groupsOf(definition string) (keys []string, ok bool) {
	depth, outer := 0, strings.Builder{} // outer has no text in brackets
	for _, r := range bracketed.ReplaceAllString(definition, "$1$2") {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
			outer.WriteRune(' ')
		case depth == 0:
			outer.WriteRune(r)
		}
	}
	text := strings.TrimRight(strings.Join(strings.Fields(outer.String()), " "), "; ")
	_, list, ok := strings.Cut(text, " GROUP BY ")
	if !ok || strings.Contains(text, " UNION ") {
		return nil, false
	}
	list, _, _ = strings.Cut(list, " HAVING ")
	list, _, _ = strings.Cut(list, " ORDER BY ")
	for key := range strings.SplitSeq(list, ",") {
		keys = append(keys, strings.TrimSpace(key))
	}
	return keys, true
}

// bracketed matches a name in brackets that are no call, such as (users.email)::text.
var bracketed = regexp.MustCompile(`(^|[^\w"])\(([\w."]+)\)`)

// isRenamed reports whether a text or a document of a view may be a renamed column with personal data of the table. The
// SQL of the view, and of the views that it reads, then names an annotated column, and no column of a table that it
// names has this name.
func (s *schema) isRenamed(table datamap.Table, view datamap.CatalogTable, column datamap.CatalogColumn) bool {
	live := s.live[table.Name]
	if column.Type != datamap.TypeText && family(column.Type) != datamap.TypeJSON && column.Type != datamap.TypeTime ||
		!slices.ContainsFunc(table.Personal(), func(c datamap.Column) bool {
			held, _ := live.Column(c.Name)
			return hasName(live, view.Uses[live.Name], c.Name) && !differ(held.Type, column.Type)
		}) {
		return false
	}
	for name, used := range view.Uses {
		below, _ := s.catalog.Table(name)
		isView := below.Kind == datamap.KindView || below.Kind == datamap.KindMatView // it may have renamed the column itself
		if !isView && slices.Contains(used, column.Name) {
			return false
		}
	}
	return true
}

func (s *schema) checkSearch(index datamap.CatalogTable) {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		copied := s.copied(table, index)
		if len(copied) == 0 || s.isKeptCurrent(live, index) {
			return
		}
		s.report(searchCopies, place{table: index.Name, column: list(copied)},
			"The full-text index has columns of the same names as "+table.Name+", but no trigger of "+table.Name+
				" updates it when rows change. It keeps deleted and overwritten data.",
			"Update it with triggers for UPDATE and DELETE, or in the hook BeforeErasure and accept the finding.")
	})
}

// isKeptCurrent reports whether triggers of the table update the full-text index after each UPDATE and DELETE.
func (s *schema) isKeptCurrent(table, index datamap.CatalogTable) bool {
	for _, event := range []string{"UPDATE", "DELETE"} {
		if !slices.ContainsFunc(table.Triggers, func(t datamap.CatalogTrigger) bool {
			return slices.Contains(t.Events, event) && slices.Contains(t.Writes, index.Name)
		}) {
			return false
		}
	}
	return true
}
