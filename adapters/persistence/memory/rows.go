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

// rowsOf returns where in the table the rows are that a path leads from to the subject. They are found from the
// subject's key on, so that rows which hold it are found without the subject's own row.
func (s *state) rowsOf(id domain.SubjectID, table string, path domain.Path) []int {
	return s.along(id, table, path.Relations)
}

func (s *state) along(id domain.SubjectID, table string, path []domain.Relation) []int {
	if len(path) == 0 {
		return s.linked(table, s.dataMap.SubjectTable().SubjectKey, links{domain.CanonicalTuple(id.Elements()): true})
	}
	toSubject := path[0]
	if key, ok := s.keyFor(id, toSubject); ok && len(path) == 1 {
		return s.holding(table, toSubject, links{key: true})
	}
	parents := pick(s.rows[toSubject.References], s.along(id, toSubject.References, path[1:]))
	return s.holding(table, toSubject, linksOf(parents, toSubject.ReferencedColumns))
}

// holding returns where in the table the rows are for which a relation holds one of the links.
func (s *state) holding(table string, relation domain.Relation, to links) []int {
	found := s.linked(table, relation.Columns, to)
	return slices.DeleteFunc(found, func(i int) bool { return !holds(relation.When, s.rows[table][i]) })
}

// keyFor returns the subject's key in the order of the columns of a relation, if the relation refers to just that key.
func (s *state) keyFor(id domain.SubjectID, relation domain.Relation) (link string, ok bool) {
	key := s.dataMap.SubjectTable().SubjectKey
	elements := make([]string, len(relation.ReferencedColumns))
	for i, name := range relation.ReferencedColumns {
		at := slices.Index(key, name)
		if at < 0 {
			return "", false
		}
		elements[i] = id.Elements()[at]
	}
	return domain.CanonicalTuple(elements), len(elements) == len(key)
}

// holds reports whether a condition holds for a row. One that is not there holds for all.
func holds(when *domain.Condition, row Row) bool {
	return when == nil || row[when.Column] != nil && textOf(row[when.Column]) == when.Value
}

// pathsOf returns where in the table the rows are that any path leads from to the subject, with these paths.
func (s *state) pathsOf(id domain.SubjectID, table string) (rows []int, paths map[int][]domain.Path) {
	paths = map[int][]domain.Path{}
	for _, path := range s.dataMap.Paths(table) {
		for _, i := range s.rowsOf(id, table, path) {
			paths[i] = append(paths[i], path)
		}
	}
	return slices.Sorted(maps.Keys(paths)), paths
}

// add adds a row, unless one that it refers to is not there.
func (s *state) add(table domain.Table, row Row) error {
	added := []Row{row}
	s.put(table.Name, append(s.rows[table.Name], row)) // first, as a row may refer to itself
	for _, relation := range table.Relations {
		_, inMap := s.dataMap.Table(relation.References)
		link := linksOf(added, relation.Columns)
		if !inMap || relation.When != nil || len(link) == 0 {
			continue
		}
		if len(s.linked(relation.References, relation.ReferencedColumns, link)) == 0 {
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
			if relation.References != table || relation.When != nil { // which no foreign key can hold
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

// sorted returns the positions of rows in the order of their primary key.
func sorted(table domain.Table, rows []Row, positions []int) []int {
	return slices.SortedStableFunc(slices.Values(positions), func(i, j int) int {
		for _, column := range table.PrimaryKey {
			if c := compare(rows[i][column], rows[j][column]); c != 0 {
				return c
			}
		}
		return 0
	})
}

// positions are those of all rows.
func positions(rows []Row) []int {
	all := make([]int, len(rows))
	for i := range rows {
		all[i] = i
	}
	return all
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
