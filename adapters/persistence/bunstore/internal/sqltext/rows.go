package sqltext

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Writer writes statements on the tables of the application and of habeas. It is safe for concurrent use.
type Writer struct {
	Dialect Dialect
	DataMap domain.DataMap
	Tables  Tables

	// only returns a further condition, with a leading AND, for the rows of a table with the given alias. It may be nil.
	only func(table domain.Table, called string) string

	// Touched lists the tables that an erasure or an export reads or writes. These are the tables that hold personal data,
	// and the tables through which they reach the subject. The subject's table is included.
	Touched []domain.Table
}

// NewWriter returns a writer for the tables of a data map, and for the tables of habeas in a schema.
func NewWriter(dialect Dialect, dataMap domain.DataMap, schema string) *Writer {
	return &Writer{Dialect: dialect, DataMap: dataMap, Tables: tablesIn(schema), Touched: touched(dataMap)}
}

func touched(m domain.DataMap) []domain.Table {
	needed := map[string]bool{m.SubjectTable().Name: true}
	for _, table := range m.Tables() {
		paths := m.Paths(table.Name)
		erased := slices.ContainsFunc(paths, func(p domain.Path) bool { return p.OnErasure() != "" })
		if len(table.Personal()) == 0 && !table.Owned && !erased {
			continue
		}
		needed[table.Name] = true
		for _, path := range paths {
			for _, relation := range path.Relations {
				needed[relation.References] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(m.Tables()), func(t domain.Table) bool { return !needed[t.Name] })
}

// rowsOf returns the condition for the rows of a table, with the alias t0, from which a path leads to the subject. Its
// parameters are the values of the subject's key. They are numbered after the given number of other parameters.
func (w *Writer) rowsOf(table domain.Table, path domain.Path, others int) string {
	return w.condition("t0", 0, table, path.Relations, others)
}

// allRowsOf returns the same condition as rowsOf, for the rows from which any path leads to the subject. The condition
// sees the table as it was before the statement.
func (w *Writer) allRowsOf(table domain.Table, others int) string {
	paths := w.DataMap.Paths(table.Name)
	conditions, direct := make([]string, len(paths)), true
	for i, path := range paths {
		conditions[i] = w.rowsOf(table, path, others)
		direct = direct && w.isDirect(path)
	}
	switch {
	case len(paths) == 1:
		return conditions[0]
	case direct: // the database can use an index for each condition
		return "(" + strings.Join(conditions, " OR ") + ")"
	}
	key := list("t0", table.PrimaryKey)
	for i, condition := range conditions {
		conditions[i] = fill(`SELECT {key} FROM {table} AS t0 WHERE {rows}`,
			"key", key, "table", quoteTable(table.Name), "rows", condition)
	}
	return "(" + key + ") IN (" + strings.Join(conditions, " UNION ") + ")"
}

// isDirect reports whether the path is a relation whose columns hold the subject's key.
func (w *Writer) isDirect(path domain.Path) bool {
	if len(path.Relations) != 1 {
		return false
	}
	_, ok := inOrderOf(w.DataMap.SubjectTable().SubjectKey, path.Relations[0])
	return ok
}

const (
	leadsToParent = `({columns}) IN (SELECT {referenced} FROM {parent} AS {there} WHERE {rows})`

	// spelledLikeParent is the condition for a text column, for which the database may ignore differences in a comparison
	// (for example, of case).
	spelledLikeParent = `
		({column} IN (SELECT CAST({there}.{referenced} AS text) FROM {parent} AS {there} WHERE {rows}) OR {by none})`

	// spelledByNone is the condition that no row of a table spells its key exactly like a column that refers to it. If a
	// key compares equal nevertheless, the column belongs to the row with the other spelling.
	spelledByNone = `NOT EXISTS (SELECT 1 FROM {table} AS habeas_other WHERE CAST(habeas_other.{key} AS text) = {column})`
)

// condition returns the condition that a path leads from a row to the subject, over rows that only permits. here is the
// alias of the first table. The aliases of the following tables are t<depth+1> and so on.
func (w *Writer) condition(
	here string, depth int, table domain.Table, path []domain.Relation, others int,
) string {
	condition := w.leads(here, depth, table, path, others)
	if w.only != nil {
		condition += w.only(table, here)
	}
	return condition
}

// leads returns the condition that a row leads to the subject. If the last relation refers to the subject's key, its
// own columns hold that key, and the condition does not read the subject's table.
func (w *Writer) leads(here string, depth int, table domain.Table, path []domain.Relation, others int) string {
	subject := w.DataMap.SubjectTable()
	there := "t" + strconv.Itoa(depth+1)
	if len(path) == 0 {
		return w.isKey(subject.Name, here, subject.SubjectKey, others)
	}
	relation := path[0]
	if len(path) == 1 {
		if columns, ok := inOrderOf(subject.SubjectKey, relation); ok {
			return strings.Join(append(w.holds(table, here, relation.When), w.isKey("", here, columns, others)), " AND ")
		}
	}
	parent, _ := w.DataMap.Table(relation.References)
	rows := w.condition(there, depth+1, parent, path[1:], others)
	conditions := append(w.holds(table, here, relation.When), fill(leadsToParent,
		"columns", list(here, relation.Columns), "referenced", list(there, relation.ReferencedColumns),
		"parent", quoteTable(relation.References), "there", there, "rows", rows))
	for i, name := range relation.ReferencedColumns {
		if referenced, _ := parent.Column(name); referenced.Type != domain.TypeText {
			continue
		}
		column := w.Dialect.bytewise(asText(here + "." + Quote(relation.Columns[i])))
		conditions = append(conditions, fill(spelledLikeParent,
			"column", column, "referenced", Quote(name), "parent", quoteTable(relation.References),
			"there", there, "rows", rows, "by none", isSpelledByNone(column, relation.References, name)))
	}
	return strings.Join(conditions, " AND ")
}

// holds returns the condition of a relation, or nil if it has none. It compares the text form of the column byte by
// byte. For a text column, it also compares the column itself, which may have an index.
func (w *Writer) holds(table domain.Table, here string, when *domain.Condition) []string {
	if when == nil {
		return nil
	}
	column, value := here+"."+Quote(when.Column), w.constantText(when.Value)
	conditions := []string{w.Dialect.bytewise(asText(column)) + " = " + value}
	if described, _ := table.Column(when.Column); described.Type == domain.TypeText {
		conditions = append([]string{column + " = " + value}, conditions...)
	}
	return conditions
}

// constantText returns the expression for a constant text. Quotes, backslashes and question marks are encoded, because
// the driver, the settings of the session, or bun could interpret them.
func (w *Writer) constantText(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./ "
	if strings.Trim(text, plain) == "" {
		return literal(text)
	}
	return w.Dialect.encoded(hex.EncodeToString([]byte(text)))
}

// isRow returns the condition that a row has a primary key, given as texts. here is the alias of the table. add appends
// a parameter and returns its placeholder.
func (w *Writer) isRow(here string, table domain.Table, elements []string, add func(value any) string) string {
	comparisons := make([]string, len(elements))
	for i, name := range table.PrimaryKey {
		comparisons[i] = w.Dialect.exactly(asText(here+"."+Quote(name)), add(elements[i]))
	}
	return strings.Join(comparisons, " AND ")
}

// asText returns an expression that casts the given expression to text.
func asText(expression string) string { return "CAST(" + expression + " AS text)" }

func isSpelledByNone(column, table, key string) string {
	return fill(spelledByNone, "table", quoteTable(table), "key", Quote(key), "column", column)
}

// inOrderOf returns the columns of the relation that hold the subject's key, in the order of the key. Returns false if
// the relation does not refer to exactly that key.
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

// isKey returns the condition that columns equal the subject's key. The parameters of the statement hold the key. The
// parameter of is the name of the table with the columns, and the parameter table is its alias. Integers are compared
// as bigint, because a column may be narrower than the key, and the value may not fit the column. The database may
// ignore case or accents when it compares texts. A text that equals the key only in this way belongs to the subject,
// unless another subject has exactly that spelling.
func (w *Writer) isKey(of, table string, columns []string, others int) string {
	subject := w.DataMap.SubjectTable()
	var comparisons []string
	for i, column := range columns {
		value := parameter(others + i + 1)
		key, _ := subject.Column(subject.SubjectKey[i])
		switch key.Type { //nolint:exhaustive // the other types need no cast
		case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt:
			value = "CAST(" + value + " AS bigint)"
		}
		name := table + "." + Quote(column)
		comparisons = append(comparisons, name+" = "+value)
		if of != subject.Name && key.Type == domain.TypeText { // the sight checks the subject's own row, see Locks
			comparisons = append(comparisons, w.spelled(name, value, subject.SubjectKey[i]))
		}
	}
	return strings.Join(comparisons, " AND ")
}

// spelled returns the condition that a column, which equals the value, has exactly its spelling, or the spelling of no
// subject.
func (w *Writer) spelled(column, value, key string) string {
	text := asText(column)
	return "(" + w.Dialect.exactly(text, value) + " OR " +
		isSpelledByNone(w.Dialect.bytewise(text), w.DataMap.SubjectTable().Name, key) + ")"
}

func list(table string, columns []string) string {
	qualified := make([]string, len(columns))
	for i, column := range columns {
		qualified[i] = table + "." + Quote(column)
	}
	return strings.Join(qualified, ", ")
}
