package bunstore

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// rowsOf is the condition that picks the subject's rows of a table, which the statement calls t0. Its parameters are
// the values of the subject's key, which follow others in the statement.
func (s *Store) rowsOf(table domain.Table, others int) string {
	return condition(0, s.dataMap.Path(table.Name), s.dataMap.SubjectTable(), others)
}

// condition follows the path from the table called t<depth> to the subject. The last relation needs no look into the
// subject's table when it refers to the subject's key: its own columns hold that key.
func condition(depth int, path []domain.Relation, subject domain.Table, others int) string {
	here, there := "t"+strconv.Itoa(depth), "t"+strconv.Itoa(depth+1)
	if len(path) == 0 {
		return isKey(here, subject.SubjectKey, subject, others)
	}
	relation := path[0]
	if len(path) == 1 {
		if columns, ok := inOrderOf(subject.SubjectKey, relation); ok {
			return isKey(here, columns, subject, others)
		}
	}
	return "(" + list(here, relation.Columns) + ") IN (SELECT " + list(there, relation.ReferencedColumns) +
		" FROM " + quoteTable(relation.References) + " AS " + there +
		" WHERE " + condition(depth+1, path[1:], subject, others) + ")"
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

// isKey compares columns with the parameters, which are the values of the subject's key. Whole numbers are compared as
// the largest there are: a column may be narrower than the key it refers to, and the parameter must still be one.
func isKey(table string, columns []string, subject domain.Table, others int) string {
	comparisons := make([]string, len(columns))
	for i, column := range columns {
		parameter := "$" + strconv.Itoa(others+i+1)
		switch key, _ := subject.Column(subject.SubjectKey[i]); key.Type { //nolint:exhaustive // the others are texts
		case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt:
			parameter = "CAST(" + parameter + " AS bigint)"
		}
		comparisons[i] = table + "." + quote(column) + " = " + parameter
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
