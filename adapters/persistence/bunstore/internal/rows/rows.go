// Package rows turns a data map into SQL: the conditions for the rows of a subject, the statements that carry out steps
// on them, the values that overwrite cells, and the rows to lock. It does no I/O.
package rows

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Writer builds the statements on the tables of the application and of habeas. It is safe for concurrent use.
type Writer struct {
	Dialect syntax.Dialect
	own     dialect
	DataMap datamap.DataMap
	Tables  syntax.Tables

	// extraCondition returns a further condition, with a leading AND, for the rows of a table. The field may be nil.
	extraCondition func(table datamap.Table, alias string) string

	// subjectCondition returns the condition that columns of a table hold the key of a person. If it is nil, this person
	// is the subject in the parameters of the statement.
	subjectCondition func(alias string, columns []string) string

	// Touched lists the tables that an erasure or an export reads or writes: the tables with personal data, the subject's
	// table, and the tables on the paths between them.
	Touched []datamap.Table
}

// NewWriter returns a writer for the tables of a data map, and for its tables of habeas.
func NewWriter(dialect syntax.Dialect, dataMap datamap.DataMap, tables syntax.Tables) *Writer {
	return &Writer{
		Dialect: dialect, own: dialectOf(dialect), DataMap: dataMap, Tables: tables, Touched: Touched(dataMap),
	}
}

// RowsOf returns the condition that the path leads from a row of the table to the subject. The alias of the table is
// t0. The placeholders of the subject's key start at $(offset+1).
func (w *Writer) RowsOf(table datamap.Table, path datamap.Path, offset int) string {
	return w.pathCondition("t0", 0, table, path.Relations, offset)
}

// RowsOfErased returns the condition that the path leads from a row of the table to a person who was erased. The alias
// of the table is t0.
func (w *Writer) RowsOfErased(table datamap.Table, path datamap.Path) string {
	erased := *w
	erased.subjectCondition = func(alias string, columns []string) string {
		return syntax.Fill(isErased, "id", w.subjectID(alias, columns), "erasures", w.Tables.Erasures)
	}
	return erased.pathCondition("t0", 0, table, path.Relations, 0)
}

// isErased is the condition that the database records an erasure of a person.
const isErased = `
	EXISTS (SELECT 1 FROM {erasures} AS erased WHERE erased.subject_id = {id} AND erased.erasures > 0)`

