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
	return s.condition(0, s.dataMap.Path(table.Name), others)
}

// condition follows the path from the table called t<depth> to the subject. The last relation needs no look into the
// subject's table when it refers to the subject's key: its own columns hold that key.
func (s *Store) condition(depth int, path []domain.Relation, others int) string {
	subject := s.dataMap.SubjectTable()
	here, there := "t"+strconv.Itoa(depth), "t"+strconv.Itoa(depth+1)
	if len(path) == 0 {
		return s.isKey(subject.Name, here, subject.SubjectKey, others)
	}
	relation := path[0]
	if len(path) == 1 {
		if columns, ok := inOrderOf(subject.SubjectKey, relation); ok {
			return s.isKey("", here, columns, others)
		}
	}
	parents := " FROM " + quoteTable(relation.References) + " AS " + there +
		" WHERE " + s.condition(depth+1, path[1:], others)
	condition := "(" + list(here, relation.Columns) + ")" +
		" IN (SELECT " + list(there, relation.ReferencedColumns) + parents + ")"
	parent, _ := s.dataMap.Table(relation.References)
	for i, name := range relation.ReferencedColumns {
		referenced, _ := parent.Column(name)
		if referenced.Type != domain.TypeText {
			continue
		}
		column := s.dialect.bytewise(asText(here + "." + quote(relation.Columns[i])))
		keys := " IN (SELECT " + asText(there+"."+quote(name)) + parents + ")"
		condition += " AND (" + column + keys + " OR " + spelledByNone(column, relation.References, name) + ")"
	}
	return condition
}

// asText is an expression as a text that is compared byte by byte.
func asText(expression string) string { return "CAST(" + expression + " AS text)" }

// spelledByNone is the condition that no row of a table spells its key like a column that refers to it. The database
// then compares the two loosely, and the column belongs to the row with the other spelling.
func spelledByNone(column, table, key string) string {
	return "NOT EXISTS (SELECT 1 FROM " + quoteTable(table) + " AS other WHERE " + asText("other."+quote(key)) + " = " +
		column + ")"
}

func isText(column domain.Column) bool {
	return column.Type == domain.TypeText || column.Type == domain.TypeUUID
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
// Texts that the columns compare loosely belong to the subject unless another one is spelled like them. The columns are
// those of the table called of.
func (s *Store) isKey(of, table string, columns []string, others int) string {
	subject := s.dataMap.SubjectTable()
	var comparisons []string
	for i, column := range columns {
		value := parameter(others + i + 1)
		key, _ := subject.Column(subject.SubjectKey[i])
		switch key.Type { //nolint:exhaustive // the others are texts
		case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt:
			value = "CAST(" + value + " AS bigint)"
		}
		name := table + "." + quote(column)
		comparisons = append(comparisons, name+" = "+value)
		if of != subject.Name && key.Type == domain.TypeText { // the spelling of the subject's own row is checked, see sight
			comparisons = append(comparisons, s.spelled(name, value, subject.SubjectKey[i]))
		}
	}
	return strings.Join(comparisons, " AND ")
}

// spelled is the condition that a column, which equals the value, is spelled like it, or like no subject.
func (s *Store) spelled(column, value, key string) string {
	text := asText(column)
	return "(" + s.dialect.exactly(text, value) + " OR " +
		spelledByNone(s.dialect.bytewise(text), s.dataMap.SubjectTable().Name, key) + ")"
}

func list(table string, columns []string) string {
	qualified := make([]string, len(columns))
	for i, column := range columns {
		qualified[i] = table + "." + quote(column)
	}
	return strings.Join(qualified, ", ")
}
