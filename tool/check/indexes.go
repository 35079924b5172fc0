package check

import (
	"slices"
	"strconv"

	"github.com/habeas-data/habeas/domain/datamap"
)

// smallTable is the number of rows below which a table needs no index, because a scan of the table is cheap.
const smallTable = 1000

// checkIndexes reports columns that have no index although an erasure searches for rows by them. It also reports
// foreign keys that have no index, if an erasure deletes rows of the referenced table. For each deleted row, the
// database searches for referring rows.
func (s *schema) checkIndexes() {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		if !s.needed[table.Name] || !isTable(live) {
			return
		}
		if len(table.SubjectKey) > 0 {
			s.checkIndex(table.Name, live, table.SubjectKey, nil, "An erasure searches for the subject by the column.")
		}
		for _, path := range s.Paths(table.Name) {
			if len(path.Relations) > 0 {
				relation := path.Relations[0]
				s.checkIndex(table.Name, live, relation.Columns, relation.When, "An erasure searches for rows by the column.")
			}
		}
		for _, reference := range s.SelfReferences(table) {
			s.checkIndex(table.Name, live, reference.Relation.Columns, reference.Relation.When,
				"An erasure searches for references to deleted rows by the column.")
		}
	})
	for _, child := range s.catalog.Tables {
		for _, foreign := range child.ForeignKeys {
			parent, mapped := s.mappedTable(foreign.References)
			if !mapped || !s.deletesRows(parent.Name) {
				continue
			}
			name := child.Name
			if table, ok := s.mapped[child.Name]; ok {
				name = table.Name
			}
			s.checkIndex(name, child, foreign.Columns, nil,
				"For each row of "+parent.Name+" that an erasure deletes, the database searches for rows by the column.")
		}
	}
}

func (s *schema) checkIndex(
	name string, live datamap.CatalogTable, columns []string, when *datamap.Condition, why string,
) {
	if live.Rows >= 0 && live.Rows < smallTable || !hasAll(live, columns) || live.Kind == datamap.KindPartitioned {
		return // each partition of a partitioned table may have its own index
	}
	isPartial := func(index datamap.CatalogIndex) bool {
		return index.Partial && (len(index.Present) == 0 || !isSubset(live, index.Present, columns))
	}
	serves := func(index datamap.CatalogIndex) bool {
		if len(index.Columns) == 0 {
			return false
		}
		first := index.Columns[0]
		if when != nil && len(index.Columns) > 1 && sameName(live, first, when.Column) {
			first = index.Columns[1]
		}
		return hasName(live, columns, first)
	}
	i := slices.IndexFunc(live.Indexes, serves)
	partial := i >= 0 && !slices.ContainsFunc(live.Indexes, func(index datamap.CatalogIndex) bool {
		return serves(index) && !isPartial(index)
	})
	if i >= 0 && !partial {
		return
	}
	if slices.ContainsFunc(s.findings, func(f datamap.Finding) bool {
		return f.Code == "index-missing" && f.Table == name && hasName(live, columns, f.Column)
	}) {
		return // the index on one of the columns, which another finding asks for, serves this search, too
	}
	at := place{table: name, column: list(columns)}
	rows := " The database has no statistics about the number of rows."
	if live.Rows >= 0 {
		rows = " It has about " + strconv.FormatInt(live.Rows, 10) + " rows."
	}
	fact := why + " No index serves the search, so it scans the complete table." + rows
	if partial {
		fact = why + " The index " + live.Indexes[i].Name +
			" covers only some of the rows, so the search may scan the complete table." + rows
		at.object = live.Indexes[i].Name
	}
	s.report("index-missing", at, fact, "Create an index on "+list(columns)+".")
}