// subjectID returns the expression for the id of the person whose key is in the columns. It has the form of
// domain.CanonicalTuple.
func (w *Writer) subjectID(alias string, columns []string) string {
	elements := Texts(alias, columns)
	if len(elements) == 1 {
		return elements[0]
	}
	separator := w.own.constantText("\x1f")
	for i, element := range elements {
		elements[i] = syntax.Fill(escapedElement, "element", element, "separator", separator,
			"backslash", w.own.constantText(`\`), "escaped backslash", w.own.constantText(`\\`),
			"escaped separator", w.own.constantText(`\u`))
	}
	return strings.Join(elements, " || "+separator+" || ")
}

const escapedElement = `
	replace(replace({element}, {backslash}, {escaped backslash}), {separator}, {escaped separator})`

// FromAllRowsOf returns the FROM clause that reads each row of the table from which at least one path leads to the
// subject, once. The alias and the placeholders are the same as in RowsOf. The key of a row has no effect, because
// several rows may have a key that contains NULL.
func (w *Writer) FromAllRowsOf(table datamap.Table, offset int) string {
	paths, name := w.DataMap.Paths(table.Name), syntax.QuoteTable(table.Name)
	conditions, selects, direct := make([]string, len(paths)), make([]string, len(paths)), true
	for i, path := range paths {
		conditions[i] = w.RowsOf(table, path, offset)
		selects[i] = "SELECT t0.* FROM " + name + " AS t0 WHERE " + conditions[i]
		if i > 0 {
			selects[i] += " AND NOT COALESCE(" + strings.Join(conditions[:i], " OR ") + ", FALSE)"
		}
		direct = direct && w.isDirect(path)
	}
	if direct || len(paths) == 1 { // the database can use an index for each condition
		return "FROM " + name + " AS t0 WHERE (" + strings.Join(conditions, " OR ") + ")"
	}
	return "FROM (" + strings.Join(selects, " UNION ALL ") + ") AS t0"
}

// isDirect reports whether the path consists of one relation that refers to the subject's key.
func (w *Writer) isDirect(path datamap.Path) bool {
	if len(path.Relations) != 1 {
		return false
	}
	_, ok := keyColumnsOf(w.DataMap.SubjectTable().SubjectKey, path.Relations[0])
	return ok
}

const (
	leadsToParent = `({columns}) IN (SELECT {referenced} FROM {parent} AS {parent alias} WHERE {rows})`

	// equalsParentKey is the condition that a text column and the key of its parent (the row to which it refers) are
	// equal byte by byte, or that noExactKey is true. It is necessary because the database may ignore differences between
	// texts, for example of case.
	equalsParentKey = `
		({column} IN (SELECT CAST({parent alias}.{referenced} AS text) FROM {parent} AS {parent alias} WHERE {rows})
			OR {no exact key})`

	// noExactKey is the condition that no row of a table has a key with exactly the text of a column. In this case, the
	// column refers to the row whose key the database considers equal. For example, 'ANN' refers to 'ann' if there is no
	// key 'ANN'.
	noExactKey = `NOT EXISTS (SELECT 1 FROM {table} AS habeas_other WHERE CAST(habeas_other.{key} AS text) = {column})`
)

// pathCondition returns the condition that a path leads from a row to the subject. It includes extraCondition for each
// row on the path. The parameter alias is the alias of the first table. The following tables have the aliases
// t<depth+1>, t<depth+2>, and so on.
func (w *Writer) pathCondition(
	alias string, depth int, table datamap.Table, path []datamap.Relation, offset int,
) string {
	condition := w.leadsToSubject(alias, depth, table, path, offset)
	if w.extraCondition != nil {
		condition += w.extraCondition(table, alias)
	}
	return condition
}

// leadsToSubject returns the condition that a path leads from a row to the subject. Unlike pathCondition, it does not
// include extraCondition for the first table. If the last relation refers to the subject's key, the condition compares
// the columns of that relation and does not read the subject's table.
func (w *Writer) leadsToSubject(
	alias string, depth int, table datamap.Table, path []datamap.Relation, offset int,
) string {
	subject := w.DataMap.SubjectTable()
	parentAlias := "t" + strconv.Itoa(depth+1)
	if len(path) == 0 {
		return w.equalsSubjectKey(subject.Name, alias, subject.SubjectKey, offset)
	}
	relation := path[0]
	if len(path) == 1 {
		if columns, ok := keyColumnsOf(subject.SubjectKey, relation); ok {
			conditions := append(w.relationCondition(table, alias, relation.When),
				w.equalsSubjectKey("", alias, columns, offset))
			return strings.Join(conditions, " AND ")
		}
	}
	parent, _ := w.DataMap.Table(relation.References)
	rows := w.pathCondition(parentAlias, depth+1, parent, path[1:], offset)
	conditions := append(w.relationCondition(table, alias, relation.When), syntax.Fill(leadsToParent,
		"columns", List(alias, relation.Columns), "referenced", List(parentAlias, relation.ReferencedColumns),
		"parent", syntax.QuoteTable(relation.References), "parent alias", parentAlias, "rows", rows))
	for i, name := range relation.ReferencedColumns {
		if referenced, _ := parent.Column(name); referenced.Type != datamap.TypeText {
			continue
		}
		column := w.own.bytewise(AsText(alias + "." + syntax.Quote(relation.Columns[i])))
		conditions = append(conditions, syntax.Fill(equalsParentKey,
			"column", column, "referenced", syntax.Quote(name), "parent", syntax.QuoteTable(relation.References),
			"parent alias", parentAlias, "rows", rows, "no exact key", noExactKeyIn(column, relation.References, name)))
	}
	return strings.Join(conditions, " AND ")
}

// relationCondition returns the comparisons for a relation that applies only if a column holds a constant
// (Relation.When). Without such a condition, it returns nil. One comparison checks the text of the column byte by byte.
// For a text column, another comparison checks the column itself, because the column may have an index.
func (w *Writer) relationCondition(table datamap.Table, alias string, when *datamap.Condition) []string {
	if when == nil {
		return nil
	}
	column, value := alias+"."+syntax.Quote(when.Column), w.constantText(when.Value)
	conditions := []string{w.own.bytewise(AsText(column)) + " = " + value}
	if described, _ := table.Column(when.Column); described.Type == datamap.TypeText {
		conditions = append([]string{column + " = " + value}, conditions...)
	}
	return conditions
}

// constantText returns the expression for a constant text. A text with special characters becomes numbers,
// because the driver, the settings of the session, or bun could interpret a quote, a backslash or a question mark.
func (w *Writer) constantText(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./ "
	if strings.Trim(text, plain) == "" {
		return syntax.Literal(text)
	}
	return w.own.constantText(text)
}

// HasPrimaryKey returns the condition that a row has the key whose KeyNames are the given names. addParameter returns
// the placeholder of the new parameter.
func (w *Writer) HasPrimaryKey(
	alias string, table datamap.Table, names []string, addParameter func(value any) string,
) string {
	keys, comparisons := w.KeyNames(alias, table.PrimaryKey, nil), make([]string, len(names))
	for i, name := range names {
		comparisons[i] = w.own.equalsExactly(keys[i], addParameter(name))
	}
	return strings.Join(comparisons, " AND ")
}

// KeyNames returns the expressions for the texts that name the values of key columns in an export. Different values of
// a column have different names, and NULL has a name, too. The name of a key of one column is never empty, because a
// correction without a row name applies to all rows of the table. The parameter types has the types of the columns in
// the database, or is nil.
func (w *Writer) KeyNames(alias string, columns []string, types map[string]string) []string {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = w.own.keyName(alias+"."+syntax.Quote(column), types[column], w.Tables.KeyText)
	}
	if len(names) == 1 && !w.own.isInteger(types[columns[0]]) {
		names[0] = "COALESCE(NULLIF(" + names[0] + `, ''), '""')`
	}
	return names
}

// KeyValues returns the expressions that read the values of key columns for HasKey. The results go into variables of
// the type any, and then to KeyValue.
func (w *Writer) KeyValues(alias string, columns []string) []string {
	return expressions(alias, columns, func(column string) string {
		return w.own.keyExpression(column, w.Tables.KeyText)
	})
}

// KeyValue converts a value that a driver returned for an expression of KeyValues to a parameter of HasKey.
func (w *Writer) KeyValue(value any) any {
	if value == nil {
		return nil
	}
	return w.own.keyValue(value)
}

// HasKey returns the condition that a row has the key with the given values, see KeyValues. The condition compares in
// the type of the column, so that an index applies. The parameter types has the types of the columns in the database.
func (w *Writer) HasKey(
	alias string, table datamap.Table, types map[string]string, values []any, addParameter func(value any) string,
) string {
	comparisons := make([]string, len(values))
	for i, name := range table.PrimaryKey {
		column := alias + "." + syntax.Quote(name)
		if values[i] == nil {
			comparisons[i] = column + " IS NULL"
			continue
		}
		comparisons[i] = w.own.equalsKey(column, addParameter(values[i]), types[name], w.Tables.KeyText)
	}
	return strings.Join(comparisons, " AND ")
}

// AsText returns the expression for the text of a value.
func AsText(expression string) string { return "CAST(" + expression + " AS text)" }

// Texts returns the expressions for the texts of columns of the table with the alias.
func Texts(alias string, columns []string) []string { return expressions(alias, columns, AsText) }

func expressions(alias string, columns []string, of func(column string) string) []string {
	all := make([]string, len(columns))
	for i, column := range columns {
		all[i] = of(alias + "." + syntax.Quote(column))
	}
	return all
}

func noExactKeyIn(column, table, key string) string {
	return syntax.Fill(noExactKey, "table", syntax.QuoteTable(table), "key", syntax.Quote(key), "column", column)
}

// keyColumnsOf returns the columns of the relation that refer to the subject's key, in the order of that key. Returns
// false if the relation does not refer to exactly the columns of the key.
func keyColumnsOf(subjectKey []string, relation datamap.Relation) ([]string, bool) {
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

// equalsSubjectKey returns the condition that columns of a table equal the subject's key. The placeholders of the key
// start at $(offset+1). Integers are compared as bigint, because the column may have a smaller type, and the value of
// the key may not fit that type. For a text column, the condition includes matchesSubjectText, except in the subject's
// own table.
func (w *Writer) equalsSubjectKey(tableName, alias string, columns []string, offset int) string {
	if w.subjectCondition != nil {
		return w.subjectCondition(alias, columns)
	}
	subject := w.DataMap.SubjectTable()
	var comparisons []string
	for i, column := range columns {
		value := syntax.Placeholder(offset + i + 1)
		key, _ := subject.Column(subject.SubjectKey[i])
		switch key.Type { //nolint:exhaustive // the other types need no cast
		case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt:
			value = "CAST(" + value + " AS bigint)"
		}
		name := alias + "." + syntax.Quote(column)
		comparisons = append(comparisons, name+" = "+value)
		if tableName != subject.Name && key.Type == datamap.TypeText { // callers check the subject's own row
			comparisons = append(comparisons, w.matchesSubjectText(name, value, subject.SubjectKey[i]))
		}
	}
	return strings.Join(comparisons, " AND ")
}

// matchesSubjectText returns a further condition for a text column that the database considers equal to the subject's
// key. It is necessary because the database may ignore case or accents. The condition is true if the column has the
// same bytes as the key. For the key 'ann', it is also true for the text 'ANN' if no subject has the key 'ANN'.
func (w *Writer) matchesSubjectText(column, value, key string) string {
	text := AsText(column)
	return "(" + w.own.equalsExactly(text, value) + " OR " +
		noExactKeyIn(w.own.bytewise(text), w.DataMap.SubjectTable().Name, key) + ")"
}

// List returns the columns of the table with the alias, separated by commas.
func List(alias string, columns []string) string {
	return syntax.Join(columns, ", ", func(column string) string { return alias + "." + syntax.Quote(column) })
}

// Bytewise adds a collation that compares bytes to a text expression.
func (w *Writer) Bytewise(text string) string { return w.own.bytewise(text) }

// EqualsConstant returns the condition that a column holds a constant. The condition uses the form in which a column
// of the database type sqlType stores the constant.
func (w *Writer) EqualsConstant(column, constant, sqlType string) string {
	return w.own.equalsConstant(column, constant, sqlType)
}

// AddedValue returns the expression for the value in a column of creation times, in a form that plan.ReadAddedAt
// reads.
func (w *Writer) AddedValue(column string) string { return w.own.addedValue(column) }

// DutyStart returns the expression for the start of a retention duty in a column, in a form that plan.ReadStart
// reads. It reads the instant that erasures compare. It is NULL if the column has no readable start. The parameter
// sqlType is the type of the column in the database, or "" if it is not known.
func (w *Writer) DutyStart(column, sqlType string) string { return w.own.shownStart(column, sqlType) }

// Position returns the expression for a number that sorts the rows of a table by their primary key. The alias of the
// table is t0. A window costs an export of 36 rows 8 microseconds for each table.
func (w *Writer) Position(table datamap.Table, types map[string]string) string {
	if key := table.PrimaryKey; len(key) == 1 && w.own.isInteger(types[key[0]]) {
		return List("t0", key)
	}
	return "row_number() OVER (ORDER BY " + List("t0", table.PrimaryKey) + ")"
}

// Touched returns the tables that an erasure or an export reads or writes: the tables with personal data, the subject's
// table, and the tables on the paths between them.
func Touched(m datamap.DataMap) []datamap.Table {
	needed := map[string]bool{m.SubjectTable().Name: true}
	for _, table := range m.Tables() {
		paths := m.Paths(table.Name)
		erased := slices.ContainsFunc(paths, func(p datamap.Path) bool { return p.OnErasure() != "" })
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
	return slices.DeleteFunc(slices.Clone(m.Tables()), func(t datamap.Table) bool { return !needed[t.Name] })
}
