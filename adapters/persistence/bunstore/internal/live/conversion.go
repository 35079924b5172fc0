package live

import (
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// numberText matches the texts that a numeric column of SQLite converts to numbers.
var numberText = regexp.MustCompile(`^[ \t-\r]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t-\r]*$`)

// isKept reports whether a numeric column of SQLite keeps a text: it stores the text itself, or a number that has this
// text and no other. It does not keep 07, 1e1, +7 or 7.0, because it stores them as 7 or 10, the numbers of other
// texts. It does not keep numbers that SQLite rounds either.
func isKept(text string) bool {
	if !numberText.MatchString(text) {
		return true
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(n, 10) == text
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && f != math.Trunc(f) && strconv.FormatFloat(f, 'g', exactDigits, 64) == text
}

// exactDigits is the number of decimal digits that a floating-point number always keeps.
const exactDigits = 15

// numericColumn is a column in which SQLite converts a text of the subject's key to a number.
type numericColumn struct {
	element int    // the index in the subject's key
	own     bool   // the column belongs to the subject's table
	why     string // a message that names the column, and the column of the key to which it refers
}

// conversion returns a message about a column of the table whose type makes SQLite convert the keys of subjects.
// Because of the conversion, a statement may confuse the rows of different subjects. conversion returns "" if there is
// no such column. It ignores tables that do not exist, because their types are unknown.
func (c *Schema) conversion(table datamap.Table) string {
	if !c.cache.own.convertsKeys() {
		return ""
	}
	types := c.mapped[table.Name].types
	for _, name := range table.SubjectKey {
		column, _ := table.Column(name)
		if declared, known := types[name]; known && !storesUnchanged(column.Type, declared) {
			return table.Name + "." + name + " has the type " + declared
		}
	}
	for _, path := range c.cache.dataMap.Paths(table.Name) {
		if len(path.Relations) == 0 {
			return ""
		}
		relation := path.Relations[0]
		parent, _ := c.cache.dataMap.Table(relation.References)
		for i, name := range relation.Columns {
			key, _ := parent.Column(relation.ReferencedColumns[i])
			declared, known := types[name]
			keyType, keyKnown := c.mapped[parent.Name].types[key.Name]
			if known && keyKnown && !comparesExactly(key.Type, keyType, declared) {
				return unlike(table.Name+"."+name, declared, parent.Name+"."+key.Name, keyType)
			}
		}
	}
	return ""
}

// numericColumns returns the columns of the table that hold texts of the subject's key, and that SQLite has as numeric
// columns. In such a column, SQLite confuses subjects whose ids are texts of the same number; see isKept.
func (c *Schema) numericColumns(table datamap.Table) (found []numericColumn) {
	if !c.cache.own.convertsKeys() {
		return nil
	}
	subject := c.cache.dataMap.SubjectTable()
	add := func(column, key string, own bool) {
		described, _ := subject.Column(key)
		declared, known := c.mapped[table.Name].types[column]
		keyType, keyKnown := c.mapped[subject.Name].types[key]
		if !known || !keyKnown || described.Type != datamap.TypeText || !convertsTexts(declared) {
			return
		}
		why := table.Name + "." + column + " has " + typeCalled(declared)
		if !own {
			why = unlike(table.Name+"."+column, declared, subject.Name+"."+key, keyType)
		}
		found = append(found, numericColumn{slices.Index(subject.SubjectKey, key), own, why})
	}
	for _, path := range c.cache.dataMap.Paths(table.Name) {
		switch len(path.Relations) {
		case 0:
			for _, key := range table.SubjectKey {
				add(key, key, true)
			}
		case 1:
			for i, key := range path.Relations[0].ReferencedColumns {
				if slices.Contains(subject.SubjectKey, key) {
					add(path.Relations[0].Columns[i], key, false)
				}
			}
		}
	}
	return found
}

func unlike(column, columnType, key, keyType string) string {
	return column + " has " + typeCalled(columnType) + ", and " + key + ", which it refers to, has " + typeCalled(keyType)
}

func typeCalled(declared string) string {
	if declared == "" {
		return "no type"
	}
	return "the type " + declared
}

// comparesExactly reports whether SQLite finds exactly the matching rows when it compares a key with a column that
// refers to the key. The parameter t is the type of the key in the data map. The parameters keyType and columnType are
// the types that the database declares for the key and the column. It returns false if the type affinities of the two
// columns differ in such a way that SQLite may convert a value in only one of the columns. A key could then differ from
// the value that refers to it. UUIDs are always comparable, because SQLite never converts the text of a UUID to a
// number.
func comparesExactly(t datamap.ColumnType, keyType, columnType string) bool {
	const text, numeric = syntax.AffinityText, syntax.AffinityNumeric
	inexact := []syntax.Affinity{syntax.AffinityReal, syntax.AffinityAny}
	key, column := syntax.AffinityOf(keyType), syntax.AffinityOf(columnType)
	switch {
	case key == column || t == datamap.TypeUUID:
		return true
	case slices.Contains(inexact, key) || slices.Contains(inexact, column):
		return false
	}
	switch t { //nolint:exhaustive // the other types differ only if their text becomes a number
	case datamap.TypeText: // see Schema.RefuseConverted
		return key == text && column == numeric || key != numeric && column != numeric
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt: // without conversion, a number never equals a text
		return key == numeric || column == numeric
	default:
		return column != numeric
	}
}

// storesUnchanged returns false for a floating-point column, because such a column stores the text 1 as 1.0, and rounds
// long numbers. It returns true for a UUID, because SQLite never converts a UUID.
func storesUnchanged(t datamap.ColumnType, keyType string) bool {
	return t == datamap.TypeUUID || syntax.AffinityOf(keyType) != syntax.AffinityReal
}

// convertsTexts reports whether different texts become the same value in a column of the declared type columnType. For
// example, '1' and '01' become the same number.
func convertsTexts(columnType string) bool {
	affinity := syntax.AffinityOf(columnType)
	return affinity == syntax.AffinityNumeric || affinity == syntax.AffinityAny
}
