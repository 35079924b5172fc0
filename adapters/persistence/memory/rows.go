package memory

import (
	"maps"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// tuples is a set of keys. A key has one or more columns, and is stored as one text with the values of these columns. A
// row with NULL in one of the columns has no key.
type tuples map[string]bool

func tuplesOf(rows []Row, columns []string) tuples {
	found := tuples{}
	for _, row := range rows {
		if tuple, ok := tupleOf(row, columns); ok {
			found[tuple] = true
		}
	}
	return found
}

func tupleOf(row Row, columns []string) (tuple string, ok bool) {
	if slices.ContainsFunc(columns, func(column string) bool { return row[column] == nil }) {
		return "", false
	}
	return domain.CanonicalTuple(texts(row, columns)), true
}

// texts returns the values of columns as texts.
func texts(row Row, columns []string) []string {
	values := make([]string, len(columns))
	for i, column := range columns {
		values[i] = textOf(row[column])
	}
	return values
}

// rowsWith returns the indexes of the rows of a table whose values in the columns are one of the given keys.
func (s *state) rowsWith(table string, columns []string, to tuples) []int {
	var found []int
	for i, row := range s.rows[table] {
		if tuple, ok := tupleOf(row, columns); ok && to[tuple] {
			found = append(found, i)
		}
	}
	return found
}

// rowsOfStep returns the indexes of the rows that a step of an erasure affects.
func (s *state) rowsOfStep(id domain.SubjectID, step datamap.Step) []int {
	reference, ok := s.dataMap.SelfReference(step)
	if !ok {
		path, _ := s.dataMap.PathVia(step.Target, step.Via)
		return s.rowsOf(id, step.Target, path)
	}
	var deleted []int
	for _, path := range reference.Paths {
		deleted = append(deleted, s.rowsOf(id, step.Target, path)...)
	}
	keys := tuplesOf(pick(s.rows[step.Target], deleted), reference.Relation.ReferencedColumns)
	return s.rowsReferringTo(step.Target, reference.Relation, keys)
}

// rowsOf returns the indexes of the rows of a table that belong to the subject by a path. A path is a chain of
// references from the table to the table of subjects. rowsOf finds these rows even if the subject's own row does not
// exist, because it compares the references with the key of the subject.
func (s *state) rowsOf(id domain.SubjectID, table string, path datamap.Path) []int {
	return s.rowsOnPath(id, table, path.Relations)
}

func (s *state) rowsOnPath(id domain.SubjectID, table string, path []datamap.Relation) []int {
	if len(path) == 0 {
		return s.rowsWith(table, s.dataMap.SubjectTable().SubjectKey, tuples{domain.CanonicalTuple(id.Elements()): true})
	}
	toSubject := path[0]
	if key, ok := s.keyFor(id, toSubject); ok && len(path) == 1 {
		return s.rowsReferringTo(table, toSubject, tuples{key: true})
	}
	parents := pick(s.rows[toSubject.References], s.rowsOnPath(id, toSubject.References, path[1:]))
	return s.rowsReferringTo(table, toSubject, tuplesOf(parents, toSubject.ReferencedColumns))
}

// rowsReferringTo returns the indexes of the rows in the table that refer by the relation to one of the given keys. If
// the relation has a condition, it returns only rows that satisfy the condition.
func (s *state) rowsReferringTo(table string, relation datamap.Relation, to tuples) []int {
	found := s.rowsWith(table, relation.Columns, to)
	return slices.DeleteFunc(found, func(i int) bool { return !holds(relation.When, s.rows[table][i]) })
}

// keyFor returns the key of the subject as one text, with the values in the order of the columns of the relation. ok is
// true if the relation refers to exactly the columns of the subject's key.
func (s *state) keyFor(id domain.SubjectID, relation datamap.Relation) (tuple string, ok bool) {
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

// holds reports whether a row satisfies a condition. Every row satisfies a nil condition.
func holds(when *datamap.Condition, row Row) bool {
	return when == nil || row[when.Column] != nil && textOf(row[when.Column]) == when.Value
}

// pathsOf returns the indexes of the rows of a table that belong to the subject by any path. A path is a chain of
// references from the table to the table of subjects. For each of these rows, the map has the paths by which the row
// belongs to the subject.
func (s *state) pathsOf(id domain.SubjectID, table string) (rows []int, paths map[int][]datamap.Path) {
	paths = map[int][]datamap.Path{}
	for _, path := range s.dataMap.Paths(table) {
		for _, i := range s.rowsOf(id, table, path) {
			paths[i] = append(paths[i], path)
		}
	}
	return slices.Sorted(maps.Keys(paths)), paths
}

// add adds a row to the table. It returns domain.ErrConflict if the row refers to a row that does not exist.
func (s *state) add(table datamap.Table, row Row) error {
	added := []Row{row}
	s.put(table.Name, append(s.rows[table.Name], row)) // before the check of references, because a row may refer to itself
	for _, relation := range table.Relations {
		_, inMap := s.dataMap.Table(relation.References)
		tuple := tuplesOf(added, relation.Columns)
		if !inMap || relation.When != nil || len(tuple) == 0 {
			continue
		}
		if len(s.rowsWith(relation.References, relation.ReferencedColumns, tuple)) == 0 {
			return conflict("insert into "+table.Name, "the row of "+relation.References+" that it refers to does not exist")
		}
	}
	return nil
}

// update changes rows of a table.
func (s *state) update(table string, indexes []int, change func(index int, row Row)) {
	rows := slices.Clone(s.rows[table])
	for _, i := range indexes {
		rows[i] = maps.Clone(rows[i])
		change(i, rows[i])
	}
	s.put(table, rows)
}

// remove removes rows of a table. If another row refers to a removed row, remove sets this reference to NULL, or
// returns domain.ErrConflict. It sets the reference to NULL if three conditions are true: the data map says that the
// database does so, it does not say that both rows belong to the same person, and no column of the reference is in a
// primary key.
func (s *state) remove(table string, indexes []int) error {
	removed := pick(s.rows[table], indexes)
	s.put(table, without(s.rows[table], indexes)) // before the check of references: these rows may refer to each other
	for _, other := range s.dataMap.Tables() {
		for _, relation := range other.Relations {
			if relation.References != table || relation.When != nil { // a foreign key cannot have a condition
				continue
			}
			referring := s.rowsWith(other.Name, relation.Columns, tuplesOf(removed, relation.ReferencedColumns))
			if len(referring) == 0 {
				continue
			}
			inKey := func(column string) bool { return slices.Contains(other.PrimaryKey, column) }
			if !relation.SetsNull || relation.SamePerson || slices.ContainsFunc(relation.Columns, inKey) {
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

// put replaces the rows of a table.
func (s *state) put(table string, rows []Row) {
	s.rows = withEntry(s.rows, table, rows)
}

// sortedIndexes returns the indexes of rows in the order of their primary key.
func sortedIndexes(table datamap.Table, rows []Row, indexes []int) []int {
	return slices.SortedStableFunc(slices.Values(indexes), func(i, j int) int {
		for _, column := range table.PrimaryKey {
			if c := compare(rows[i][column], rows[j][column]); c != 0 {
				return c
			}
		}
		return 0
	})
}

func indexes(rows []Row) []int {
	all := make([]int, len(rows))
	for i := range rows {
		all[i] = i
	}
	return all
}

func pick[T any](from []T, indexes []int) []T {
	picked := make([]T, len(indexes))
	for i, index := range indexes {
		picked[i] = from[index]
	}
	return picked
}

func without[T any](from []T, indexes []int) []T {
	gone := map[int]bool{}
	for _, index := range indexes {
		gone[index] = true
	}
	var left []T
	for i, item := range from {
		if !gone[i] {
			left = append(left, item)
		}
	}
	return left
}
