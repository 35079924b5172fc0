package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check/internal/triggers"
)

// trigger is a trigger of a table, with the effects of its code.
type trigger struct {
	datamap.CatalogTrigger
	triggers.Effects
}

// triggersOf returns the triggers of a table.
func triggersOf(live datamap.CatalogTable) []trigger {
	all := make([]trigger, len(live.Triggers))
	for i, found := range live.Triggers {
		all[i] = trigger{found, triggers.Read(live, found)}
	}
	return all
}

// checkRows reports values that an erasure leaves although it changes or deletes their row: copies that a trigger
// keeps in the same row, full-text columns that nothing computes again, and large objects.
func (s *schema) checkRows() {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		if !s.needed[table.Name] {
			return
		}
		if s.mayKeepRows(table) && len(table.Personal()) > 0 {
			for _, trigger := range s.triggers[live.Name] {
				s.checkAssignments(table, live, trigger)
			}
			s.checkSearchColumns(table, live)
		}
		if s.mayKeepRows(table) {
			s.checkGathered(table, live)
		}
		s.checkLargeObjects(table, live)
	})
}

// checkAssignments reports columns into which a trigger copies personal values of the same row. If a trigger copies the
// new values whenever an erasure overwrites them, it copies the surrogates, too, and is no problem.
func (s *schema) checkAssignments(table datamap.Table, live datamap.CatalogTable, trigger trigger) {
	for _, set := range trigger.Sets {
		column, known := live.Mapped(table, set.Column)
		copied := s.personalOf(table, live, set)
		if column.NotPersonal || set.Old && !slices.Contains(trigger.Events, "UPDATE") {
			continue
		}
		if !set.Old {
			copied = slices.DeleteFunc(copied, func(name string) bool { return s.follows(live, set.Column, name) })
		}
		if len(copied) == 0 || !set.Old && known && column.Personal != nil || isSearch(live, set.Column) {
			continue
		}
		at := place{table: table.Name, column: set.Column, object: trigger.Name}
		if set.Old {
			s.report(triggerCopies, at, "When an erasure overwrites "+list(copied)+", the trigger "+trigger.Name+
				" copies the old value into the column. It survives the erasure, or the erasure is refused.",
				"Exempt the connection of habeas from the trigger, or remove the column from it.")
			continue
		}
		s.report(triggerCopies, at, "The trigger "+trigger.Name+" copies "+list(copied)+" into the column, but not at each "+
			"UPDATE that changes "+list(copied)+". The copy survives an erasure.",
			"Annotate the column, or let the trigger copy at each such UPDATE.")
	}
}

// follows reports whether a trigger surely sets the column to a new value when an erasure overwrites the other column,
// of which the value is made.
func (s *schema) follows(live datamap.CatalogTable, column, overwritten string) bool {
	return slices.ContainsFunc(s.triggers[live.Name], func(t trigger) bool {
		return slices.ContainsFunc(t.Sets, func(set triggers.Assignment) bool {
			reads := slices.Contains(set.Reads, "*") || hasName(live, set.Reads, overwritten)
			return reads && sameName(live, set.Column, column) &&
				slices.ContainsFunc(set.Follows, func(name string) bool { return s.areWrittenTogether(live, name, overwritten) })
		})
	})
}

// areWrittenTogether reports whether an erasure writes both columns of a table in the same statement.
func (s *schema) areWrittenTogether(live datamap.CatalogTable, a, b string) bool {
	return sameName(live, a, b) || slices.ContainsFunc(s.writes, func(w write) bool {
		if w.live.Name != live.Name {
			return false
		}
		var of [2][]bool // whether the columns wait for the end of a retention duty
		for _, column := range w.columns {
			for i, name := range []string{a, b} {
				if sameName(live, column.Name, name) {
					of[i] = append(of[i], column.expired)
				}
			}
		}
		return len(of[0]) > 0 && slices.Equal(of[0], of[1])
	})
}

// personalOf returns the annotated columns that the value of an assignment is made of.
func (s *schema) personalOf(table datamap.Table, live datamap.CatalogTable, set triggers.Assignment) []string {
	var found []string
	for _, column := range table.Personal() {
		whole := slices.Contains(set.Reads, "*")
		if (whole || hasName(live, set.Reads, column.Name)) && !sameName(live, column.Name, set.Column) {
			found = append(found, column.Name)
		}
	}
	return found
}

func isSearch(live datamap.CatalogTable, name string) bool {
	column, _ := live.Column(name)
	return column.Declared == "tsvector"
}

// checkSearchColumns reports full-text columns in rows that stay, if no trigger computes them again from the
// surrogates.
func (s *schema) checkSearchColumns(table datamap.Table, live datamap.CatalogTable) {
	if len(s.writtenColumns(table.Name)) == 0 {
		return
	}
	for _, found := range live.Columns {
		column, _ := live.Mapped(table, found.Name)
		if found.Declared != "tsvector" || found.Generated || column.Personal != nil || column.NotPersonal ||
			s.isComputed(table, live, found.Name) {
			continue
		}
		s.report(searchCopies, place{table: table.Name, column: found.Name},
			"The column holds the words of a text, and no trigger computes it again from the row at an UPDATE. It keeps the "+
				"words of overwritten values.",
			"Generate the column from the text, or fill it with a trigger for UPDATE. If it holds no personal data, "+
				s.declareNone())
	}
}

// isComputed reports whether triggers compute a full-text column again from the new row when an erasure overwrites one
// of the columns that they read.
func (s *schema) isComputed(table datamap.Table, live datamap.CatalogTable, column string) bool {
	computed := false
	for _, trigger := range s.triggers[live.Name] {
		for _, set := range trigger.Sets {
			if !sameName(live, set.Column, column) {
				continue
			}
			if computed = true; slices.ContainsFunc(s.personalOf(table, live, set), func(name string) bool {
				return !s.follows(live, column, name)
			}) {
				return false
			}
		}
	}
	return computed
}

// checkLargeObjects reports columns with the numbers of large objects of PostgreSQL. The database keeps such an object
// when the row with its number is changed or deleted.
func (s *schema) checkLargeObjects(table datamap.Table, live datamap.CatalogTable) {
	for _, found := range live.Columns {
		column, _ := live.Mapped(table, found.Name)
		event, isGone := "DELETE", true
		if s.mayKeepRows(table) {
			event, isGone = "UPDATE", slices.ContainsFunc(s.writtenColumns(table.Name), func(w written) bool {
				return w.live.Name == found.Name
			})
		}
		isLinked := isGone && slices.ContainsFunc(s.triggers[live.Name], func(t trigger) bool {
			return t.Unlinks != "" && sameName(live, t.Unlinks, found.Name) && slices.Contains(t.Events, event)
		})
		if found.Declared != "oid" || column.NotPersonal || isLinked {
			continue
		}
		s.report(largeObject, place{table: table.Name, column: found.Name},
			"The column seems to hold numbers of large objects. An erasure does not delete the objects.",
			"Delete them with a trigger of the extension lo (lo_manage), for UPDATE and DELETE. It deletes an object only "+
				"if the erasure also deletes the row or clears the column ("+s.says("erasure:null", `"erasure": "null"`)+
				"). If the column refers to no object of a person, "+s.declareNone())
	}
}
