package bunstore

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// rowsOf is the condition that picks the subject's rows of a table, which the statement calls t0. Its parameters are
// the values of the subject's key.
func (s *Store) rowsOf(table domain.Table) string {
	return condition(0, s.dataMap.Path(table.Name), s.dataMap.SubjectTable().SubjectKey)
}

// condition follows the path from the table called t<depth> to the subject. The last relation needs no look into the
// subject's table when it refers to the subject's key: its own columns hold that key.
func condition(depth int, path []domain.Relation, subjectKey []string) string {
	here, there := "t"+strconv.Itoa(depth), "t"+strconv.Itoa(depth+1)
	if len(path) == 0 {
		return isKey(here, subjectKey)
	}
	relation := path[0]
	if len(path) == 1 {
		if columns, ok := inOrderOf(subjectKey, relation); ok {
			return isKey(here, columns)
		}
	}
	return "(" + list(here, relation.Columns) + ") IN (SELECT " + list(there, relation.ReferencedColumns) +
		" FROM " + quoteTable(relation.References) + " AS " + there +
		" WHERE " + condition(depth+1, path[1:], subjectKey) + ")"
}

// inOrderOf returns the columns of the relation that hold the subject's key, in its order, if the relation refers to
// just that key.
func inOrderOf(subjectKey []string, relation domain.Relation) ([]string, bool) {
	if len(relation.ReferencedColumns) != len(subjectKey) {
		return nil, false
	}
	columns := make([]string, len(subjectKey))
	for i, name := range subjectKey {
		j := slices.Index(relation.ReferencedColumns, name)
		if j < 0 {
			return nil, false
		}
		columns[i] = relation.Columns[j]
	}
	return columns, true
}

// isKey compares columns with the parameters, which are the values of the subject's key.
func isKey(table string, columns []string) string {
	comparisons := make([]string, len(columns))
	for i, column := range columns {
		comparisons[i] = table + "." + quote(column) + " = $" + strconv.Itoa(i+1)
	}
	return strings.Join(comparisons, " AND ")
}

func list(table string, columns []string) string {
	qualified := make([]string, len(columns))
	for i, column := range columns {
		qualified[i] = table + "." + quote(column)
	}
	return strings.Join(qualified, ", ")
}
