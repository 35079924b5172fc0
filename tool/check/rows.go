package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkRows reports values that an erasure leaves although it changes or deletes their row: copies that a trigger
// keeps in the same row, full-text columns that nothing computes again, and large objects.
func (s *schema) checkRows() {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		if !s.needed[table.Name] {
			return
		}
		if s.mayKeepRows(table) && len(table.Personal()) > 0 {
			for _, trigger := range live.Triggers {
				s.checkAssignments(table, live, trigger)
			}
			s.checkSearchColumns(table, live)
		}
		s.checkLargeObjects(table, live)
	})
}

// checkAssignments reports columns into which a trigger copies personal values of the same row. A trigger that copies
// the new values at each UPDATE copies the surrogates, too, and is no problem.
func (s *schema) checkAssignments(table datamap.Table, live datamap.CatalogTable, trigger datamap.CatalogTrigger) {
	for _, set := range trigger.Sets {
		column, known := live.Mapped(table, set.Column)
		isFresh := !set.Old && slices.Contains(trigger.Events, "UPDATE")
		copied := s.personalOf(table, live, set)
		if column.NotPersonal || len(copied) == 0 || isFresh || !set.Old && known && column.Personal != nil ||
			isSearch(live, set.Column) || set.Old && !slices.Contains(trigger.Events, "UPDATE") {
			continue
		}
		at := place{table: table.Name, column: set.Column, object: trigger.Name}
		if set.Old {
			s.report(triggerCopies, at, "When an erasure overwrites "+list(copied)+", the trigger "+trigger.Name+
				" copies the old value into the column. It survives the erasure, or the erasure is refused.",
				"Exempt the connection of habeas from the trigger, or remove the column from it.")
			continue
		}
		s.report(triggerCopies, at, "The trigger "+trigger.Name+" copies "+list(copied)+" into the column, but not at an "+
			"UPDATE. The copy survives an erasure.", "Annotate the column, or let the trigger run for UPDATE, too.")
	}
}

// personalOf returns the annotated columns that the value of an assignment is made of.
func (s *schema) personalOf(table datamap.Table, live datamap.CatalogTable, set datamap.TriggerAssignment) []string {
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
			isComputed(live, found.Name) {
			continue
		}
		s.report(searchCopies, place{table: table.Name, column: found.Name},
			"The column holds the words of a text, and no trigger computes it again from the row at an UPDATE. It keeps the "+
				"words of overwritten values.",
			"Generate the column from the text, or fill it with a trigger for UPDATE. If it holds no personal data, "+
				s.declareNone())
	}
}

// isComputed reports whether a trigger computes the column from the new row at each UPDATE.
func isComputed(live datamap.CatalogTable, column string) bool {
	return slices.ContainsFunc(live.Triggers, func(t datamap.CatalogTrigger) bool {
		return slices.Contains(t.Events, "UPDATE") && slices.ContainsFunc(t.Sets, func(set datamap.TriggerAssignment) bool {
			return !set.Old && sameName(live, set.Column, column)
		})
	})
}

// checkLargeObjects reports columns with the numbers of large objects of PostgreSQL. The database keeps such an object
// when the row with its number is changed or deleted.
func (s *schema) checkLargeObjects(table datamap.Table, live datamap.CatalogTable) {
	for _, found := range live.Columns {
		column, _ := live.Mapped(table, found.Name)
		isLinked := slices.ContainsFunc(live.Triggers, func(t datamap.CatalogTrigger) bool {
			return t.Unlinks != "" && sameName(live, t.Unlinks, found.Name) && slices.Contains(t.Events, "DELETE")
		})
		if found.Declared != "oid" || column.NotPersonal || isLinked {
			continue
		}
		s.report(largeObject, place{table: table.Name, column: found.Name},
			"The column seems to hold numbers of large objects. An erasure does not delete the objects.",
			"Delete them with a trigger of the extension lo (lo_manage), for UPDATE and DELETE. If the column refers to no "+
				"object of a person, "+s.declareNone())
	}
}
