package memory

import (
	"maps"
	"slices"

	"github.com/habeas-data/habeas/domain"
)

// links are tuples of values, in their text form, by which rows are found and refer to each other. A tuple with NULL in
// it is no link.
type links map[string]bool

func linksOf(rows []Row, columns []string) links {
	found := links{}
	for _, row := range rows {
		if link, ok := linkOf(row, columns); ok {
			found[link] = true
		}
	}
	return found
}

func linkOf(row Row, columns []string) (link string, ok bool) {
	if slices.ContainsFunc(columns, func(column string) bool { return row[column] == nil }) {
		return "", false
	}
	return domain.CanonicalTuple(texts(row, columns)), true
}

// texts are the values of some columns as texts.
func texts(row Row, columns []string) []string {
	values := make([]string, len(columns))
	for i, column := range columns {
		values[i] = textOf(row[column])
	}
	return values
}

// linked returns where in the table the rows are whose columns hold one of the links.
func (s *state) linked(table string, columns []string, to links) []int {
	var found []int
	for i, row := range s.rows[table] {
		if link, ok := linkOf(row, columns); ok && to[link] {
			found = append(found, i)
		}
	}
	return found
}

// rowsOf returns where in the table the subject's rows are. They are found from the subject's own rows on, along the
// path of relations that the data map has for the table.
func (s *state) rowsOf(id domain.SubjectID, table string) []int {
	path := s.dataMap.Path(table)
	if len(path) == 0 {
		return s.linked(table, s.dataMap.SubjectTable().SubjectKey, links{domain.CanonicalTuple(id.Elements()): true})
	}
	toSubject := path[0]
	parents := pick(s.rows[toSubject.References], s.rowsOf(id, toSubject.References))
	return s.linked(table, toSubject.Columns, linksOf(parents, toSubject.ReferencedColumns))
}

// add adds a row, unless one that it refers to is not there.
func (s *state) add(table domain.Table, row Row) error {
	added := []Row{row}
	s.put(table.Name, append(s.rows[table.Name], row)) // first, as a row may refer to itself
	for _, relation := range table.Relations {
		_, inMap := s.dataMap.Table(relation.References)
		link := linksOf(added, relation.Columns)
		if inMap && len(link) > 0 && len(s.linked(relation.References, relation.ReferencedColumns, link)) == 0 {
			return conflict("insert into "+table.Name, "a row of "+relation.References+" that it refers to is not there")
		}
	}
	return nil
}

// update changes rows of a table.
func (s *state) update(table string, positions []int, change func(position int, row Row)) {
	rows := slices.Clone(s.rows[table])
	for _, i := range positions {
		rows[i] = maps.Clone(rows[i])
		change(i, rows[i])
	}
	s.put(table, rows)
}

// remove removes rows of a table, and clears the relations of others to them where the data map says that the database
// does so. Any other row that refers to one of them is domain.ErrConflict.
func (s *state) remove(table string, positions []int) error {
	removed := pick(s.rows[table], positions)
	s.put(table, without(s.rows[table], positions)) // first, as they may refer to each other
	for _, other := range s.dataMap.Tables() {
		for _, relation := range other.Relations {
			if relation.References != table {
				continue
			}
			referring := s.linked(other.Name, relation.Columns, linksOf(removed, relation.ReferencedColumns))
			if len(referring) == 0 {
				continue
			}
			inKey := func(column string) bool { return slices.Contains(other.PrimaryKey, column) }
			if !relation.SetsNull || slices.ContainsFunc(relation.Columns, inKey) {
				return conflict("delete from "+table, "rows of "+other.Name+" still refer to one of its rows")
			}
			s.update(other.Name, referring, func(_ int, row Row) {
				for _, column := range relation.Columns {
					row[column] = nil
				}
			})
		}
	}
	return nil
}

// put gives a table other rows.
func (s *state) put(table string, rows []Row) {
	tables := maps.Clone(s.rows)
	if tables == nil {
		tables = map[string][]Row{}
	}
	tables[table] = rows
	s.rows = tables
}

// sorted returns rows in the order of their primary key.
func sorted(table domain.Table, rows []Row) []Row {
	return slices.SortedStableFunc(slices.Values(rows), func(a, b Row) int {
		for _, column := range table.PrimaryKey {
			if c := compare(a[column], b[column]); c != 0 {
				return c
			}
		}
		return 0
	})
}

func pick[T any](from []T, positions []int) []T {
	picked := make([]T, len(positions))
	for i, position := range positions {
		picked[i] = from[position]
	}
	return picked
}

func without[T any](from []T, positions []int) []T {
	gone := map[int]bool{}
	for _, position := range positions {
		gone[position] = true
	}
	var left []T
	for i, item := range from {
		if !gone[i] {
			left = append(left, item)
		}
	}
	return left
}
