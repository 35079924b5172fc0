package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkCopies reports materialized views, full-text indexes and full-text columns that hold copies of personal data,
// and large objects, which stay when their row goes.
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
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		if s.needed[table.Name] {
			s.checkSearchColumns(table, live)
			s.checkLargeObjects(table, live)
		}
	})
}

func (s *schema) checkMatView(view datamap.CatalogTable) {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		if slices.Contains(view.Reads, live.Name) && s.holdsRowsOf(table, live, view) {
			s.report("view-copies", place{table: view.Name, object: view.Name},
				"The materialized view reads "+table.Name+". It keeps deleted and overwritten data until it is refreshed.")
		}
	})
}

// holdsRowsOf reports whether a view shows the key of a person, or a text, a document or bytes, and reads a personal
// column of the table. A view that only counts shows numbers and instants.
func (s *schema) holdsRowsOf(table datamap.Table, live, view datamap.CatalogTable) bool {
	used := view.Uses[live.Name]
	isKey := func(name string) bool { return slices.Contains(used, name) && hasAll(view, []string{name}) }
	if slices.ContainsFunc(table.SubjectKey, isKey) {
		return true
	}
	for _, path := range s.Paths(table.Name) {
		if len(path.Relations) > 0 && slices.ContainsFunc(path.Relations[0].Columns, isKey) {
			return true
		}
	}
	readsPersonal := table.Owned || slices.ContainsFunc(table.Personal(), func(c datamap.Column) bool {
		return used == nil && hasAll(view, []string{c.Name}) || hasName(live, used, c.Name)
	})
	return readsPersonal && slices.ContainsFunc(view.Columns, func(c datamap.CatalogColumn) bool {
		switch family(c.Type) { //nolint:exhaustive // the other types hold numbers, instants and keys
		case datamap.TypeText, datamap.TypeJSON, datamap.TypeBytes, "":
			return true
		}
		return false
	})
}

// checkSearch reports a full-text index of SQLite with columns of the same names as annotated ones, if no triggers
// update it after each UPDATE and DELETE.
func (s *schema) checkSearch(index datamap.CatalogTable) {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		var copied []string
		for _, column := range table.Personal() {
			if hasAll(index, []string{column.Name}) {
				copied = append(copied, column.Name)
			}
		}
		keeps := func(event string) bool {
			return slices.ContainsFunc(live.Triggers, func(t datamap.CatalogTrigger) bool {
				return slices.Contains(t.Events, event) && slices.Contains(t.Writes, index.Name)
			})
		}
		if len(copied) > 0 && (!keeps("UPDATE") || !keeps("DELETE")) {
			s.report("search-copies", place{table: index.Name, column: list(copied)},
				"The full-text index has columns of the same names as "+table.Name+", but no trigger of "+table.Name+
					" updates it when rows change. It keeps deleted and overwritten data.",
				"Update it with triggers for UPDATE and DELETE, or in the hook BeforeErasure and accept the finding.")
		}
	})
}

// checkSearchColumns reports full-text columns in rows that an erasure overwrites, if no trigger can compute them
// again.
func (s *schema) checkSearchColumns(table datamap.Table, live datamap.CatalogTable) {
	isComputed := slices.ContainsFunc(live.Triggers,
		func(t datamap.CatalogTrigger) bool { return s.fires(table, live, t) })
	if len(s.writtenColumns(table.Name)) == 0 || isComputed {
		return
	}
	for _, found := range live.Columns {
		column, _ := live.Mapped(table, found.Name)
		if found.Declared == "tsvector" && !found.Generated && column.Personal == nil && !column.NotPersonal {
			s.report("search-copies", place{table: table.Name, column: found.Name},
				"The column holds the words of a text, and no trigger computes it again from the row at an UPDATE. It keeps the "+
					"words of overwritten values.",
				"Generate the column from the text, or fill it with a trigger for UPDATE. If it holds no personal data, declare "+
					"that ({none}).")
		}
	}
}

// checkLargeObjects reports columns with the numbers of large objects of PostgreSQL. The database keeps such an object
// when the row with its number is changed or deleted.
func (s *schema) checkLargeObjects(table datamap.Table, live datamap.CatalogTable) {
	for _, found := range live.Columns {
		column, _ := live.Mapped(table, found.Name)
		isUnlinked := slices.ContainsFunc(live.Triggers, func(t datamap.CatalogTrigger) bool {
			return strings.Contains(t.Definition, "lo_manage") && s.fires(table, live, t)
		})
		if found.Declared == "oid" && !column.NotPersonal && !isUnlinked {
			s.report("large-object", place{table: table.Name, column: found.Name})
		}
	}
}
